// SQL: calls of functions that own what no role of ours may touch, and a look that every process takes all the time.
import type { Database, Tx } from '../client.ts'
import { WORKER_SILENT_MS } from './workers.ts'

/** Stores a row, for which the server needs new space on its disk for a moment. @throws the error of a server that cannot store */
export async function checkWrites(sql: Database['sql']): Promise<void> {
  await sql`select muster_system.check_writes()`
}

/**
 * Creates missing partitions for the coming days and events.
 *
 * @param eventsDays for how many days the server keeps events: a partition of the log holds more where they are kept for long
 * @throws lock_not_available (55P03) while another change of the tables is under way
 */
export async function ensurePartitions(tx: Pick<Tx, 'sql'>, eventsDays: number): Promise<void> {
  await tx.sql`select muster_ensure_partitions(${eventsDays}::int)`
}

/** Refreshes the planner's statistics of tables that have grown much since the last time. */
export async function analyzeGrownTables(tx: Pick<Tx, 'sql'>): Promise<void> {
  await tx.sql`select muster_analyze()`
}

export interface PartitionState {
  /** Events for which there are partitions, and fewer than which are too few at their present rate. */
  eventsAhead: number
  eventsWanted: number
  /** For how long there are partitions of transcripts. */
  stepsSecondsAhead: number
  partitions: number
}

/** How far the partitions of the log and of transcripts reach ahead. */
export async function partitionState(tx: Pick<Tx, 'sql'>): Promise<PartitionState> {
  const [row] = await tx.sql<PartitionState[]>`
    select events_ahead as "eventsAhead", events_wanted as "eventsWanted", steps_seconds_ahead as "stepsSecondsAhead", partitions from muster_partition_state()`
  if (row === undefined) throw new Error('muster_partition_state() returned no row')
  return row
}

/** How long the oldest event has waited for the relay, in milliseconds; 0 where none waits. */
export async function relayLagMs({ sql }: Pick<Tx, 'sql'>): Promise<number> {
  const [row] = await sql<{ lag_ms: number }[]>`
    select round(extract(epoch from (select muster_now()) - at) * 1000)::bigint as lag_ms from outbox order by id limit 1`
  return Math.max(0, row?.lag_ms ?? 0)
}

/** What there is that periodic work looks after, in any project. */
export interface UnderWay {
  /** A subtask runs. */
  runs: boolean
  /** A subtask waits for a permit. */
  waits: boolean
  /** A question is open. */
  asks: boolean
  /** An event is not in the log yet. */
  announces: boolean
  /** Stored bytes may be to be added up: also while a subtask runs, without a look. */
  counts: boolean
  /** How many live workers come before this process, in the order of their ids. */
  workersBefore: number
}

/**
 * One statement, each part of which but the last ends with the first row that it finds.
 *
 * @param workerId the worker that this process is; all others come before a process that is none
 */
export async function findUnderWay({ sql }: Pick<Tx, 'sql'>, workerId: string | null): Promise<UnderWay> {
  const [row] = await sql<UnderWay[]>`
    select exists (select from subtasks where status = 'running') as runs,
      exists (select from subtasks where status = 'pending' and not slot) as waits,
      exists (select from questions where status = 'open') as asks,
      -- By the index, which knows of the rows that are gone: these are the first of the table.
      (select id from outbox order by id limit 1) is not null as announces,
      exists (select from subtasks where status = 'running') or exists (select from muster_system.byte_changes) as counts,
      (
        select count(*)::int from muster_system.workers w
        where w.seen_at > (select muster_now()) - ${WORKER_SILENT_MS} * interval '1 millisecond' and (${workerId}::text is null or w.id < ${workerId})
      ) as "workersBefore"`
  return row as UnderWay
}

/**
 * How long the subtask has waited that has waited longest of those that a worker may claim, in milliseconds; 0 where none waits. One that has no permit
 * waits for the limit of its agent or project, and does not count.
 */
export async function oldestClaimableMs({ sql }: Pick<Tx, 'sql'>): Promise<number> {
  const [row] = await sql<{ waiting_ms: number }[]>`
    select round(extract(epoch from (select muster_now()) - slot_at) * 1000)::bigint as waiting_ms from subtasks
    where status = 'pending' and slot and runner <> 'external' order by slot_at limit 1`
  return Math.max(0, row?.waiting_ms ?? 0)
}
