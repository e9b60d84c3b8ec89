import { integer, pgTable, uuid } from 'drizzle-orm/pg-core'
import { instant, projectId } from './columns.ts'

/** The circuit breakers of destinations that failed last. One without a row works. */
export const destinations = pgTable('destinations', {
  projectId: projectId(),
  id: uuid().primaryKey(),
  /** In a row. */
  failures: integer().notNull(),
  /** Nothing is sent to it before. */
  pausedUntil: instant(),
})
