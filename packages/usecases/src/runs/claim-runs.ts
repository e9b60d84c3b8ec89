import { randomBytes } from 'node:crypto'
import { type ClaimedRow, claims, dataFolders, pipeline, type Tx } from '@muster/db'
import type { FairShares } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { newLeaseToken, SECRET_BYTES, SUBTASK_PREFIX, subtaskToken } from '../core/secrets.ts'

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
  /**
   * Only these, by their queues, no more than `limit`: subtasks that were said to wait, for a claimer that knows of no other one. They are taken whatever
   * else waits. Absent: the best that wait.
   */
  subtaskIds?: ReadonlyMap<string, readonly string[]>
  /** It is not known whether anything waits: asks first which queues have jobs, because a claim that finds nothing costs three times as much. */
  looksFirst?: boolean
  /** By what the projects of a shared queue take turns. Absent: one start each, beginning anew with each claim. */
  shares?: FairShares
  /** A database that has not come as far was restored, and nothing is claimed from it. Absent: whatever the database is. */
  reached?: dataFolders.FolderPlace | undefined
}

/** How many jobs of each project a claim looks at, for each that it may take: others may have locked some at the same moment. */
const DEPTH = { factor: 2, least: 16, growth: 8, most: 10_000 }

/** Takes jobs and turns their rows to running, up to the free capacity of a worker. Rows and jobs move together or not at all. */
export async function claimRuns(deps: Deps, claimer: Claimer): Promise<ClaimedRun[]> {
  if (!deps.settings.SUBTASK_ENABLED) return []
  // One statement for each queue, without a transaction around them.
  const claimed = await claimFrom(deps, deps.dispatchDb.sql, claimer)
  if (claimed.length > 0) deps.notifier.notify('outbox')
  return claimed
}

/** The same in a caller's transaction, which then sees only what its role may see. */
export async function claimInTransaction(deps: Deps, tx: Tx, claimer: Claimer): Promise<ClaimedRun[]> {
  const [, runs] = await pipeline([claims.readFromFront(tx), claimFrom(deps, tx.sql, claimer)])
  return runs
}

async function claimFrom(deps: Deps, sql: Tx['sql'], claimer: Claimer): Promise<ClaimedRun[]> {
  const { queues, subtaskIds, shares, reached } = claimer
  const condition = reached && dataFolders.hasComeAsFar(sql, reached)
  const runs: ClaimedRun[] = []
  if (subtaskIds !== undefined) {
    for (const [queue, ids] of subtaskIds)
      runs.push(...(await claimJobs(sql, claimer, ids.length, deps.runJobs.claimingOf(sql, queue, ids, condition))).started)
    return runs
  }
  for (const queue of claimer.looksFirst ? await deps.runJobs.findWaitingQueues(sql, queues) : queues) {
    let depth = DEPTH.factor * claimer.limit + DEPTH.least
    for (let isWhole = false; !isWhole && runs.length < claimer.limit; ) {
      const limit = claimer.limit - runs.length
      const jobs = deps.runJobs.claiming(sql, queue, limit, depth, shares?.current() ?? [], condition)
      const { started, taken, isCut } = await claimJobs(sql, claimer, limit, jobs)
      runs.push(...started)
      // Jobs without a row, and jobs that others have locked, say nothing about those behind them.
      const isHidden = taken < limit && isCut && depth < DEPTH.most
      if (isHidden) depth *= DEPTH.growth
      isWhole = started.length === taken && !isHidden
    }
  }
  return runs
}

/** @param limit the most jobs that the statement may take */
async function claimJobs(
  sql: Tx['sql'],
  claimer: Claimer,
  limit: number,
  jobs: claims.ClaimingJobs,
): Promise<{ started: ClaimedRun[]; taken: number; isCut: boolean }> {
  const leases = claimer.withLeaseToken ? Array.from({ length: limit }, newLeaseToken) : []
  // In one call: each call costs more than the bytes.
  const random = randomBytes(SECRET_BYTES * limit)
  const secrets = Array.from({ length: limit }, (_, place) => ({
    credential: random.subarray(place * SECRET_BYTES, (place + 1) * SECRET_BYTES),
    leaseTokenHash: leases[place]?.hash ?? null,
  }))
  const { rows, taken, isCut } = await claims.claimRows(sql, jobs, secrets, {
    workerId: claimer.workerId,
    leaseSeconds: claimer.leaseSeconds,
    timeoutGraceSeconds: TIMEOUT_GRACE_SECONDS,
    credentialPrefix: SUBTASK_PREFIX,
  })
  const started = rows.map(({ credential, place, ...row }) => ({
    ...row,
    credential: subtaskToken(row.id, credential),
    leaseToken: leases[place - 1]?.token ?? null,
  }))
  claimer.shares?.start(started.map(({ projectId }) => projectId))
  return { started, taken, isCut }
}
