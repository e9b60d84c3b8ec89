import { REVISIONS_MAX } from '@muster/domain'
import { dispatchTask } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, requestComponent } from '../../http/schemas.ts'
import { newSubtaskSchema, SPAWN_ERRORS, toSpawnOptions } from '../subtasks/new-subtask-schema.ts'
import { presentSubtask, subtaskSchema } from '../subtasks/subtask-schema.ts'

const { agent_id, timeout_seconds, notify, parent_session_id, subagent, runner, model, max_attempts, budget, callback, metadata } = newSubtaskSchema.shape

const taskDispatchSchema = requestComponent(
  'TaskDispatch',
  z.strictObject({
    agent_id,
    priority: newSubtaskSchema.shape.priority.removeDefault().optional().describe('Default: that of the task.'),
    timeout_seconds,
    notify,
    parent_session_id: parent_session_id.describe('The session whose inbox receives the result. Default: the parent session of the task.'),
    subagent,
    runner,
    model,
    max_attempts,
    budget,
    max_revisions: z.int().min(0).max(REVISIONS_MAX).default(0).describe('How many revision rounds may follow a poor result.'),
    callback,
    metadata,
  }),
  { runner: 'scout', timeout_seconds: 300, max_revisions: 2 },
)

export const dispatchTaskEndpoint = endpoint({
  operationId: 'dispatchTask',
  method: 'POST',
  path: '/tasks/{id}/dispatch',
  tag: 'Tasks',
  summary: 'Run a task as a subtask',
  description:
    'A worker runs the brief as a subtask. Changes reach the run between two steps. Its outputs complete the task; a failed run returns it to `pending` with `last_error`. With `max_revisions`, a result evaluated as `request_revision` starts another subtask of the chain, with the points to revise; the inbox reports only the last. A session that held the task receives nothing more of it.',
  access: 'subtasks:write',
  spawns: true,
  params: idParams('task'),
  body: taskDispatchSchema,
  bodyOptional: true,
  answers: { 202: { description: 'Accepted and stored.', schema: subtaskSchema, headers: ['Location'] } },
  errors: [...SPAWN_ERRORS, 'pending_limit_reached', 'budget_exhausted', 'not_found', 'invalid_transition', 'subtasks_disabled', 'secrets_not_configured'],
  handle: async ({ ctx, deps, params, body }) =>
    dispatchTask(ctx, params.id, () => ({ ...toSpawnOptions(deps, body), priority: body.priority, maxRevisions: body.max_revisions })),
  answer: (subtask) => ({ status: 202, headers: { location: `/subtasks/${subtask.id}` }, body: presentSubtask(subtask) }),
})
