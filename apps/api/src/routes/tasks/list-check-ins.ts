import { listTaskCheckIns } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, pageQuery } from '../../http/schemas.ts'
import { presentTaskCheckIn, taskCheckInListSchema } from './check-in-schema.ts'

export const listTaskCheckInsEndpoint = endpoint({
  operationId: 'listTaskCheckIns',
  method: 'GET',
  path: '/tasks/{id}/check-ins',
  tag: 'Tasks',
  summary: 'List the check-ins of a task',
  description: 'Newest first: what assignees have reported, and on the criteria of which revision.',
  access: 'tasks:read',
  params: idParams('task'),
  query: z.strictObject(pageQuery),
  answers: { 200: { description: 'A page of check-ins.', schema: taskCheckInListSchema } },
  errors: ['not_found', 'cursor_invalid'],
  handle: ({ ctx, params, query }) => listTaskCheckIns(ctx, params.id, query),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentTaskCheckIn), next_cursor: nextCursor } }),
})
