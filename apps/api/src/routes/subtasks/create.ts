import { createSubtask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { newSubtaskSchema, SPAWN_ERRORS, toRequiredOutputs, toSpawnOptions } from './new-subtask-schema.ts'
import { presentSubtask, subtaskSchema } from './subtask-schema.ts'

export const createSubtaskEndpoint = endpoint({
  operationId: 'createSubtask',
  method: 'POST',
  path: '/subtasks',
  tag: 'Subtasks',
  summary: 'Spawn a subtask',
  description:
    'Stores the subtask and answers at once; an idle worker starts it within milliseconds. To get the result, poll `Location`, follow its events, or read the inbox of the parent session.',
  access: 'subtasks:write',
  spawns: true,
  body: newSubtaskSchema,
  answers: { 202: { description: 'Accepted and stored.', schema: subtaskSchema, headers: { Location: 'Where the subtask can be read.' } } },
  errors: [...SPAWN_ERRORS, 'pending_limit_reached', 'subtasks_disabled'],
  handle: async ({ ctx, deps, body }) =>
    createSubtask(ctx, {
      ...toSpawnOptions(deps, body),
      task: body.task,
      taskId: body.task_id ?? undefined,
      priority: body.priority,
      requiredOutputs: toRequiredOutputs(body.required_outputs),
    }),
  answer: (subtask) => ({ status: 202, headers: { location: `/subtasks/${subtask.id}` }, body: presentSubtask(subtask) }),
})
