import { listDeliveries } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, pageQuery } from '../../http/schemas.ts'
import { deliveryListSchema, deliveryStatusSchema, presentDeliverySummary } from '../deliveries/delivery-schema.ts'

export const listWebhookDeliveriesEndpoint = endpoint({
  operationId: 'listWebhookDeliveries',
  method: 'GET',
  path: '/webhooks/{id}/deliveries',
  tag: 'Webhooks',
  summary: 'List the deliveries of a webhook',
  description: 'Newest first: what was sent when, and what the receiver answered.',
  access: 'webhooks:write',
  params: idParams('webhook'),
  query: z.strictObject({ ...pageQuery, status: deliveryStatusSchema.optional() }),
  answers: { 200: { description: 'A page of deliveries.', schema: deliveryListSchema } },
  errors: ['not_found', 'cursor_invalid'],
  handle: ({ ctx, params, query }) => listDeliveries(ctx, params.id, query),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentDeliverySummary), next_cursor: nextCursor } }),
})
