import { rotateWebhookSecret } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, requestComponent } from '../../http/schemas.ts'
import { presentWebhook, webhookWithSecretSchema } from './webhook-schema.ts'

const OVERLAP_SECONDS_MAX = 7 * 86_400

const rotationSchema = requestComponent(
  'SecretRotation',
  z.strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(OVERLAP_SECONDS_MAX)
      .default(86_400)
      .describe('For so long, deliveries have a second signature by the secret before. 0 if it has leaked.'),
  }),
  { overlap_seconds: 86_400 },
)

export const rotateWebhookSecretEndpoint = endpoint({
  operationId: 'rotateWebhookSecret',
  method: 'POST',
  path: '/webhooks/{id}/rotate-secret',
  tag: 'Webhooks',
  summary: 'Replace the secret of a webhook',
  description: 'Only this answer shows the new secret. During the overlap, each delivery has two signatures.',
  access: 'webhooks:write',
  params: idParams('webhook'),
  body: rotationSchema,
  bodyOptional: true,
  needsNoRoom: 'a secret that leaked cannot wait',
  answers: { 200: { description: 'Replaced.', schema: webhookWithSecretSchema } },
  errors: ['not_found', 'secrets_not_configured'],
  handle: ({ ctx, params, body }) => rotateWebhookSecret(ctx, params.id, body.overlap_seconds),
  answer: ({ webhook, secret }) => ({ status: 200, body: { ...presentWebhook(webhook), secret } }),
  storedAnswer: ({ webhook }) => ({ status: 200, body: { ...presentWebhook(webhook), secret: null } }),
})
