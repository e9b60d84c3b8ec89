import { index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { bytes, instant, instantNow, projectId } from './columns.ts'

/** API keys. Only the SHA-256 of a key is stored: its 256 bits are random, so no slower hash is needed. */
export const apiKeys = pgTable(
  'api_keys',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    name: text().notNull(),
    keyHash: bytes().notNull(),
    /** The first characters, so that people can tell keys apart. */
    keyPrefix: text().notNull(),
    scopes: text().array().notNull(),
    agentId: text(),
    createdAt: instantNow(),
    expiresAt: instant(),
    revokedAt: instant(),
  },
  (table) => [uniqueIndex('api_keys_hash').on(table.keyHash), index('api_keys_project').on(table.projectId, table.id)],
)
