import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '@muster/domain'
import postgres from 'postgres'
import { type Database, readOnce, type Tx, transaction } from './client.ts'

/** How long a read waits for the standby to replay what it has to have. Beyond that, the primary answers sooner. */
const REPLAY_MS_MAX = 20
const REPLAY_POLL_MS = 4
/** How long the standby may take to say how far it is, with a new connection if it needs one. */
const CHECK_MS_MAX = 250
/** How long one read may take there in all. */
const READ_MS_MAX = 3_000
/** After a failure of the standby, one read in so long tries it again. */
const PAUSE_MS = 1_000
const LOG_EVERY_MS = 60_000

/** Where reads were answered that could go to a standby: by it, or by the primary because it was behind or failed. */
export type ReplicaOutcome = 'standby' | 'behind' | 'failed'

/** Reads at a hot standby, with everything that was acknowledged before they began. */
export interface Replica {
  /**
   * Runs a read in a transaction at the standby, or at the primary where the standby is behind or fails. It may run twice, so it must have no effect besides
   * its result.
   */
  read<T>(projectId: string, work: (tx: Tx) => Promise<T>): Promise<T>
  readonly counts: Readonly<Record<ReplicaOutcome, number>>
  /** Tries the standby if it failed last, or was not tried yet. Returns why it is not used; null where it is, or is only behind. */
  look(): Promise<string | null>
  close(): Promise<void>
}

/** How far the log of the primary reaches, and which log it is. */
interface Mark {
  lsn: string
  timeline: number
  system: string
}

class BehindError extends Error {}
/** The standby cannot be used at all: the message says why. */
class UnusableError extends Error {}

/**
 * @param standby a pool of the same role at the standby; `close` ends it
 * @param onProblem hears of a failure, at most once a minute
 */
export function createReplica(primary: Database, standby: Database, onProblem: (problem: string, error: unknown) => void): Replica {
  const counts: Record<ReplicaOutcome, number> = { standby: 0, behind: 0, failed: 0 }
  let problem: string | null = null
  let isTried = false
  let pausedUntil = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  const findMark = turnstile(() => readMark(primary))

  /** @returns whether the standby may be tried; while it fails, for one read at a time */
  const mayTry = (): boolean => {
    if (problem === null) return true
    if (performance.now() < pausedUntil) return false
    pausedUntil = performance.now() + PAUSE_MS
    return true
  }
  const report = (error: unknown): void => {
    if (performance.now() - loggedAt < LOG_EVERY_MS) return
    loggedAt = performance.now()
    onProblem(describe(error), error)
  }
  /** Reads at the standby, and notes what that says of it. @throws BehindError, or why it could not be read */
  const tryStandby = async <T>(projectId: string | null, work: (tx: Tx) => Promise<T>): Promise<T> => {
    isTried = true
    try {
      const result = await readAt(standby, projectId, await findMark(), work)
      problem = null
      return result
    } catch (error) {
      if (error instanceof DomainError || error instanceof BehindError) {
        problem = null
        throw error
      }
      report(error)
      // A statement that is cancelled, as by a conflict with replay, says nothing of the standby.
      if (!isOneStatement(error)) {
        problem = describe(error)
        pausedUntil = performance.now() + PAUSE_MS
      }
      throw error
    }
  }
  return {
    counts,
    async look() {
      // What it finds is in `problem`.
      if (!isTried || (problem !== null && mayTry())) await tryStandby(null, async () => undefined).catch(() => undefined)
      return problem
    },
    async read(projectId, work) {
      let outcome: ReplicaOutcome = 'failed'
      if (mayTry()) {
        try {
          const result = await tryStandby(projectId, work)
          counts.standby += 1
          return result
        } catch (error) {
          if (error instanceof DomainError) {
            counts.standby += 1
            throw error
          }
          if (error instanceof BehindError) outcome = 'behind'
        }
      }
      counts[outcome] += 1
      return await transaction(primary, projectId, work)
    },
    close: () => standby.close(),
  }
}

/**
 * Answers each call with an answer that was asked for after the call, and asks one question at a time: calls that come while one is under way share the
 * next.
 */
