import type { StepKind } from '@muster/domain'
import { integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow, projectId } from './columns.ts'

/** Transcripts. Partitioned by day, so that retention drops whole partitions. */
export const steps = pgTable(
  'steps',
  {
    projectId: projectId(),
    subtaskId: uuid().notNull(),
    seq: integer().notNull(),
    attempt: integer().notNull(),
    kind: text().$type<StepKind>().notNull(),
    content: jsonb().$type<unknown>(),
    at: instantNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.subtaskId, table.seq, table.at] })],
)
