import { redeliver } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { deliveryParams, deliverySchema, presentDelivery } from './webhook-schema.ts'

export const redeliverEndpoint = endpoint({
  operationId: 'redeliver',
  method: 'POST',
  path: '/webhooks/{id}/deliveries/{delivery_id}/redeliver',
  tag: 'Webhooks',
  summary: 'Send a delivery again',
  description: 'Sends the same bytes with the same `webhook-id`, also after it was delivered or given up. Its attempts begin anew.',
  access: 'webhooks:write',
  params: deliveryParams,
  answers: { 202: { description: 'It is due now.', schema: deliverySchema } },
  errors: ['not_found', 'invalid_transition', 'request_in_progress'],
  handle: ({ ctx, params }) => redeliver(ctx, params.id, params.delivery_id),
  answer: (delivery) => ({ status: 202, body: presentDelivery(delivery) }),
})
