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
    'A worker runs the brief. What is changed of it meanwhile reaches the run between two steps; its outputs complete the task, and its failure returns the task to pending with `last_error`. With `max_revisions`, a result whose evaluation is `request_revision` is followed by another subtask of the same chain, which is told what to revise; the inbox hears of the last one only. A session that held the task gets nothing more of it.',
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
