import { exportAuditEntries } from '@muster/usecases'
import { z } from 'zod'
import { linesEndpoint } from '../../http/endpoint.ts'
import { auditEntrySchema, auditFilters, presentAuditEntry, toAuditFilter } from './audit-schema.ts'

export const exportAuditEndpoint = linesEndpoint({
  operationId: 'exportAudit',
  method: 'GET',
  path: '/audit/export',
  tag: 'Audit',
  summary: 'Export the audit log',
  description: 'Streams one entry per line, the oldest first. A failed export breaks off without the end of the response.',
  access: 'admin',
  query: z.strictObject(auditFilters),
  answers: { 200: { description: 'The entries.', schema: auditEntrySchema, contentType: 'application/x-ndjson' } },
  async *lines({ ctx, query }) {
    for await (const entries of exportAuditEntries(ctx, toAuditFilter(query))) {
      yield entries.map((entry) => `${JSON.stringify(presentAuditEntry(entry))}\n`).join('')
    }
  },
})
