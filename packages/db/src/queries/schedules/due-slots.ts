// SQL: a pass decides about thousands of schedules at once, each statement for a whole batch.
import type { Schedule, SlotOutcome } from '@muster/domain'
import type { Tx } from '../../client.ts'
import { agentLimit, type LaneDefaults } from '../subtasks/lanes.ts'

/** A schedule whose next slot has come. */
export interface DueRef {
  projectId: string
  id: string
  agentId: string
}

export interface DueLook {
  /** Longest due first. */
  due: DueRef[]
  /** Milliseconds until the next one is due; null for none. */
  nextInMs: number | null
  /** Whether slots wait for room in their agents' queues. */
  hasWaiting: boolean
}

/** What is due, and when to look again: one look into an index each, however many are stored. Across projects; needs no transaction. */
export async function findDue({ sql }: Pick<Tx, 'sql'>, except: readonly string[], limit: number): Promise<DueLook> {
  const [row] = await sql<{ due: DueRef[]; next_in_ms: number | null; has_waiting: boolean }[]>`
    with moment as materialized (select muster_now() as now)
    select
      (
        select coalesce(jsonb_agg(jsonb_build_object('projectId', project_id, 'id', id, 'agentId', agent_id) order by next_fire_at), '[]')
        from (
          select project_id, id, agent_id, next_fire_at from schedules
          where next_fire_at <= (select now from moment) and id <> all(${except as string[]}::uuid[])
          order by next_fire_at limit ${limit}
        ) as passed
      ) as due,
      (
        select extract(epoch from next_fire_at - (select now from moment))::float8 * 1000 from schedules
        where next_fire_at > (select now from moment) order by next_fire_at limit 1
      ) as next_in_ms,
      exists (select from schedule_slots where outcome = 'waiting') as has_waiting`
  return { due: row?.due ?? [], nextInMs: row?.next_in_ms ?? null, hasWaiting: row?.has_waiting === true }
}

/** What the decision about the slots of a locked schedule needs besides its row. */
export interface DueFacts {
  /** A subtask of it is pending or running. */
  hasRun: boolean
  /** A slot of it waits for room. */
  hasWaitingSlot: boolean
  /** Slots from the next one until now that have a row already, in milliseconds, because the clock was put back. */
  takenMs: ReadonlySet<number>
}

/**
 * Reads the facts of locked schedules, and the time. A statement of its own, so that it sees what the locks waited for. With EXISTS it would be
 * planned as one read of all live subtasks while the statistics of the tables are old.
 */
export async function readDueFacts(tx: Tx, locked: readonly Schedule[]): Promise<{ now: Date; facts: Map<string, DueFacts> }> {
  const rows = await tx.sql<{ id: string; now: string; has_run: boolean; has_waiting_slot: boolean; taken_ms: number[] }[]>`
    with moment as materialized (select muster_now() as now)
    select d.id, moment.now,
      (select true from subtasks s where s.schedule_id = d.id and s.status in ('pending', 'running', 'waiting') limit 1) is true as has_run,
      (select true from schedule_slots l where l.schedule_id = d.id and l.outcome = 'waiting' limit 1) is true as has_waiting_slot,
      array(
        select (extract(epoch from l.slot) * 1000)::float8 from schedule_slots l
        where l.schedule_id = d.id and not l.manual and l.slot >= d.next_fire_at and l.slot <= moment.now
      ) as taken_ms
    from unnest(
      ${locked.map((schedule) => schedule.id)}::uuid[], ${locked.map((schedule) => schedule.nextFireAt?.toISOString() ?? null)}::text[]::timestamptz[]
    ) as d(id, next_fire_at) cross join moment`
  const facts = new Map(rows.map((row) => [row.id, { hasRun: row.has_run, hasWaitingSlot: row.has_waiting_slot, takenMs: new Set(row.taken_ms) }]))
  return { now: new Date(rows[0]?.now as string), facts }
}

export interface NewSlotRow {
  id: string
  scheduleId: string
  agentId: string
  slot: Date
  manual: boolean
  outcome: SlotOutcome
  firedAt: Date | null
  subtaskId: string | null
}

/** Stores the outcomes of slots. Their schedules must be locked. Fails for a slot that has a row already. */
export async function insertSlots(tx: Tx, projectId: string, rows: readonly NewSlotRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx.sql`
    insert into schedule_slots (project_id, id, schedule_id, agent_id, slot, manual, outcome, fired_at, subtask_id)
    select ${projectId}, n.id, n."scheduleId", n."agentId", n.slot, n.manual, n.outcome, n."firedAt", n."subtaskId"
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as n(
      id uuid, "scheduleId" uuid, "agentId" text, slot timestamptz, manual boolean, outcome text, "firedAt" timestamptz, "subtaskId" uuid)`
}

/** What the outcomes of some slots change of their schedule. */
export interface Advance {
  scheduleId: string
  nextFireAt: Date | null
  /** How many more have fired, and when the last one did. */
  fired: number
  lastFiredAt: Date | null
  isFinished: boolean
}

