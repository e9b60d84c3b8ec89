import { createApiKey } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { createdApiKeySchema, newApiKeySchema, presentApiKey } from './api-key-schema.ts'

export const createApiKeyEndpoint = endpoint({
  operationId: 'createApiKey',
  method: 'POST',
  path: '/api-keys',
  tag: 'API keys',
  summary: 'Create an API key',
  description: 'Only this answer shows the key: its hash is stored.',
  access: 'admin',
  needsNoRoom: 'keys are how room is made',
  body: newApiKeySchema,
  answers: { 201: { description: 'Created.', schema: createdApiKeySchema } },
  handle: ({ ctx, body }) =>
    createApiKey(ctx, { name: body.name, scopes: body.scopes, agentId: body.agent_id ?? undefined, expiresAt: body.expires_at ?? undefined }),
  answer: ({ apiKey, secret }) => ({ status: 201, body: { ...presentApiKey(apiKey), key: secret } }),
  storedAnswer: ({ apiKey }) => ({ status: 201, body: { ...presentApiKey(apiKey), key: null } }),
})
