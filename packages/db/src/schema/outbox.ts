import type { EventType } from '@muster/domain'
import { sql } from 'drizzle-orm'
import { bigint, check, customType, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow, projectId } from './columns.ts'

/** Elements are written and taken apart by SQL alone. */
const eventBatch = customType<{ data: string }>({ dataType: () => 'muster_event[]' })

/**
 * Events before they are in the log. Each commits with the rows that it is about, and the relay moves them in order. A row has the events of a whole
 * statement (`batch`), in their order, or a lone event (the columns from `type` to `actor_id`). `muster_system.waiting_events` shows each as a row.
 */
export const outbox = pgTable(
  'outbox',
  {
    projectId: projectId(),
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    type: text().$type<EventType>(),
    subjectKind: text(),
    subjectId: uuid(),
    /** The name of a subject that has a name instead of an id. `subject_id` is derived from it. */
    subjectName: text(),
    data: jsonb().$type<Record<string, unknown>>(),
    actorKind: text(),
    actorId: text(),
    at: instantNow(),
    batch: eventBatch(),
    /** How many events the row has, so that the relay need not read a batch to count it. */
    size: integer().notNull().default(1),
  },
  () => [
    check(
      'outbox_batch',
      sql`case when batch is null then num_nulls(type, subject_kind, subject_id, data, actor_kind, actor_id) = 0 and size = 1 else size > 0 end`,
    ),
  ],
)
