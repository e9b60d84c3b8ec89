import { testWebhook } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { deliverySchema, presentDelivery } from '../deliveries/delivery-schema.ts'

export const testWebhookEndpoint = endpoint({
  operationId: 'testWebhook',
  method: 'POST',
  path: '/webhooks/{id}/test',
  tag: 'Webhooks',
  summary: 'Send a test',
  description: 'Sends a delivery of the type `webhook.test`. `Location` shows what the receiver answered.',
  access: 'webhooks:write',
  params: idParams('webhook'),
  answers: { 202: { description: 'Stored; a worker sends it at once.', schema: deliverySchema, headers: ['Location'] } },
  errors: ['not_found', 'invalid_transition'],
  handle: ({ ctx, params }) => testWebhook(ctx, params.id),
  answer: (delivery) => ({ status: 202, headers: { location: `/webhooks/${delivery.receiverId}/deliveries/${delivery.id}` }, body: presentDelivery(delivery) }),
})
