import { getWebhook } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { presentWebhook, webhookSchema } from './webhook-schema.ts'

export const getWebhookEndpoint = endpoint({
  operationId: 'getWebhook',
  method: 'GET',
  path: '/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Read a webhook',
  description: 'Without its secret.',
  access: 'webhooks:write',
  params: idParams('webhook'),
  answers: { 200: { description: 'The webhook.', schema: webhookSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getWebhook(ctx, params.id),
  answer: (webhook) => ({ status: 200, body: presentWebhook(webhook) }),
})
