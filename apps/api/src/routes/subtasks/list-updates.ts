import { listUpdates } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, pageQuery } from '../../http/schemas.ts'
import { presentUpdate, updateListSchema } from './update-schema.ts'

export const listUpdatesEndpoint = endpoint({
  operationId: 'listSubtaskUpdates',
  method: 'GET',
  path: '/subtasks/{id}/updates',
  tag: 'Subtasks',
  summary: 'List the updates of a subtask',
  description: 'Oldest first. Each has its receipt: queued, delivered, acknowledged, superseded or expired.',
  access: 'subtasks:read',
  params: idParams('subtask'),
  query: z.strictObject(pageQuery),
  answers: { 200: { description: 'A page of updates.', schema: updateListSchema } },
  errors: ['not_found', 'cursor_invalid'],
  handle: ({ ctx, params, query }) => listUpdates(ctx, params.id, query),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentUpdate), next_cursor: nextCursor } }),
})
