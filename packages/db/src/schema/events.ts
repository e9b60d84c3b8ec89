import { bigint, index, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant, projectId } from './columns.ts'

/**
 * The event log. One relay at a time numbers events by `seq` after their commit, so that a reader that pages by it misses none. Partitioned by ranges
 * of `seq`, each of about six hours, so that retention drops whole partitions and there are few of them.
 */
export const events = pgTable(
  'events',
  {
    projectId: projectId(),
    seq: bigint({ mode: 'number' }).primaryKey(),
    type: text().notNull(),
    subjectKind: text().notNull(),
    subjectId: uuid().notNull(),
    /** The name of a subject that has a name instead of an id. `subject_id` is derived from it. */
    subjectName: text(),
    data: jsonb().$type<Record<string, unknown>>().notNull(),
    actorKind: text().notNull(),
    actorId: text().notNull(),
    at: instant().notNull(),
  },
  (table) => [index('events_by_project').on(table.projectId, table.seq), index('events_by_subject').on(table.projectId, table.subjectId, table.seq)],
)
