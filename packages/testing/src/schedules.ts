import { DEFAULT_PROJECT_ID, type MissedPolicy, type Overlap, type ScheduleRun, type Timing } from '@muster/domain'
import type postgres from 'postgres'

/** What a test says of a schedule that it puts there; the rest is as creating it would have it. */
export interface StoredSchedule {
  projectId?: string
  agentId?: string
  task?: string
  /** Made of `dueInMs` when it is left out: a one-shot. */
  timing?: Timing
  timezone?: string
  /** When its next slot is due, from now by the database's clock; what has a negative one is due already. */
  dueInMs?: number
  state?: 'active' | 'paused'
  maxFires?: number | null
  overlap?: Overlap
  missed?: MissedPolicy
  graceSeconds?: number
  runner?: string
  parentSessionId?: string | null
  metadata?: Record<string, unknown>
}

/**
 * Puts schedules there past every door, whose next slots are when a test wants them. Of an interval they are all that long after the
 * anchor, so that `{ kind: 'interval', seconds: 10, anchorAt: '' }` is first due at `dueInMs`, whatever that is.
 *
 * @returns their ids, in the order in which they were given
 */
export async function storeSchedules(admin: postgres.Sql, given: readonly StoredSchedule[]): Promise<string[]> {
  const wanted = given.map((each, place) => ({ place, due_ms: each.dueInMs ?? 0, ...withDefaults(each) }))
  const rows = await admin<{ id: string; place: number }[]>`
    with moment as materialized (select date_trunc('milliseconds', muster_now()) as now),
    wanted as (
      select w.*, gen_random_uuid() as id, moment.now + w.due_ms * interval '1 millisecond' as due_at, moment.now
      from moment, jsonb_to_recordset(${JSON.stringify(wanted)}::text::jsonb) as w(
        place int, due_ms int, project_id uuid, agent_id text, task text, timing jsonb, timezone text, state text, max_fires int, overlap text, missed text,
        grace_seconds int, runner text, parent_session_id text, metadata jsonb)
    ),
    stored as (
      insert into schedules (project_id, id, agent_id, task, phrase_kind, phrase, canonical, reading, timezone, timing, state, anchor_at, next_fire_at,
        max_fires, overlap, missed, grace_seconds, notify, timeout_seconds, priority, runner, budget_max_steps, parent_session_id, metadata)
      select project_id, id, agent_id, task, 'every', 'stored', 'stored', 'Stored by a test', timezone,
        case timing ->> 'kind'
          when 'once' then timing || jsonb_build_object('at', to_char(due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
          when 'interval' then timing || jsonb_build_object('anchorAt',
            to_char((due_at - (timing ->> 'seconds')::int * interval '1 second') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
          else timing end,
        state, now, due_at, max_fires, overlap, missed, grace_seconds, true, 120, 'normal', runner, 50, parent_session_id, metadata
      from wanted
    )
    select id, place from wanted order by place`
  return rows.map((row) => row.id)
}

function withDefaults(given: StoredSchedule) {
  return {
    project_id: given.projectId ?? DEFAULT_PROJECT_ID,
    agent_id: given.agentId ?? 'default',
    task: given.task ?? 'Count the files.',
    timing: given.timing ?? { kind: 'once', at: '' },
    timezone: given.timezone ?? 'UTC',
    state: given.state ?? 'active',
    max_fires: given.maxFires ?? null,
    overlap: given.overlap ?? 'skip',
    missed: given.missed ?? 'run_once',
    grace_seconds: given.graceSeconds ?? 60,
    runner: given.runner ?? 'own',
    parent_session_id: given.parentSessionId ?? null,
    metadata: given.metadata ?? {},
  }
}

/** What is stored of a schedule that firing changes. */
export interface ScheduleRow {
  state: string
  next_fire_at: Date | null
  fire_count: number
  last_fired_at: Date | null
}

/** Reads a row past row-level security. @throws Error when there is none */
export async function readScheduleRow(admin: postgres.Sql, id: string): Promise<ScheduleRow> {
  const [row] = await admin<ScheduleRow[]>`select state, next_fire_at, fire_count, last_fired_at from schedules where id = ${id}`
  if (row === undefined) throw new Error(`There is no schedule ${id}.`)
  return row
}

/** What became of the slots of a schedule, past row-level security, in order of time. */
export async function readSlots(admin: postgres.Sql, scheduleId: string): Promise<Omit<ScheduleRun, 'scheduleId'>[]> {
  return await admin<Omit<ScheduleRun, 'scheduleId'>[]>`
    select id, slot, fired_at as "firedAt", outcome, manual, subtask_id as "subtaskId" from schedule_slots where schedule_id = ${scheduleId} order by slot, id`
}
