// SQL: workers claim deliveries of all projects and store their ends in batches; how many of one destination are claimed is decided in the statement.
import type { DeliveryAttempt, ReceiverKind } from '@muster/domain'
import type { Database, Tx } from '../../client.ts'

/** A delivery with what its worker needs of its receiver. */
export interface ClaimedDelivery {
  projectId: string
  id: string
  receiverId: string
  destinationId: string
  kind: ReceiverKind
  type: string
  body: string
  /** The number of the try, from 1. It fences: an earlier try stores nothing. */
  tries: number
  /** Attempts that were made before, since it began or was sent again. */
  rung: number
  url: string | null
  /** `outbound_allow` of its project. */
  outboundAllow: string[]
  options: Record<string, unknown>
  /** Sealed. */
  secret: string | null
  previousSecret: string | null
  /** ISO 8601. */
  claimedAt: string
  /** Since it was made. */
  waitedSeconds: number
}

/** A delivery that goes with another one in one message. */
export type Companion = Pick<ClaimedDelivery, 'id' | 'tries' | 'rung' | 'body'>

export interface ClaimLimits {
  /** Deliveries at most. */
  limit: number
  leaseSeconds: number
  /** Deliveries of one destination that are sent at the same time, by all workers. */
  perDestination: number
  /** Failures in a row after which only one at a time tries a destination. */
  breakerFailures: number
}

/** Deliveries of an ordered receiver that a statement looks at, to find those that are the first of their subject. */
const LOOKED_AT = 200
/** Statements of a claim that may find nothing but deliveries behind others. */
const LOOKS_MAX = 50

/**
 * Takes deliveries that are due, of the destinations in turn, the longest due first; also those whose worker let its lease expire. Null while another
 * process claims: what a destination may take is counted under a lock.
 *
 * A destination gets another place only while as many are free as it holds (a dynamic threshold, as switches share their buffers): one that hangs takes a
 * part of what is left, a second one a part of the rest, and some places stay free for those that answer.
 *
 * The chats of a Telegram bot are one destination with one place, in which each message takes as long as the limit of the bot asks for. A chat that refuses
 * messages is left alone by itself, under the id of its receiver.
 */
export async function claimDeliveries(tx: Tx, limits: ClaimLimits): Promise<ClaimedDelivery[] | null> {
  const [lock] = await tx.sql<{ isMine: boolean }[]>`select pg_try_advisory_xact_lock(7300, 3) as "isMine"`
  if (lock?.isMine !== true) return null
  // Messages keep their places, so that the same ones go together again: what was sent may have arrived, and is recognised as a whole.
  await tx.sql`
    update deliveries set status = 'pending', lease_expires_at = null,
      due_at = case when kind in ('telegram', 'slack', 'email') then due_at else lease_expires_at end
    where status = 'sending' and lease_expires_at < (select muster_now())`
  await unparkNext(tx)
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const { held, parked } = await take(tx, limits)
    if (held.length > 0 || parked === 0) return held
  }
  return []
}

/**
 * Has the next of a subject looked at again when the one before it has ended. The end itself only notes that it has to be done (a trigger): it does not
 * see what a claim parks at the same moment, and claims are made one at a time.
 */
async function unparkNext(tx: Tx): Promise<void> {
  await tx.sql`
    with ended as (update deliveries set frees_next = false where frees_next returning receiver_id, subject_id)
    update deliveries set is_parked = false where id in (
      select (
        select n.id from deliveries n
        where n.receiver_id = e.receiver_id and n.subject_id = e.subject_id and n.is_ordered and n.status in ('pending', 'sending') and n.is_parked
        order by n.event_seq limit 1
      ) from (select distinct receiver_id, subject_id from ended) e)`
}

