import { linkTsgToTask } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { uuid } from '../../http/schemas.ts'
import { tsgId } from '../guides/tsg-schema.ts'
import { TASK_HEADERS, taskAnswer, taskSchema } from './task-schema.ts'

/** A task and one of its guides. */
export const taskTsgParams = z.strictObject({ id: uuid('Id of the task.'), tsg_id: tsgId })

export const linkTsgEndpoint = endpoint({
  operationId: 'linkTsg',
  method: 'PUT',
  path: '/tasks/{id}/tsgs/{tsg_id}',
  tag: 'Tasks',
  summary: 'Link a troubleshooting guide',
  description: 'Adds a guide to the brief and sends the assignee an update.',
  access: 'tasks:write',
  params: taskTsgParams,
  answers: { 200: { description: 'Linked.', schema: taskSchema, headers: TASK_HEADERS } },
  errors: ['not_found', 'invalid_transition'],
  handle: ({ ctx, params }) => linkTsgToTask(ctx, params.id, params.tsg_id),
  answer: (task) => taskAnswer(task),
})
