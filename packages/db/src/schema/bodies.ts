import { pgTable, uuid } from 'drizzle-orm/pg-core'
import { bytes, instantNow, projectId } from './columns.ts'

/** Texts above 64 KiB, stored apart from the rows that lists read. */
export const bodies = pgTable('bodies', {
  projectId: projectId(),
  id: uuid().primaryKey(),
  sha256: bytes().notNull(),
  bytes: bytes().notNull(),
  createdAt: instantNow(),
})
