import type { NewEvent } from '@muster/domain'
import type { Tx } from '../client.ts'
import { subjectKey, subjectName } from './subjects.ts'

/**
 * Puts events on their way to the log, in this transaction. Call it after taking the lock of what they are about: the order of
 * the calls under that lock is the order in which readers see them.
 */
export async function publish(tx: Tx, projectId: string, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const rows = events.map((event) => ({
    type: event.type,
    subject_kind: event.subject.kind,
    subject_id: subjectKey(event.subject.id),
    subject_name: subjectName(event.subject.id),
    data: event.data,
    actor_kind: event.actor.kind,
    actor_id: event.actor.id,
  }))
  await tx.sql`
    insert into outbox (project_id, type, subject_kind, subject_id, subject_name, data, actor_kind, actor_id)
    select ${projectId}, e.type, e.subject_kind, e.subject_id, e.subject_name, e.data, e.actor_kind, e.actor_id
    from rows from (
      jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as (type text, subject_kind text, subject_id uuid, subject_name text, data jsonb, actor_kind text, actor_id text)
    ) with ordinality as e(type, subject_kind, subject_id, subject_name, data, actor_kind, actor_id, place)
    order by e.place`
}

const RELAY_LOCK = 1

/**
 * Moves waiting events into the log, giving each its place. One relay at a time, by a lock that ends with the transaction, so
 * that places are committed in their order. Answers how many were moved, or null when another process is at it.
 */
export async function moveOutbox(tx: Tx, limit: number): Promise<{ moved: number; lastSeq: number } | null> {
  const [lock] = await tx.sql<{ held: boolean }[]>`select pg_try_advisory_xact_lock(7300, ${RELAY_LOCK}) as held`
  if (lock?.held !== true) return null
  const [row] = await tx.sql<{ moved: number; last_seq: number | null }[]>`
    with moved as (
      delete from outbox where id = any(array(select id from outbox order by id limit ${limit})) returning *
    ),
    written as (
      insert into events (seq, project_id, type, subject_kind, subject_id, subject_name, data, actor_kind, actor_id, at)
      select nextval('muster_system.event_seq'), project_id, type, subject_kind, subject_id, subject_name, data, actor_kind, actor_id, at
      from (select * from moved order by id) as ordered
      returning seq
    )
    select count(*)::int as moved, max(seq) as last_seq from written`
  const moved = row?.moved ?? 0
  const lastSeq = row?.last_seq ?? 0
  // Followers must not be told before the log can be read, so this bell rings with the commit.
  if (moved > 0) await tx.sql`select pg_notify('muster_events', ${`relay,${lastSeq}`})`
  return { moved, lastSeq }
}
