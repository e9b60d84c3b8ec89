import { sql } from 'drizzle-orm'
import { index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { instant, instantNow, projectId } from './columns.ts'

/** Guides that fit a failure in a session. Each is delivered there once. */
export const tsgNotices = pgTable(
  'tsg_notices',
  {
    projectId: projectId(),
    sessionId: text().notNull(),
    tsgId: text().notNull(),
    matchedPattern: text().notNull(),
    createdAt: instantNow(),
    deliveredAt: instant(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.sessionId, table.tsgId] }),
    index('tsg_notices_waiting').on(table.projectId, table.sessionId, table.createdAt).where(sql`delivered_at is null`),
  ],
)
