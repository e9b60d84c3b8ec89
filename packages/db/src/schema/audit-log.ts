import { AUDIT_DOORS, type AuditDoor } from '@muster/domain'
import { bigint, check, index, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { instantNow, oneOf, projectId } from './columns.ts'

/** Who wrote what from where: names and ids, no values. Nothing changes or deletes a row, but for maintenance after AUDIT_DAYS. */
export const auditLog = pgTable(
  'audit_log',
  {
    projectId: projectId(),
    seq: bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    at: instantNow(),
    actorKind: text().notNull(),
    actorId: text().notNull(),
    actorName: text(),
    door: text().$type<AuditDoor>().notNull(),
    address: text(),
    operation: text().notNull(),
    requestId: text(),
    ids: jsonb().$type<Record<string, string>>().notNull(),
    fields: text().array().notNull(),
  },
  (table) => [
    check('audit_log_door', oneOf('door', AUDIT_DOORS)),
    primaryKey({ columns: [table.projectId, table.seq] }),
    // Rows are in the order of time, so a few pages of it find those that are old.
    index('audit_log_at').using('brin', table.at),
  ],
)
