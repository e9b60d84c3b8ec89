import { dispatchTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/fields-schemas.ts'
import { toSpawnOptions } from '../subtasks/spawn-options.ts'
import { presentSubtask, subtaskSchema } from '../subtasks/subtask-schema.ts'
import { taskDispatchSchema } from './task-dispatch-schema.ts'

export const dispatchTaskEndpoint = endpoint({
  operationId: 'dispatchTask',
  method: 'POST',
  path: '/tasks/{id}/dispatch',
  tag: 'Tasks',
  summary: 'Run a task as a subtask',
  description:
    'A worker runs the brief as a subtask. Changes to the brief reach the run between two steps. The outputs of the run complete the task; a failed run returns it to `pending` with `last_error`. With `max_revisions`, a result that is evaluated as `request_revision` starts another subtask of the same chain, with the points to revise; the inbox reports only the last one. A session that held the task before receives nothing more of it.',
  access: 'subtasks:write',
  spawns: true,
  params: idParams('task'),
  body: taskDispatchSchema,
  bodyOptional: true,
  answers: { 202: { description: 'Accepted and stored.', schema: subtaskSchema, headers: { Location: 'Where the subtask can be read.' } } },
  errors: [
    'not_found',
    'invalid_transition',
    'spawn_blocked',
    'subagent_not_found',
    'subagent_invalid',
    'background_mcp_blocked',
    'runner_unavailable',
    'pending_limit_reached',
    'subtasks_disabled',
  ],
  handle: async ({ ctx, deps, params, body }) =>
    dispatchTask(ctx, params.id, () => ({ ...toSpawnOptions(deps, body), priority: body.priority, maxRevisions: body.max_revisions })),
  answer: (subtask) => ({ status: 202, headers: { location: `/subtasks/${subtask.id}` }, body: presentSubtask(subtask) }),
})
