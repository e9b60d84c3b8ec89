// SQL: every change of everything publishes here, and the relay moves the rows.
import type { NewEvent } from '@muster/domain'
import type { Tx } from '../../client.ts'
import { subjectKey, subjectName } from './events.ts'

/** What a COMMIT tells other processes on a channel of PostgreSQL; nothing where `text` is null. */
export interface Notice {
  channel: string
  text: string | null
}

/** The most events of one row of the outbox: the relay moves a row as a whole, within the time that a statement may take. */
const BATCH_MAX = 1_000

/** The fields of an event by their names, for JSON that a statement takes apart. */
export function toEventRecord(event: NewEvent): Record<string, unknown> {
  return {
    type: event.type,
    subject_kind: event.subject.kind,
    subject_id: subjectKey(event.subject.id),
    subject_name: subjectName(event.subject.id),
    data: event.data,
    actor_kind: event.actor.kind,
    actor_id: event.actor.id,
  }
}

/**
 * Writes events to the outbox, in this transaction, as one batch, or as several where they are very many. Call it after locking their subject: readers see
 * the events of a subject in the order of the calls under that lock.
 *
 * @param notice travels with the COMMIT, if there are events
 */
export async function publish(tx: Tx, projectId: string, events: readonly NewEvent[], notice?: Notice): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(toEventRecord)
  // One call of the clock for all rows. As the column's default it would run for each row: a tenth of the time of firing thousands of schedules.
  await tx.sql`
    with moment as materialized (select muster_now() as now),
    published as (
      insert into outbox (project_id, batch, size, at)
      select ${projectId},
        array_agg(row(e.type, e.subject_kind, e.subject_id, e.subject_name, e.data, e.actor_kind, e.actor_id)::muster_event order by e.place),
        count(*), min(moment.now)
      from rows from (
        jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          as (type text, subject_kind text, subject_id uuid, subject_name text, data jsonb, actor_kind text, actor_id text)
      ) with ordinality as e(type, subject_kind, subject_id, subject_name, data, actor_kind, actor_id, place) cross join moment
      group by (e.place - 1) / ${BATCH_MAX}::int order by min(e.place)
    )
    select pg_notify(${notice?.channel ?? null}, ${notice?.text ?? null}) where ${notice?.text ?? null}::text is not null`
}

/**
 * Moves waiting events to the log, and numbers them. Returns how many, at least `limit` if there may be more: a row of the outbox is moved as a whole. Null
 * while another process does so: one relay runs at a time. Needs no transaction.
 */
export async function moveOutbox(sql: Tx['sql'], limit: number): Promise<number | null> {
  const [row] = await sql<{ moved: number }[]>`select moved from muster_relay(${limit})`
  return row?.moved ?? null
}
