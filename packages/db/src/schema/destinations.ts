import { integer, pgTable, uuid } from 'drizzle-orm/pg-core'
import { instant, projectId } from './columns.ts'

/** The circuit breakers of destinations that failed last, and of single chats of bots, by the ids of their receivers. One without a row works. */
export const destinations = pgTable('destinations', {
  /** Of its first failure: a bot may have chats in several projects. */
  projectId: projectId(),
  id: uuid().primaryKey(),
  /** In a row. */
  failures: integer().notNull(),
  /** Nothing is sent to it before. */
  pausedUntil: instant(),
})
