import { cancelTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/fields-schemas.ts'
import { reasonSchema } from './task-changes-schema.ts'
import { TASK_HEADERS, taskAnswer, taskSchema } from './task-schema.ts'

export const cancelTaskEndpoint = endpoint({
  operationId: 'cancelTask',
  method: 'POST',
  path: '/tasks/{id}/cancel',
  tag: 'Tasks',
  summary: 'Call a task off',
  description: 'Ends it as cancelled, whatever its state, and stops the subtask that runs it. What waits for it stays blocked.',
  access: 'tasks:write',
  params: idParams('task'),
  body: reasonSchema,
  answers: { 200: { description: 'It is cancelled.', schema: taskSchema, headers: TASK_HEADERS } },
  errors: ['not_found', 'invalid_transition'],
  handle: ({ ctx, params, body }) => cancelTask(ctx, params.id, body.reason),
  answer: (task) => taskAnswer(task),
})
