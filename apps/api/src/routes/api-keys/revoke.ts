import { revokeApiKey } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'

export const revokeApiKeyEndpoint = endpoint({
  operationId: 'revokeApiKey',
  method: 'DELETE',
  path: '/api-keys/{id}',
  tag: 'API keys',
  summary: 'Revoke an API key',
  description: 'The key stops working at once; its open event streams end within one second.',
  access: 'admin',
  params: idParams('key'),
  answers: { 204: { description: 'Revoked.' } },
  errors: ['not_found'],
  async handle({ ctx, params }) {
    await revokeApiKey(ctx, params.id)
  },
  answer: () => ({ status: 204 }),
})
