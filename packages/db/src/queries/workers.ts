// SQL: every worker shows its presence with these statements, and the reaper finds lost attempts of all projects with one.

import type { DrainMode } from '@muster/domain'
import type { Database, Tx } from '../client.ts'
import type { AttemptRef } from './subtasks/settle.ts'

/** Not the class of the singleton locks (7300): a worker's number must never be the relay's. */
const LOCK_CLASS = 7301

/** A worker that has shown no heartbeat for so long is not taken for alive. Heartbeats come twice a second. */
export const WORKER_SILENT_MS = 1_200

/** What a worker says of itself. */
export interface WorkerSelf {
  id: string
  runners: readonly string[]
  capacity: number
  version: string
  host: string
  pid: number
}

/** What a worker learns with a heartbeat. */
export interface Beat {
  /** Names the session lock that it holds while its connection, that of `backendPid`, lives. */
  lockKey: number
  backendPid: number
  drain: DrainMode | null
  /** The ids of other workers that take work, as far as their heartbeats show. */
  peerIds: string[]
}

/** Registers a worker, or renews its presence, and reads what it has to know of itself and of others. */
export async function beat(sql: Database['sql'], worker: WorkerSelf, isDrained: boolean): Promise<Beat> {
  const [row] = await sql<{ lock_key: number; backend_pid: number; drain: DrainMode | null; peer_ids: string[] }[]>`
    insert into muster_system.workers (id, runners, slots, version, host, pid)
    values (${worker.id}, ${worker.runners as string[]}, ${worker.capacity}, ${worker.version}, ${worker.host}, ${worker.pid})
    on conflict (id) do update set seen_at = muster_now(), drained_at = case when ${isDrained} then coalesce(workers.drained_at, muster_now()) end
    returning lock_key, pg_backend_pid() as backend_pid, drain, array(
      select w.id from muster_system.workers w
      where w.id <> ${worker.id} and w.drain is null and w.seen_at > (select muster_now()) - ${WORKER_SILENT_MS} * interval '1 millisecond'
    ) as peer_ids`
  return { lockKey: row?.lock_key as number, backendPid: row?.backend_pid as number, drain: row?.drain ?? null, peerIds: row?.peer_ids ?? [] }
}

/** A worker as others see it. Version, host and pid are null where it is of an earlier version. */
export interface WorkerRow {
  id: string
  version: string | null
  host: string | null
  pid: number | null
  runners: string[]
  capacity: number
  /** Subtasks that it runs, of all projects. */
  running: number
  startedAt: Date
  seenAt: Date
  /** Time since its last heartbeat, in milliseconds. */
  silentMs: number
  drain: DrainMode | null
  drainRequestedAt: Date | null
  drainedAt: Date | null
}

/** The latest first. */
export async function listWorkers({ sql }: Pick<Tx, 'sql'>, beforeId: string | undefined, limit: number): Promise<WorkerRow[]> {
  const rows = await sql<
    {
      id: string
      version: string | null
      host: string | null
      pid: number | null
      runners: string[]
      capacity: number
      running: number
      started_at: string
      seen_at: string
      silent_ms: number
      drain: DrainMode | null
      drain_requested_at: string | null
      drained_at: string | null
    }[]
  >`
    with running as materialized (select worker_id, count(*)::int as count from subtasks where status = 'running' group by worker_id)
    select w.id, w.version, w.host, w.pid, w.runners, w.slots as capacity, coalesce(running.count, 0) as running, w.started_at, w.seen_at,
      round(extract(epoch from (select muster_now()) - w.seen_at) * 1000)::bigint as silent_ms, w.drain, w.drain_requested_at, w.drained_at
    from muster_system.workers w left join running on running.worker_id = w.id
    where ${beforeId ?? null}::text is null or w.id < ${beforeId ?? null}
    order by w.id desc limit ${limit}`
  return rows.map((row) => ({
    id: row.id,
    version: row.version,
    host: row.host,
    pid: row.pid,
    runners: row.runners,
    capacity: row.capacity,
    running: row.running,
    startedAt: new Date(row.started_at),
    seenAt: new Date(row.seen_at),
    silentMs: Math.max(0, row.silent_ms),
    drain: row.drain,
    drainRequestedAt: timeOrNull(row.drain_requested_at),
    drainedAt: timeOrNull(row.drained_at),
  }))
}

const timeOrNull = (at: string | null): Date | null => (at === null ? null : new Date(at))

/**
 * Asks a worker to drain. A worker that was asked to release its runs is not asked to finish them any more. Null where there is no such worker.
 */
export async function requestDrain({ sql }: Pick<Tx, 'sql'>, id: string, mode: DrainMode): Promise<{ drain: DrainMode; requestedAt: Date } | null> {
  const [row] = await sql<{ drain: DrainMode; drain_requested_at: string }[]>`
    update muster_system.workers
    set drain = case when drain = 'release' then drain else ${mode} end, drain_requested_at = coalesce(drain_requested_at, muster_now())
    where id = ${id} returning drain, drain_requested_at`
  return row === undefined ? null : { drain: row.drain, requestedAt: new Date(row.drain_requested_at) }
}