export function turnstile<T>(ask: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<unknown> | undefined
  let next: Promise<T> | undefined
  const begin = (): Promise<T> => {
    next = undefined
    const asked = ask()
    const ended: Promise<unknown> = asked
      // Those who asked hear of it.
      .catch(() => {})
      .finally(() => {
        if (underWay === ended) underWay = undefined
      })
    underWay = ended
    return asked
  }
  return () => {
    if (underWay === undefined) return begin()
    next ??= underWay.then(begin)
    return next
  }
}

/**
 * An acknowledged commit has been flushed, so the flushed part of the log has it. With `synchronous_commit = off` it may be only inserted. The inserted part
 * would be right for both, but it has records of transactions under way that no standby can have yet.
 */
async function readMark(primary: Database): Promise<Mark> {
  const asked = readOnce(
    primary,
    null,
    ({ sql }) => sql<[Mark]>`
      select (case when current_setting('synchronous_commit') = 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end)::text as lsn,
        ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int as timeline,
        (select system_identifier::text from pg_control_system()) as system`,
  )
  const [mark] = await asked.catch((error: unknown) => {
    throw new UnusableError(`The primary does not say how far its log reaches${codeOf(error)}.`, { cause: error })
  })
  return mark
}

async function readAt<T>(standby: Database, projectId: string | null, mark: Mark, work: (tx: Tx) => Promise<T>): Promise<T> {
  const lastTry = performance.now() + REPLAY_MS_MAX
  for (;;) {
    try {
      return await attempt(standby, projectId, mark, work)
    } catch (error) {
      if (!(error instanceof BehindError) || performance.now() >= lastTry) throw error
    }
    await delay(REPLAY_POLL_MS)
  }
}

async function attempt<T>(standby: Database, projectId: string | null, mark: Mark, work: (tx: Tx) => Promise<T>): Promise<T> {
  const ended = new AbortController()
  let isChecked = false
  const read = transaction(standby, projectId, async (tx) => {
    if (ended.signal.aborted) throw new UnusableError('The read was given up.')
    // Every statement has a snapshot of its own (READ COMMITTED), so those after this one see what it has found replayed.
    await requireReplayed(tx, mark).catch((error: unknown) => {
      throw error instanceof postgres.PostgresError ? new UnusableError(`The standby does not say how far it is${codeOf(error)}.`, { cause: error }) : error
    })
    isChecked = true
    return await work(tx)
  })
  const limit = async (): Promise<never> => {
    await delay(CHECK_MS_MAX, undefined, { signal: ended.signal })
    if (isChecked) await delay(READ_MS_MAX - CHECK_MS_MAX, undefined, { signal: ended.signal })
    throw new UnusableError('The standby does not answer in time.')
  }
  try {
    return await Promise.race([read, limit()])
  } finally {
    ended.abort()
  }
}

/**
 * A standby of an earlier primary may be further in a log that is not that of the present one, so its timeline has to be the same. A standby that follows a new
 * primary shows the new timeline only after its next restart point, and is not used until then.
 *
 * @throws BehindError, UnusableError
 */
async function requireReplayed({ sql }: Tx, { lsn, timeline, system }: Mark): Promise<void> {
  const [state] = await sql<[{ inRecovery: boolean; isSame: boolean; timeline: number; isReplayed: boolean | null }]>`
    select pg_is_in_recovery() as "inRecovery", (select system_identifier::text from pg_control_system()) = ${system} as "isSame",
      greatest((select min_recovery_end_timeline from pg_control_recovery()), (select timeline_id from pg_control_checkpoint())) as timeline,
      pg_last_wal_replay_lsn() >= ${lsn}::text::pg_lsn as "isReplayed"`
  if (!state.inRecovery) throw new UnusableError('The server is not a standby: it takes writes.')
  if (!state.isSame) throw new UnusableError('The server is not a standby of the primary, but of another database system.')
  if (state.timeline !== timeline) throw new UnusableError('The standby follows another timeline than the primary is on.')
  if (state.isReplayed !== true) throw new BehindError('The standby is behind.')
}

/** Whether the error ended one statement alone: the connection goes on, and so does the use of the standby. */
function isOneStatement(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.severity === 'ERROR'
}

/** Without the text of the database, which names files, tables and hosts. */
function describe(error: unknown): string {
  return error instanceof UnusableError ? error.message : `The standby cannot be read${codeOf(error)}.`
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? ` (${code})` : ''
}