/** Moves locked schedules to their next slots. */
export async function advanceSchedules(tx: Tx, advances: readonly Advance[]): Promise<void> {
  if (advances.length === 0) return
  await tx.sql`
    with moment as materialized (select muster_now() as now)
    update schedules s set next_fire_at = a."nextFireAt", fire_count = s.fire_count + a.fired, last_fired_at = coalesce(a."lastFiredAt", s.last_fired_at),
      state = case when a."isFinished" then 'finished' else s.state end, updated_at = moment.now
    from moment, jsonb_to_recordset(${JSON.stringify(advances)}::jsonb) as a(
      "scheduleId" uuid, "nextFireAt" timestamptz, fired int, "lastFiredAt" timestamptz, "isFinished" boolean)
    where s.id = a."scheduleId" and s.id = any(${advances.map((advance) => advance.scheduleId)}::uuid[])`
}

/** Projects in which slots wait for room: one look into the index for each of them. Across projects; needs no transaction. */
export async function findWaitingProjects({ sql }: Pick<Tx, 'sql'>): Promise<string[]> {
  const rows = await sql<{ project_id: string }[]>`
    with recursive waiting as (
      (select project_id from schedule_slots where outcome = 'waiting' order by project_id limit 1)
      union all
      select following.project_id from waiting cross join lateral (
        select project_id from schedule_slots where outcome = 'waiting' and project_id > waiting.project_id order by project_id limit 1
      ) as following
    )
    select project_id from waiting`
  return rows.map((row) => row.project_id)
}

/**
 * Schedules of a project with a waiting slot that has room now: for each agent as many as its queue can take, longest waiting first. One look into the
 * index for each agent. Locks nothing, so the room may be gone when the slot is fired.
 */
export async function findRoomForWaiting(
  tx: Tx,
  projectId: string,
  except: readonly string[],
  defaults: Pick<LaneDefaults, 'pending' | 'ceilings'>,
  limit: number,
): Promise<string[]> {
  const rows = await tx.sql<{ schedule_id: string }[]>`
    with recursive lane as (
      (select agent_id from schedule_slots where project_id = ${projectId} and outcome = 'waiting' order by agent_id limit 1)
      union all
      select following.agent_id from lane cross join lateral (
        select agent_id from schedule_slots
        where project_id = ${projectId} and outcome = 'waiting' and agent_id > lane.agent_id order by agent_id limit 1
      ) as following
    ),
    allowed as (
      select l.agent_id,
        ${agentLimit(tx.sql, 'pending', tx.sql`l.agent_id`, defaults)} as pending_max
      from lane l cross join projects p where p.id = ${projectId}
    ),
    room as (
      select a.agent_id, a.pending_max
        - (select count(*) from subtasks s where s.project_id = ${projectId} and s.agent_id = a.agent_id and s.slot and s.status = 'pending')
        - (
          select count(*) from (
            select from subtasks s where s.project_id = ${projectId} and s.agent_id = a.agent_id and s.status = 'pending' and not s.slot limit a.pending_max
          ) as waiting
        ) as places
      from allowed a
    )
    select first.schedule_id from room r cross join lateral (
      select w.schedule_id from schedule_slots w join schedules d on d.id = w.schedule_id
      where w.project_id = ${projectId} and w.agent_id = r.agent_id and w.outcome = 'waiting' and w.schedule_id <> all(${except as string[]}::uuid[])
        and not (d.overlap = 'skip' and exists (select from subtasks s where s.schedule_id = w.schedule_id and s.status in ('pending', 'running', 'waiting')))
      order by w.slot limit greatest(r.places, 0)
    ) as first
    limit ${limit}`
  return rows.map((row) => row.schedule_id)
}

/** A slot that waits for room. */
export interface WaitingSlot {
  id: string
  scheduleId: string
  slot: Date
}

/**
 * The waiting slots of locked schedules that may fire now. With `overlap: skip`, none while an earlier run goes on. A statement of its own, so that
 * it sees what the locks waited for.
 */
export async function listWaitingSlots(tx: Tx, scheduleIds: readonly string[]): Promise<WaitingSlot[]> {
  const rows = await tx.sql<{ id: string; schedule_id: string; slot: string }[]>`
    select w.id, w.schedule_id, w.slot from schedule_slots w join schedules d on d.id = w.schedule_id
    where w.schedule_id = any(${scheduleIds as string[]}::uuid[]) and w.outcome = 'waiting' and d.state = 'active'
      and not (d.overlap = 'skip' and exists (select from subtasks s where s.schedule_id = w.schedule_id and s.status in ('pending', 'running', 'waiting')))
    order by w.slot, w.id`
  return rows.map((row) => ({ id: row.id, scheduleId: row.schedule_id, slot: new Date(row.slot) }))
}

/** Marks waiting slots of locked schedules as fired. */
export async function writeFired(tx: Tx, fired: readonly { id: string; subtaskId: string; firedAt: Date }[]): Promise<void> {
  if (fired.length === 0) return
  await tx.sql`
    update schedule_slots w set outcome = 'fired', subtask_id = f."subtaskId", fired_at = f."firedAt"
    from jsonb_to_recordset(${JSON.stringify(fired)}::jsonb) as f(id uuid, "subtaskId" uuid, "firedAt" timestamptz)
    where w.id = f.id and w.id = any(${fired.map((slot) => slot.id)}::uuid[])`
}
