import { redeliver } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { deliverySchema, presentDelivery } from '../deliveries/delivery-schema.ts'
import { deliveryParams } from './webhook-schema.ts'

export const redeliverToWebhookEndpoint = endpoint({
  operationId: 'redeliverToWebhook',
  method: 'POST',
  path: '/webhooks/{id}/deliveries/{delivery_id}/redeliver',
  tag: 'Webhooks',
  summary: 'Send a delivery of a webhook again',
  description: 'The same as `POST /deliveries/{id}/redeliver`, for a delivery of this webhook.',
  access: 'webhooks:write',
  params: deliveryParams,
  answers: { 202: { description: 'It is due now.', schema: deliverySchema } },
  errors: ['not_found', 'invalid_transition', 'request_in_progress'],
  handle: ({ ctx, params }) => redeliver(ctx, params.id, params.delivery_id),
  answer: (delivery) => ({ status: 202, body: presentDelivery(delivery) }),
})
