import { createWebhook } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { newWebhookSchema, presentWebhook, toWebhookFields, webhookWithSecretSchema } from './webhook-schema.ts'

export const createWebhookEndpoint = endpoint({
  operationId: 'createWebhook',
  method: 'POST',
  path: '/webhooks',
  tag: 'Webhooks',
  summary: 'Create a webhook',
  description:
    'Events from now on are sent to the URL, signed by [Standard Webhooks](https://www.standardwebhooks.com). A delivery that is not answered with 2xx is repeated for up to 72 hours, with the same `webhook-id`. Only this answer shows the secret.',
  access: 'webhooks:write',
  body: newWebhookSchema,
  answers: { 201: { description: 'Created.', schema: webhookWithSecretSchema, headers: ['Location'] } },
  errors: ['conflict', 'secrets_not_configured'],
  handle: ({ ctx, body }) => createWebhook(ctx, toWebhookFields(body)),
  answer: ({ webhook, secret }) => ({ status: 201, headers: { location: `/webhooks/${webhook.id}` }, body: { ...presentWebhook(webhook), secret } }),
  storedAnswer: ({ webhook }) => ({ status: 201, headers: { location: `/webhooks/${webhook.id}` }, body: { ...presentWebhook(webhook), secret: null } }),
})
