import { getTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { TASK_HEADERS, taskAnswer, taskSchema } from './task-schema.ts'

export const getTaskEndpoint = endpoint({
  operationId: 'getTask',
  method: 'GET',
  path: '/tasks/{id}',
  tag: 'Tasks',
  summary: 'Read a task',
  description: 'The whole brief and its state. The `ETag` header is the revision. A sub-agent’s own credential reads its own task only.',
  access: 'tasks:read',
  params: idParams('task'),
  answers: { 200: { description: 'The task.', schema: taskSchema, headers: TASK_HEADERS } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getTask(ctx, params.id),
  answer: (task) => taskAnswer(task),
})
