import { check, index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow, oneOf, projectId } from './columns.ts'

export const TSG_USES = ['surfaced', 'read', 'resolved', 'unresolved'] as const

/** Uses of guides: surfaced, read, and whether they resolved the failure. Append-only; statistics count them. */
export const tsgUses = pgTable(
  'tsg_uses',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    tsgId: text().notNull(),
    kind: text().$type<(typeof TSG_USES)[number]>().notNull(),
    sessionId: text(),
    taskId: uuid(),
    createdAt: instantNow(),
  },
  (table) => [check('tsg_uses_kind', oneOf('kind', TSG_USES)), index('tsg_uses_by_tsg').on(table.projectId, table.tsgId, table.kind)],
)
