import { cancelTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { reasonSchema } from './task-changes-schema.ts'
import { TASK_HEADERS, taskAnswer, taskSchema } from './task-schema.ts'

export const cancelTaskEndpoint = endpoint({
  operationId: 'cancelTask',
  method: 'POST',
  path: '/tasks/{id}/cancel',
  tag: 'Tasks',
  summary: 'Cancel a task',
  description: 'Ends an open task and stops the subtask that runs it. Tasks that depend on it stay blocked.',
  access: 'tasks:write',
  needsNoRoom: 'it ends work',
  params: idParams('task'),
  body: reasonSchema,
  answers: { 200: { description: 'Cancelled.', schema: taskSchema, headers: TASK_HEADERS } },
  errors: ['not_found', 'invalid_transition'],
  handle: ({ ctx, params, body }) => cancelTask(ctx, params.id, body.reason),
  answer: (task) => taskAnswer(task),
})
