import type { EventType } from '@muster/domain'
import { bigint, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow, projectId } from './columns.ts'

/** Events before they are in the log. Each commits with the rows that it is about, and the relay moves them in order. */
export const outbox = pgTable('outbox', {
  projectId: projectId(),
  id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  type: text().$type<EventType>().notNull(),
  subjectKind: text().notNull(),
  subjectId: uuid().notNull(),
  /** The name of a subject that has a name instead of an id. `subject_id` is derived from it. */
  subjectName: text(),
  data: jsonb().$type<Record<string, unknown>>().notNull(),
  actorKind: text().notNull(),
  actorId: text().notNull(),
  at: instantNow(),
})
