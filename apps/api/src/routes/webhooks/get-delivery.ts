import { getDelivery } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { deliverySchema, presentDelivery } from '../deliveries/delivery-schema.ts'
import { deliveryParams } from './webhook-schema.ts'

export const getWebhookDeliveryEndpoint = endpoint({
  operationId: 'getWebhookDelivery',
  method: 'GET',
  path: '/webhooks/{id}/deliveries/{delivery_id}',
  tag: 'Webhooks',
  summary: 'Read a delivery of a webhook',
  description: 'The same as `GET /deliveries/{id}`, for a delivery of this webhook.',
  access: 'webhooks:write',
  params: deliveryParams,
  answers: { 200: { description: 'The delivery.', schema: deliverySchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getDelivery(ctx, params.id, params.delivery_id),
  answer: (delivery) => ({ status: 200, body: presentDelivery(delivery) }),
})
