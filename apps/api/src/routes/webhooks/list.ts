import { listWebhooks } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { pageQuery } from '../../http/schemas.ts'
import { presentWebhook, webhookListSchema } from './webhook-schema.ts'

export const listWebhooksEndpoint = endpoint({
  operationId: 'listWebhooks',
  method: 'GET',
  path: '/webhooks',
  tag: 'Webhooks',
  summary: 'List the webhooks',
  description: 'Newest first, without their secrets.',
  access: 'webhooks:write',
  query: z.strictObject(pageQuery),
  answers: { 200: { description: 'A page of webhooks.', schema: webhookListSchema } },
  errors: ['cursor_invalid'],
  handle: ({ ctx, query }) => listWebhooks(ctx, query),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentWebhook), next_cursor: nextCursor } }),
})
