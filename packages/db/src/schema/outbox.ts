import type { EventType } from '@muster/domain'
import { bigint, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow, projectId } from './columns.ts'

/** Events on their way to the log: written in the transaction of what happened, moved in order by the one relay. */
export const outbox = pgTable('outbox', {
  projectId: projectId(),
  id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  type: text().$type<EventType>().notNull(),
  subjectKind: text().notNull(),
  subjectId: uuid().notNull(),
  /** What a subject is called that has a name instead of an id; `subject_id` is derived from it then. */
  subjectName: text(),
  data: jsonb().$type<Record<string, unknown>>().notNull(),
  actorKind: text().notNull(),
  actorId: text().notNull(),
  at: instantNow(),
})
