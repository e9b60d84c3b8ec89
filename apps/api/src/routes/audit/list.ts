import { listAuditEntries } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { pageQuery } from '../../http/schemas.ts'
import { auditFilters, auditListSchema, presentAuditEntry, toAuditFilter } from './audit-schema.ts'

export const listAuditEndpoint = endpoint({
  operationId: 'listAudit',
  method: 'GET',
  path: '/audit',
  tag: 'Audit',
  summary: 'List who wrote what',
  description:
    'The writes of this project, the latest first: by whom, from where, which operation, on what, and the names of the fields that were set, never their values. The traffic of workers and sessions is not in it.',
  access: 'admin',
  query: z.strictObject({ ...auditFilters, ...pageQuery }),
  answers: { 200: { description: 'A page of entries.', schema: auditListSchema } },
  errors: ['cursor_invalid'],
  handle: ({ ctx, query: { limit, cursor, ...filters } }) => listAuditEntries(ctx, { ...toAuditFilter(filters), limit, cursor }),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentAuditEntry), next_cursor: nextCursor } }),
})
