import { type ClaimedRow, claims, type Tx, transaction } from '@muster/db'
import type { Deps } from './ctx.ts'
import { newLeaseToken, newSubtaskCredential } from './secrets.ts'

/** Added to an attempt's timeout before the reaper ends it, so that the worker's own, kinder timer comes first. */
export const TIMEOUT_GRACE_SECONDS = 5

/** A subtask that this worker now runs, with the secret that its work may call back with. */
export interface ClaimedRun extends ClaimedRow {
  credential: string
  /** Set for outside workers only. */
  leaseToken: string | null
}

export interface Claimer {
  workerId: string
  /** The queues it serves (see `runQueue`); the first is asked first. */
  queues: readonly string[]
  limit: number
  leaseSeconds: number
  /** Outside workers prove their lease by a token; ours by being the attempt's worker. */
  withLeaseToken: boolean
}

/** Fetches jobs and turns their rows to running, for all free places of a worker at once. Rows and jobs move together or not at all. */
export async function claimRuns(deps: Deps, claimer: Claimer): Promise<ClaimedRun[]> {
  if (!deps.settings.SUBTASK_ENABLED) return []
  const claimed = await transaction(deps.dispatchDb, null, (tx) => claimInTransaction(deps, tx, claimer))
  if (claimed.length > 0) deps.bell.ring('outbox')
  return claimed
}

/** The same in a caller's transaction, which then sees only what its role may see. */
export async function claimInTransaction(deps: Deps, tx: Tx, claimer: Claimer): Promise<ClaimedRun[]> {
  const runs: ClaimedRun[] = []
  for (const queue of claimer.queues) {
    for (let isWhole = false; !isWhole && runs.length < claimer.limit; ) {
      const { started, fetched } = await claimFromQueue(deps, tx, claimer, queue, claimer.limit - runs.length)
      runs.push(...started)
      // Jobs whose rows were gone say nothing about what waits behind them.
      isWhole = started.length === fetched
    }
  }
  return runs
}

async function claimFromQueue(deps: Deps, tx: Tx, claimer: Claimer, queue: string, limit: number): Promise<{ started: ClaimedRun[]; fetched: number }> {
  const jobs = await deps.runJobs.fetch(tx, queue, limit)
  if (jobs.length === 0) return { started: [], fetched: 0 }
  const secrets = new Map(
    jobs.map((job) => [job.subtaskId, { credential: newSubtaskCredential(job.subtaskId), lease: claimer.withLeaseToken ? newLeaseToken() : null }]),
  )
  const rows = await claims.claimRows(
    tx,
    jobs.map((job) => ({
      subtaskId: job.subtaskId,
      jobId: job.jobId,
      credentialHash: secrets.get(job.subtaskId)?.credential.hash as Buffer,
      leaseTokenHash: secrets.get(job.subtaskId)?.lease?.hash ?? null,
    })),
    { id: claimer.workerId, leaseSeconds: claimer.leaseSeconds, timeoutGraceSeconds: TIMEOUT_GRACE_SECONDS },
  )
  // A row that was cancelled, or lost its slot, while its job was in our hands: its job is ours to remove.
  const claimed = new Set(rows.map((row) => row.jobId))
  await deps.runJobs.remove(
    tx,
    queue,
    jobs.map((job) => job.jobId).filter((jobId) => !claimed.has(jobId)),
  )
  const started = rows.map((row) => {
    const secret = secrets.get(row.id)
    return { ...row, credential: secret?.credential.token as string, leaseToken: secret?.lease?.token ?? null }
  })
  return { started, fetched: jobs.length }
}
