import { REVISIONS_MAX } from '@muster/domain'
import { z } from 'zod'
import { requestComponent } from '../../http/components-schemas.ts'
import { newSubtaskSchema } from '../subtasks/new-subtask-schema.ts'

const { agent_id, timeout_seconds, notify, parent_session_id, subagent, runner, model, max_attempts, budget, metadata } = newSubtaskSchema.shape

export const taskDispatchSchema = requestComponent(
  'TaskDispatch',
  z.strictObject({
    agent_id,
    priority: newSubtaskSchema.shape.priority.removeDefault().optional().describe('Default: urgent for P0 and P1, normal for P2, low for P3.'),
    timeout_seconds,
    notify,
    parent_session_id: parent_session_id.describe('The session whose inbox receives the result. Default: the parent session of the task.'),
    subagent,
    runner,
    model,
    max_attempts,
    budget,
    max_revisions: z
      .int()
      .min(0)
      .max(REVISIONS_MAX)
      .default(0)
      .describe('How many revision rounds may follow a poor result (`request_revision`). Each is another subtask that continues from it.'),
    metadata,
  }),
  { runner: 'scout', timeout_seconds: 300, max_revisions: 2 },
)
