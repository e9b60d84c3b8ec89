import { deleteWebhook } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'

export const deleteWebhookEndpoint = endpoint({
  operationId: 'deleteWebhook',
  method: 'DELETE',
  path: '/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Delete a webhook',
  description: 'Nothing more is sent to it, and what waits is given up. Its deliveries stay in `GET /deliveries`.',
  access: 'webhooks:write',
  params: idParams('webhook'),
  answers: { 204: { description: 'Deleted.' } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => deleteWebhook(ctx, params.id),
  answer: () => ({ status: 204 }),
})
