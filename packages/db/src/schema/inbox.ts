import { sql } from 'drizzle-orm'
import { index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant, instantNow, projectId } from './columns.ts'

/** Results that wait for the session that asked. The subtask's own row holds the result; an item only says who still has to be told. */
export const inbox = pgTable(
  'inbox',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    sessionId: text().notNull(),
    subtaskId: uuid().notNull(),
    createdAt: instantNow(),
    /** Set by a claim; the item comes again when `lease_expires_at` passes without an acknowledgement. */
    claimId: uuid(),
    leaseExpiresAt: instant(),
    deliveredAt: instant(),
  },
  (table) => [
    uniqueIndex('inbox_subtask').on(table.subtaskId),
    index('inbox_waiting').on(table.projectId, table.sessionId, table.id).where(sql`delivered_at is null`),
  ],
)
