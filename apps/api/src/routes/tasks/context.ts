import { getTaskContext } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { taskTextSchema } from './task-changes-schema.ts'

export const getTaskContextEndpoint = endpoint({
  operationId: 'getTaskContext',
  method: 'GET',
  path: '/tasks/{id}/context',
  tag: 'Tasks',
  summary: 'Render the context of a task',
  description: 'The prompt section that describes the task’s context. Empty if the task has no context.',
  access: 'tasks:read',
  params: idParams('task'),
  answers: { 200: { description: 'The section.', schema: taskTextSchema, contentType: 'text/plain' } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getTaskContext(ctx, params.id),
  answer: (section) => ({ status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: section }),
})
