import { getDelivery } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { deliverySchema, presentDelivery } from './delivery-schema.ts'

export const getDeliveryEndpoint = endpoint({
  operationId: 'getDelivery',
  method: 'GET',
  path: '/deliveries/{id}',
  tag: 'Deliveries',
  summary: 'Read a delivery',
  description: 'With its body, as it was sent.',
  access: 'webhooks:write',
  params: idParams('delivery'),
  answers: { 200: { description: 'The delivery.', schema: deliverySchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getDelivery(ctx, null, params.id),
  answer: (delivery) => ({ status: 200, body: presentDelivery(delivery) }),
})