/** Takes what may be sent now, and parks what it finds behind an earlier one of its subject, so that no claim looks at it again before its turn. */
async function take(tx: Tx, { limit, leaseSeconds, perDestination, breakerFailures }: ClaimLimits): Promise<{ held: ClaimedDelivery[]; parked: number }> {
  const rows = await tx.sql<(ClaimedDelivery & { parked: number })[]>`
    with recursive moment as materialized (select muster_now() as now),
    -- The destinations of waiting deliveries, one look at the index each. Any delivery tells what kind of receivers a destination has.
    waiting as (
      (select destination_id as id, kind, receiver_id from deliveries where status = 'pending' order by destination_id limit 1)
      union all
      select n.* from waiting w cross join lateral (
        select d.destination_id, d.kind, d.receiver_id from deliveries d where d.status = 'pending' and d.destination_id > w.id order by d.destination_id limit 1
      ) n
    ),
    free as materialized (
      select w.id, w.kind, h.held, r.is_ordered is true as is_ordered,
        greatest(0, case when s.failures >= ${breakerFailures} or w.kind in ('telegram', 'slack', 'email') then 1 else ${perDestination}::int end - h.held) as room
      from waiting w cross join moment left join destinations s on s.id = w.id left join receivers r on r.id = w.receiver_id
      cross join lateral (select count(*) as held from deliveries o where o.status = 'sending' and o.destination_id = w.id) h
      where s.paused_until is null or s.paused_until <= moment.now
    ),
    -- The chats with waiting messages of bots that may send one, one look at the index each.
    chats as (
      select f.id as destination_id, c.receiver_id from free f cross join lateral (
        select d.receiver_id from deliveries d
        where d.status = 'pending' and d.kind = 'telegram' and d.destination_id = f.id order by d.receiver_id limit 1
      ) c where f.kind = 'telegram' and f.room > 0
      union all
      select w.destination_id, n.receiver_id from chats w cross join lateral (
        select d.receiver_id from deliveries d
        where d.status = 'pending' and d.kind = 'telegram' and d.destination_id = w.destination_id and d.receiver_id > w.receiver_id
        order by d.receiver_id limit 1
      ) n
    ),
    -- The chats of a bot have its place by chance: a long backlog of one takes no more turns than the few messages of another.
    next_of_bots as materialized (
      select distinct on (c.destination_id) c.destination_id, m.id, m.due_at
      from chats c cross join moment cross join lateral (
        select d.id, d.due_at from deliveries d
        where d.status = 'pending' and d.kind = 'telegram' and d.destination_id = c.destination_id and d.receiver_id = c.receiver_id and d.due_at <= moment.now
        order by d.due_at, d.id limit 1
      ) m
      where exists (select from receivers r where r.id = c.receiver_id and r.status = 'enabled')
        and not exists (select from destinations s where s.id = c.receiver_id and s.paused_until > moment.now)
      order by c.destination_id, random()
    ),
    looked_at as materialized (
      select n.id, n.due_at, f.id as destination_id, f.held, f.room, false as is_behind from next_of_bots n join free f on f.id = n.destination_id
      union all
      select c.id, c.due_at, f.id as destination_id, f.held, f.room, c.is_ordered and exists (
          select from deliveries e
          where e.receiver_id = c.receiver_id and e.subject_id = c.subject_id and e.event_seq < c.event_seq
            and e.is_ordered and e.status in ('pending', 'sending')) as is_behind
      from free f cross join moment cross join lateral (
        select d.id, d.due_at, d.is_ordered, d.receiver_id, d.subject_id, d.event_seq from deliveries d
        where d.status = 'pending' and d.destination_id = f.id and not d.is_parked and d.due_at <= moment.now
          and exists (select from receivers r where r.id = d.receiver_id and r.status = 'enabled')
        order by d.due_at, d.id limit case when f.room > 0 and f.is_ordered then ${LOOKED_AT} else f.room end
      ) c where f.kind <> 'telegram'
    ),
    parked as (update deliveries set is_parked = true where id in (select id from looked_at where is_behind) returning id),
    ready as (
      select id, due_at, room, held + row_number() over (partition by destination_id order by due_at, id) as nth, held from looked_at where not is_behind
    ),
    ranked as (select id, nth, row_number() over (order by nth, due_at, id) as place from ready where nth <= held + room),
    taken as (
      update deliveries d set status = 'sending', tries = d.tries + 1, lease_expires_at = moment.now + ${leaseSeconds} * interval '1 second'
      from ranked t, moment, receivers r
      where d.id = t.id and t.place <= ${limit}::int and t.nth - 1 <= ${limit}::int - t.place and d.status = 'pending' and r.id = d.receiver_id
      returning d.project_id as "projectId", d.id, d.receiver_id as "receiverId", d.destination_id as "destinationId", d.kind, d.type, d.body, d.tries, d.rung,
        r.url, muster_outbound_allow(d.project_id) as "outboundAllow", r.options, r.secret,
        case when r.previous_until > moment.now then r.previous_secret end as "previousSecret",
        to_char(moment.now at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "claimedAt",
        extract(epoch from moment.now - d.created_at)::float8 as "waitedSeconds"
    )
    select p.parked, t.* from (select count(*)::int as parked from parked) p left join taken t on true`
  return { held: rows.filter(({ id }) => id !== null).map(({ parked: _, ...held }) => held), parked: rows[0]?.parked ?? 0 }
}

