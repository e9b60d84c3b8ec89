import { index, jsonb, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core'
import { bytes, instantNow, projectId } from './columns.ts'

/** Answers already given, by `Idempotency-Key`. The row commits with the effect it stands for, so a crash leaves neither. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    projectId: projectId(),
    /** Keys are the caller's own: the same text from another credential is another key. */
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
