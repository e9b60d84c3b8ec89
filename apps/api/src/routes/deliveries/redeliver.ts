import { redeliver } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { deliverySchema, presentDelivery } from './delivery-schema.ts'

export const redeliverEndpoint = endpoint({
  operationId: 'redeliver',
  method: 'POST',
  path: '/deliveries/{id}/redeliver',
  tag: 'Deliveries',
  summary: 'Send a delivery again',
  description: 'Sends the same bytes with the same `webhook-id`, also after it was delivered or given up. Its attempts begin anew; quiet hours hold.',
  access: 'webhooks:write',
  params: idParams('delivery'),
  answers: { 202: { description: 'It is due now.', schema: deliverySchema } },
  errors: ['not_found', 'invalid_transition', 'request_in_progress'],
  handle: ({ ctx, params }) => redeliver(ctx, null, params.id),
  answer: (delivery) => ({ status: 202, body: presentDelivery(delivery) }),
})
