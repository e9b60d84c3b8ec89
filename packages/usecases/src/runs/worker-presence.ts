import { type AttemptRef, type Beat, checkpoints, steps, transaction, type WorkerSelf, workers } from '@muster/db'
import type { Deps } from '../core/ctx.ts'
import { TIMEOUT_GRACE_SECONDS } from './claim-runs.ts'

/** Signals for one run of a worker: cancellation and updates. */
export interface RunSignal {
  subtaskId: string
  attempt: number
  cancelRequested: boolean
  /** Number of the last note to the subtask. */
  updateSeq: number
  /** Whether the task that it holds has updates. Set by looks, not by renewals. */
  taskHasUpdates?: boolean
}

/**
 * Reports that a worker is alive, holds the session lock that proves its connection is, and reads whether it shall drain and which other workers take
 * work. Call it every half second on the same reserved connection; after a reconnect it takes the lock again.
 */
export async function beatWorker(connection: Deps['dispatchDb']['sql'], worker: WorkerSelf, isDrained: boolean): Promise<Beat> {
  return await workers.beat(connection, worker, isDrained)
}

export async function holdWorkerLock(connection: Deps['dispatchDb']['sql'], lockKey: number): Promise<boolean> {
  return await workers.holdWorkerLock(connection, lockKey)
}

export async function removeWorker(deps: Deps, workerId: string): Promise<void> {
  await workers.removeWorker(deps.dispatchDb.sql, workerId)
}

/** What a worker holds by what the database says: after a claim whose answer was lost, more than it knows of. */
export async function listHeldRuns(deps: Deps, workerId: string): Promise<(AttemptRef & { projectId: string })[]> {
  return await checkpoints.listHeldRuns(deps.dispatchDb, workerId)
}

/** Stands for the attempt in the name of the folder that a subtask uses after it has waited. */
export const KEPT = 0

/**
 * Of these attempts, those that are over: their subtask exists, does not run as that attempt, and keeps nothing for a later one. A worker
 * keeps the folder of a run before the database knows that the run waits, so `KEPT` is not over while the subtask runs.
 */
export async function findOverAttempts(deps: Pick<Deps, 'dispatchDb'>, attempts: readonly AttemptRef[]): Promise<AttemptRef[]> {
  const ids = attempts.map((attempt) => attempt.subtaskId)
  const rows = await checkpoints.lookAtRuns(deps.dispatchDb, ids)
  const known = new Map(rows.map((row) => [row.subtaskId, row]))
  return attempts.filter((attempt) => {
    const row = known.get(attempt.subtaskId)
    if (row === undefined || row.hasContinuation) return false
    return !row.isRunning || ![row.attempt, KEPT].includes(attempt.attempt)
  })
}

/** Renews all leases of a worker at once. What is missing from the answer is no longer its own. */
export async function renewLeases(deps: Deps, attempts: readonly AttemptRef[]): Promise<RunSignal[]> {
  if (attempts.length === 0) return []
  const lease = { seconds: deps.settings.SUBTASK_LEASE_SECONDS, timeoutGraceSeconds: TIMEOUT_GRACE_SECONDS }
  return await checkpoints.renewLeases(deps.dispatchDb, attempts, lease)
}

/** Looks at the runs that a notification names, without renewing their leases. A missing run no longer runs under that attempt. */
export async function lookAtRuns(deps: Deps, attempts: readonly AttemptRef[]): Promise<RunSignal[]> {
  if (attempts.length === 0) return []
  const ids = attempts.map((attempt) => attempt.subtaskId)
  const rows = await checkpoints.lookAtRuns(deps.dispatchDb, ids)
  const own = new Map(attempts.map((attempt) => [attempt.subtaskId, attempt.attempt]))
  return rows.filter((row) => row.isRunning && own.get(row.subtaskId) === row.attempt)
}

/** Steps of a budget that earlier attempts of a subtask have used: the answers of models that their transcript shows. */
export async function stepsUsed(deps: Pick<Deps, 'db'>, { projectId, id }: { projectId: string; id: string }): Promise<number> {
  return await transaction(deps.db, projectId, (tx) => steps.countAnswers(tx, projectId, id))
}