/** Messages of other chats wait for the same bot: with this, they are not read. */
const OF_BOTS = ({ sql }: Database) => sql`and d.kind = 'telegram'`

/** Takes waiting deliveries of the same receiver, but no questions, the oldest first: those that were not tried yet, and those whose next attempt is due. */
export async function takeCompanions(
  database: Database,
  { id, receiverId, destinationId, kind }: Pick<ClaimedDelivery, 'id' | 'receiverId' | 'destinationId' | 'kind'>,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<Companion[]> {
  return await database.sql<Companion[]>`
    with moment as materialized (select muster_now() as now),
    chosen as materialized (
      select d.id from deliveries d cross join moment
      where d.status = 'pending' and d.destination_id = ${destinationId} and d.receiver_id = ${receiverId} and d.id <> ${id}
        ${kind === 'telegram' ? OF_BOTS(database) : database.sql``} and d.type <> 'question.asked' and (d.rung = 0 or d.due_at <= moment.now)
      order by d.created_at, d.id limit ${limit} for update of d skip locked
    )
    update deliveries d set status = 'sending', tries = d.tries + 1, lease_expires_at = moment.now + ${leaseSeconds} * interval '1 second'
    from chosen, moment where d.id = chosen.id and d.status = 'pending'
    returning d.id, d.tries, d.rung, d.body`
}

/** The result of a try. */
export interface DeliveryEnd {
  id: string
  tries: number
  status: 'pending' | 'delivered' | 'failed'
  rung: number
  /** Seconds until the next try, where there is one. Null: it is due as before, and keeps its place among others. */
  waitSeconds: number | null
  /** Null if nothing was attempted. */
  attempt: DeliveryAttempt | null
}

/** Stores results, each unless another worker has taken the delivery since. A delivery that would be tried after its time is given up. Returns the ids. */
export async function storeEnds(tx: Tx, ends: readonly DeliveryEnd[], attemptsKept: number): Promise<{ id: string; status: string }[]> {
  return await tx.sql<{ id: string; status: string }[]>`
    with moment as materialized (select muster_now() as now),
    ended as (
      select e.id, e.tries, e.rung, e.attempt, moment.now + e.wait_seconds * interval '1 second' as due_at,
        case when e.status = 'pending' and moment.now + coalesce(e.wait_seconds, 0) * interval '1 second' > d.give_up_at then 'failed' else e.status end as status
      from jsonb_to_recordset(${JSON.stringify(
        ends.map(({ waitSeconds, ...end }) => ({ ...end, wait_seconds: waitSeconds })),
      )}::jsonb) as e(id uuid, tries int, status text, rung int, wait_seconds float8, attempt jsonb)
      join deliveries d on d.id = e.id cross join moment
    )
    update deliveries d set status = e.status, rung = e.rung, lease_expires_at = null,
      due_at = case when e.status = 'pending' then coalesce(e.due_at, d.due_at) else d.due_at end,
      ended_at = case when e.status <> 'pending' then moment.now end,
      attempts = case when jsonb_typeof(e.attempt) = 'object' then
        case when jsonb_array_length(d.attempts) >= ${attemptsKept} then d.attempts - 0 else d.attempts end || jsonb_build_array(e.attempt)
        else d.attempts end
    from ended e, moment
    where d.id = e.id and d.tries = e.tries and d.status = 'sending'
    returning d.id, d.status`
}

/** How a destination did in a batch: failures in a row, 0 after a success, and for how long it asks to be left alone. */
export interface DestinationResult {
  projectId: string
  id: string
  failures: number
  pauseSeconds: number
}

/**
 * Counts failures and pauses destinations; a success closes the breaker.
 *
 * @param breaker seconds of the pause by failures in a row, from the failure that opens it; the last is the longest
 */
export async function recordDestinations(
  tx: Tx,
  results: readonly DestinationResult[],
  breaker: { failures: number; seconds: readonly number[] },
): Promise<void> {
  const working = results.filter(({ failures, pauseSeconds }) => failures === 0 && pauseSeconds === 0).map(({ id }) => id)
  if (working.length > 0) await tx.sql`delete from destinations where id = any(${working}::uuid[])`
  const rows = results
    .filter(({ failures, pauseSeconds }) => failures > 0 || pauseSeconds > 0)
    .map(({ projectId, pauseSeconds, ...each }) => ({ ...each, project_id: projectId, pause_seconds: pauseSeconds }))
  if (rows.length === 0) return
  const pause = (failures: ReturnType<Tx['sql']['unsafe']>) => tx.sql`
    coalesce((${breaker.seconds as number[]}::float8[])[least(${failures} - ${breaker.failures}::int + 1, ${breaker.seconds.length}::int)], 0) * interval '1 second'`
  await tx.sql`
    with moment as materialized (select muster_now() as now)
    insert into destinations as s (project_id, id, failures, paused_until)
    select n.project_id, n.id, n.failures, moment.now + greatest(n.pause_seconds * interval '1 second', ${pause(tx.sql.unsafe('n.failures'))})
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as n(project_id uuid, id uuid, failures int, pause_seconds float8) cross join moment
    order by n.id
    on conflict (id) do update set failures = s.failures + excluded.failures,
      paused_until = greatest(excluded.paused_until, (select muster_now()) + ${pause(tx.sql.unsafe('(s.failures + excluded.failures)'))})`
}

/** Whether any delivery waits or is being sent. */
export async function isAnyOpen(database: Database): Promise<boolean> {
  const [row] = await database.sql<{ isOpen: boolean }[]>`
    select exists(select from deliveries where status = 'pending') or exists(select from deliveries where status = 'sending') as "isOpen"`
  return row?.isOpen === true
}

const REMOVED = 'Its receiver was removed.'
const UNREACHED = 'Its receiver was left alone after failures until its time was over.'

/** Gives up waiting deliveries that no worker may send: their receiver is gone or disabled, or their time is over. Returns how many. */
export async function endUnsendable(database: Database, limit: number): Promise<number> {
  const ended = await database.sql`
    update deliveries u set status = 'failed', ended_at = muster_now(), ended_reason = e.reason
    from (
      select d.id, case when r.id is null then ${REMOVED} when r.status = 'disabled' then r.disabled_reason else ${UNREACHED} end as reason
      from deliveries d left join receivers r on r.id = d.receiver_id
      where d.status = 'pending' and (r.id is null or r.status = 'disabled' or (d.give_up_at < (select muster_now())
        and exists (select from destinations s where s.id in (d.destination_id, d.receiver_id) and s.paused_until > (select muster_now()))))
      limit ${limit} for update of d skip locked
    ) e where u.id = e.id`
  return ended.count
}
