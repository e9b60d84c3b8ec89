import { listApiKeys } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { pageQuery } from '../../http/schemas.ts'
import { apiKeyListSchema, presentApiKey } from './api-key-schema.ts'

export const listApiKeysEndpoint = endpoint({
  operationId: 'listApiKeys',
  method: 'GET',
  path: '/api-keys',
  tag: 'API keys',
  summary: 'List the API keys',
  description: 'Newest first, including revoked and expired keys.',
  access: 'admin',
  query: z.strictObject(pageQuery),
  answers: { 200: { description: 'A page of keys.', schema: apiKeyListSchema } },
  errors: ['cursor_invalid'],
  handle: ({ ctx, query }) => listApiKeys(ctx, query),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentApiKey), next_cursor: nextCursor } }),
})