/** Takes the session lock that proves a worker's connection alive. A reserved connection holds it as long as it lives. */
export async function holdWorkerLock(sql: Database['sql'], lockKey: number): Promise<boolean> {
  const [row] = await sql<{ held: boolean }[]>`select pg_try_advisory_lock(${LOCK_CLASS}, ${lockKey}) as held`
  return row?.held === true
}

export async function removeWorker(sql: Database['sql'], id: string): Promise<void> {
  await sql`delete from muster_system.workers where id = ${id}`
}

/** Deletes workers that have been gone for a day. */
export async function removeOldWorkers(tx: Pick<Tx, 'sql'>): Promise<void> {
  await tx.sql`delete from muster_system.workers where seen_at < (select muster_now()) - interval '1 day'`
}

export interface LostAttempt extends AttemptRef {
  projectId: string
  /** Whether its worker is gone, whatever its lease says. If not, its lease has lapsed, and the worker may still renew it. */
  isWorkerGone: boolean
  /** Whether a live worker has held the attempt for longer than timeout and grace. False if the worker is gone or the lease itself has lapsed. */
  isOverdue: boolean
  /** From the start of the attempt to the last sign of life of its worker. */
  ranMs: number
  /** From that sign of life until now. */
  lostMs: number
}

/**
 * Running attempts to take from their workers: the session of the worker is gone and it was not seen for `silentMs`, the lease has lapsed, or the attempt
 * has timed out. Across projects.
 *
 * The time of an attempt counts only while a live worker holds it: our own worker has its session lock or was seen within `silentMs`, and the lease
 * would not have lapsed without the timeout. Anything else is a lost worker, however long ago the attempt began.
 *
 * A restart of PostgreSQL ends every session, but no worker. So a worker counts as gone only if it was seen since the server started, and lapsed leases
 * count only once the server has been up for a whole lease; `leasesCount` says whether it has accepted writes for as long.
 */
export async function findLostAttempts(
  tx: Pick<Tx, 'sql'>,
  limits: { silentMs: number; leaseSeconds: number; leasesCount: boolean; limit: number },
): Promise<LostAttempt[]> {
  const rows = await tx.sql<
    { project_id: string; id: string; attempt: number; is_worker_gone: boolean; is_overdue: boolean; ran_ms: number; lost_ms: number }[]
  >`
    with moment as materialized (
      select muster_now() as now, pg_postmaster_start_time() + (muster_now() - clock_timestamp()) as server_started_at
    ),
    silent as materialized (
      select w.id, w.seen_at > moment.server_started_at as was_seen_since_start from muster_system.workers w, moment
      where w.seen_at < moment.now - ${limits.silentMs} * interval '1 millisecond'
        and not exists (
          select from pg_locks l
          where l.locktype = 'advisory' and l.database = (select oid from pg_database where datname = current_database())
            and l.classid = ${LOCK_CLASS} and l.objid = w.lock_key::bigint::oid and l.objsubid = 2 and l.granted
        )
    ),
    taken as (
      select id, false as is_worker_gone from subtasks, moment
      where ${limits.leasesCount} and status = 'running' and lease_expires_at < moment.now and moment.server_started_at + ${limits.leaseSeconds} * interval '1 second' < moment.now
      union all
      select s.id, true from subtasks s where s.status = 'running' and s.worker_id in (select id from silent where was_seen_since_start)
    ),
    lost as materialized (select id, bool_or(is_worker_gone) as is_worker_gone from taken group by id limit ${limits.limit})
    select s.project_id, s.id, s.attempt, lost.is_worker_gone,
      (not lost.is_worker_gone and s.lease_renewed_at + s.lease_seconds * interval '1 second' > moment.now
        and (s.lease_token_hash is not null or (w.id is not null and not exists (select from silent where silent.id = w.id)))) is true as is_overdue,
      round(extract(epoch from last.sign_at - s.attempt_started_at) * 1000)::bigint as ran_ms,
      round(extract(epoch from moment.now - last.sign_at) * 1000)::bigint as lost_ms
    from lost
    join subtasks s on s.id = lost.id
    left join muster_system.workers w on w.id = s.worker_id
    cross join moment
    cross join lateral (
      select greatest(s.attempt_started_at, least(greatest(s.lease_renewed_at, w.seen_at), moment.now)) as sign_at
    ) as last
    where s.status = 'running' and s.id = any(array(select id from lost))`
  return rows.map((row) => ({
    projectId: row.project_id,
    subtaskId: row.id,
    attempt: row.attempt,
    isWorkerGone: row.is_worker_gone,
    isOverdue: row.is_overdue,
    ranMs: row.ran_ms,
    lostMs: Math.max(0, row.lost_ms),
  }))
}
