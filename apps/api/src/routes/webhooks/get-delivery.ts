import { getDelivery } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { deliveryParams, deliverySchema, presentDelivery } from './webhook-schema.ts'

export const getDeliveryEndpoint = endpoint({
  operationId: 'getDelivery',
  method: 'GET',
  path: '/webhooks/{id}/deliveries/{delivery_id}',
  tag: 'Webhooks',
  summary: 'Read a delivery',
  description: 'With its body, as it was sent.',
  access: 'webhooks:write',
  params: deliveryParams,
  answers: { 200: { description: 'The delivery.', schema: deliverySchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getDelivery(ctx, params.id, params.delivery_id),
  answer: (delivery) => ({ status: 200, body: presentDelivery(delivery) }),
})
