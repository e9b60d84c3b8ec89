import { index, jsonb, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core'
import { bytes, instantNow, projectId } from './columns.ts'

/** Answers by `Idempotency-Key`. A row commits with the effect of its request, so a crash leaves neither. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    projectId: projectId(),
    /** The same key from another caller is another key. */
    actorId: text().notNull(),
    key: text().notNull(),
    requestHash: bytes().notNull(),
    status: smallint().notNull(),
    headers: jsonb().$type<Record<string, string>>().notNull(),
    body: jsonb().$type<unknown>(),
    createdAt: instantNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.actorId, table.key] }), index('idempotency_keys_age').on(table.createdAt)],
)
