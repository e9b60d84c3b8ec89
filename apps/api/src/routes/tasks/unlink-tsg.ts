import { unlinkTsgFromTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { taskTsgParams } from './link-tsg.ts'
import { TASK_HEADERS, taskAnswer, taskSchema } from './task-schema.ts'

export const unlinkTsgEndpoint = endpoint({
  operationId: 'unlinkTsg',
  method: 'DELETE',
  path: '/tasks/{id}/tsgs/{tsg_id}',
  tag: 'Tasks',
  summary: 'Unlink a troubleshooting guide',
  description: 'Removes a guide from the brief and sends the assignee an update.',
  access: 'tasks:write',
  params: taskTsgParams,
  answers: { 200: { description: 'Not linked.', schema: taskSchema, headers: TASK_HEADERS } },
  errors: ['not_found', 'invalid_transition'],
  handle: ({ ctx, params }) => unlinkTsgFromTask(ctx, params.id, params.tsg_id),
  answer: (task) => taskAnswer(task),
})
