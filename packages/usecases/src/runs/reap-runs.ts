import { isDatabaseUnavailable, lanes, transaction, workers } from '@muster/db'
import { runQueue } from '@muster/jobs'
import type { Deps } from '../core/ctx.ts'
import type { RunEnd } from './prepare-ends.ts'
import { settleRuns } from './settle-runs.ts'

/** A permit that is not claimed for this long passes to a waiting row of another runner, so that a runner without workers blocks no other. */
const IDLE_PERMIT_MS = 5_000
/**
 * While the database accepts no writes, leases cannot be renewed and reconnected workers cannot report. After writes work again, workers
 * get this long to report, and a whole lease to renew their leases.
 */
const SEEN_AGAIN_MS = 2_000
const REAP_LIMIT = 500

/** Reaps running subtasks of lost workers. Any process may do it, and several at once: the first to lock a row does it. */
export async function reapRuns(deps: Deps): Promise<number> {
  const { steadyMs } = deps.writes
  if (steadyMs < SEEN_AGAIN_MS) return 0
  const leaseSeconds = deps.settings.SUBTASK_LEASE_SECONDS
  const lost = await workers.findLostAttempts(deps.dispatchDb, {
    // A worker whose session is gone is lost once it has been silent for this long.
    silentMs: workers.WORKER_SILENT_MS,
    leaseSeconds,
    leasesCount: steadyMs >= leaseSeconds * 1_000,
    limit: REAP_LIMIT,
  })
  let reaped = 0
  for (const [projectId, attempts] of Map.groupBy(lost, (attempt) => attempt.projectId)) {
    const ends = attempts.map((attempt) => ({
      subtaskId: attempt.subtaskId,
      attempt: attempt.attempt,
      end: attempt.isOverdue
        ? ({ kind: 'timed_out', partialResult: null } as const)
        : ({ kind: 'lost', ranMs: attempt.ranMs, lostMs: attempt.lostMs } as const),
      onlyIfLapsed: !attempt.isWorkerGone,
    }))
    const taken = await takeLost(deps, projectId, ends)
    reaped += taken.length
    if (taken.length > 0) deps.log.warn({ project_id: projectId, subtask_ids: taken }, 'took subtasks from lost workers')
  }
  return reaped
}

/** Ends attempts together. Where that fails, each is tried alone, so that one that cannot be written keeps no other. Returns the subtasks that were taken. */
async function takeLost(deps: Deps, projectId: string, ends: readonly RunEnd[]): Promise<string[]> {
  try {
    const settlements = await settleRuns(deps, projectId, ends)
    return [...settlements].filter(([, settlement]) => settlement === 'settled').map(([id]) => id)
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    const taken: string[] = []
    if (ends.length > 1) for (const end of ends) taken.push(...(await takeLost(deps, projectId, [end])))
    else deps.log.error({ err: error, project_id: projectId, subtask_id: ends[0]?.subtaskId }, 'could not take a lost subtask; it is tried again')
    return taken
  }
}

/** Passes unclaimed permits on to rows of other runners in the same lane. */
export async function passIdlePermits(deps: Deps): Promise<number> {
  const idle = await lanes.findIdlePermits(deps.dispatchDb, IDLE_PERMIT_MS)
  let passed = 0
  for (const { projectId, subtaskId } of idle) {
    passed += await transaction(deps.db, projectId, async (tx) => {
      const holder = await lanes.lockIdlePermit(tx, subtaskId, IDLE_PERMIT_MS)
      if (holder === null) return 0
      await lanes.lockLanes(tx, projectId, [holder.agentId])
      const heirId = await lanes.passPermit(tx, projectId, { subtaskId, ...holder })
      if (heirId === null) return 0
      await deps.runJobs.deleteWaiting(tx, runQueue(holder.runner, projectId), [holder.jobId])
      await deps.runJobs.insertForRows(tx, [heirId])
      tx.afterCommit(() => deps.notifier.notify('run'))
      return 1
    })
  }
  return passed
}
