import { listTaskUpdates } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, pageQuery } from '../../http/schemas.ts'
import { presentUpdate, updateListSchema } from '../subtasks/update-schema.ts'

export const listTaskUpdatesEndpoint = endpoint({
  operationId: 'listTaskUpdates',
  method: 'GET',
  path: '/tasks/{id}/updates',
  tag: 'Tasks',
  summary: 'List the updates of a task',
  description: 'Oldest first. Each has its receipt: queued, delivered, acknowledged, superseded or expired.',
  access: 'tasks:read',
  params: idParams('task'),
  query: z.strictObject(pageQuery),
  answers: { 200: { description: 'A page of updates.', schema: updateListSchema } },
  errors: ['not_found', 'cursor_invalid'],
  handle: ({ ctx, params, query }) => listTaskUpdates(ctx, params.id, query),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentUpdate), next_cursor: nextCursor } }),
})
