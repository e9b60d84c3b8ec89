import { listTsgs } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { pageQuery, text } from '../../http/schemas.ts'
import { presentTsgSummary, tsgListSchema, tsgSeveritySchema } from './tsg-schema.ts'

export const listTsgsEndpoint = endpoint({
  operationId: 'listTsgs',
  method: 'GET',
  path: '/tsgs',
  tag: 'Troubleshooting guides',
  summary: 'List or search guides',
  description: 'Newest first, without contents.',
  access: 'tsgs:read',
  query: z.strictObject({
    q: text(500).optional().describe('Words to find in id, title, patterns or content; `"…"`, `OR` and `-` as in a search engine.'),
    technology: text(64).optional().describe('Only guides for this technology. Upper or lower case.'),
    severity: tsgSeveritySchema.optional().describe('Only guides of this severity.'),
    ...pageQuery,
  }),
  answers: { 200: { description: 'A page of guides.', schema: tsgListSchema } },
  errors: ['cursor_invalid'],
  handle: ({ ctx, query }) => listTsgs(ctx, query),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentTsgSummary), next_cursor: nextCursor } }),
})
