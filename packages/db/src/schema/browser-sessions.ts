import { index, pgTable, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { bytes, instant, instantNow, projectId } from './columns.ts'

/**
 * Sign-ins of the dashboard: a browser gave an API key, and got a token in a cookie that a page cannot read. The token is renewed from time to time;
 * the previous one stays valid for a moment, because other requests of the browser are under way with it.
 */
export const browserSessions = pgTable(
  'browser_sessions',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    apiKeyId: uuid().notNull(),
    tokenHash: bytes().notNull(),
    previousHash: bytes(),
    previousUntil: instant(),
    createdAt: instantNow(),
    renewedAt: instantNow(),
    expiresAt: instant().notNull(),
  },
  (table) => [
    uniqueIndex('browser_sessions_hash').on(table.tokenHash),
    index('browser_sessions_previous').on(table.previousHash),
    index('browser_sessions_expiry').on(table.projectId, table.expiresAt),
  ],
)
