import { checkClaims, checkRuns, type HeldCheck, isDatabaseUnavailable, outbox, type Tx, tasks, transaction } from '@muster/db'
import { CHECK_TRIES_MAX, type CheckEnd, type Checker, couldNotRun, noteEvaluation } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { startSpanAfter, THREW } from '../core/spans.ts'
import { storeUntil } from '../core/store-until.ts'
import { checkEvent } from '../events/event-data.ts'
import { lockForCompletion } from '../tasks/finish-task.ts'
import { CHECKS, concludeChecks } from './conclude-checks.ts'

/** Of a running check, in seconds. Its worker renews it several times in this time. */
const LEASE_SECONDS = 20
/** How long workers without the folder of a task leave its check to others, and until the next of them looks, in seconds. */
const FOLDER_SECONDS = 30
const FOLDER_AGAIN_SECONDS = 5

/** The worker that claims checks. */
export interface CheckWorker {
  workerId: string
  /** Its data folder. */
  place: string
}

/** Takes up to `limit` checks that wait, of all projects. Call `holdChecks` for them every few seconds. */
export async function claimChecks(deps: Deps, worker: CheckWorker, limit: number): Promise<HeldCheck[]> {
  return await checkClaims.claimChecks(deps.dispatchDb.sql, { ...worker, leaseSeconds: LEASE_SECONDS, limit })
}

/** Renews the leases of these. Returns those that another worker has taken, or that have ended. */
export async function holdChecks(deps: Deps, held: readonly HeldCheck[]): Promise<HeldCheck[]> {
  if (held.length === 0) return []
  const kept = await checkClaims.renewChecks(deps.dispatchDb.sql, held, LEASE_SECONDS)
  return held.filter((check) => !kept.some(({ id, tries }) => id === check.id && tries === check.tries))
}

/** What a worker brings to a check. */
export interface CheckMeans {
  checker: Checker
  /**
   * The folder in which the task was worked on; null if this worker does not have it.
   *
   * @param isKnown whether it is known that a run worked in it: the task's own folder is always there, and proves nothing while it is empty
   */
  findFolder(task: { id: string; clientCwd: string | null }, isKnown: boolean): Promise<string | null>
}

/** `given_back`: another worker may do it. `fenced`: it was taken by another worker, or has ended. */
export type CheckOutcome = CheckEnd['status'] | 'given_back' | 'fenced'

/**
 * Does one claimed check: executes the program outside of every transaction, and stores its end in one commit with what follows from it. The end
 * is stored at most once, by the try that is current then. A check whose worker was lost is executed once more by the worker that takes it.
 *
 * @param signal to stop the program, and give the check back
 */
export async function runCheck(deps: Deps, means: CheckMeans, held: HeldCheck, signal: AbortSignal): Promise<CheckOutcome> {
  const span = await startSpanAfter(deps, { projectId: held.projectId, subtaskId: subtaskOf(held) }, `check ${held.checkName}`, {
    attributes: { 'muster.check_run.id': held.id, 'muster.task.id': held.taskId, 'muster.attempt': held.tries },
  })
  let error: string | undefined = THREW
  try {
    const outcome = await executeAndStore(deps, means, held, signal)
    if (outcome !== 'given_back' && outcome !== 'fenced') noteEvaluation(span, held.checkName, { label: outcome })
    span?.set({ 'muster.end': outcome })
    error = outcome === 'could_not_run' || outcome === 'fenced' ? outcome : undefined
    return outcome
  } finally {
    span?.end(error)
  }
}

/** The run whose result is checked. */
const subtaskOf =
  ({ id }: HeldCheck) =>
  async (tx: Tx): Promise<string | null> =>
    (await checkRuns.findCheckRun(tx, id))?.subtaskId ?? null

async function executeAndStore(deps: Deps, means: CheckMeans, held: HeldCheck, signal: AbortSignal): Promise<CheckOutcome> {
  const end = await execute(deps, means, held, signal)
  if (end === null) return 'given_back'
  return (await storeUntil(signal, () => storeEnd(deps, held, end, true))) ? end.status : 'fenced'
}

async function execute(deps: Deps, { checker, findFolder }: CheckMeans, held: HeldCheck, signal: AbortSignal): Promise<CheckEnd | null> {
  if (held.tries > CHECK_TRIES_MAX) return couldNotRun('Each worker that executed it ended before it had ended.')
  const [run, task] = await transaction(deps.db, held.projectId, (tx) => Promise.all([checkRuns.findCheckRun(tx, held.id), tasks.findTask(tx, held.taskId)]))
  if (run === null || task === null) return couldNotRun('Its task is not kept any more.')
  // A run or a session may work in the folder again.
  if (run.evaluationId !== null && task.status !== 'in_review' && task.status !== 'completed') return couldNotRun('The task is not in review any more.')
  const folder = await findFolder(task, held.place !== null)
  if (folder === null) {
    if (held.place !== null) return couldNotRun('The folder in which the run worked is gone.')
    if (run.dueAt.getTime() - run.createdAt.getTime() >= FOLDER_SECONDS * 1_000) return couldNotRun('No worker has the folder of this task, or it is empty.')
    await checkClaims.releaseCheck(deps.dispatchDb.sql, held, FOLDER_AGAIN_SECONDS)
    return null
  }
  const end = await checker.check({ id: held.id, tries: held.tries, name: held.checkName, folder }, signal)
  if (end === null) await checkClaims.releaseCheck(deps.dispatchDb.sql, held, 0)
  return end
}

/** @returns false if another try is current, or the check has ended */
async function storeEnd(deps: Deps, held: HeldCheck, end: CheckEnd, wasRunning: boolean): Promise<boolean> {
  const { projectId, taskId } = held
  return await transaction(deps.db, projectId, async (tx) => {
    // In this order, because the last check of a batch may complete the task.
    await lockForCompletion(tx, projectId)
    const task = await tasks.lockTask(tx, taskId)
    const ended = await checkRuns.endCheck(tx, held, wasRunning, end)
    const [first] = ended
    if (first === undefined) return false
    await outbox.publish(
      tx,
      projectId,
      ended.map((run) => checkEvent(run, CHECKS)),
    )
    tx.afterCommit(() => deps.notifier.notify('outbox'))
    const runs = await checkRuns.listBatch(tx, projectId, first.batchId)
    if (runs.some(({ endedAt }) => endedAt === null)) {
      // The next one of this task can be taken now.
      tx.afterCommit(() => deps.notifier.notify('check'))
    } else if (task !== null) {
      await concludeChecks(deps, tx, task, runs)
    }
    return true
  })
}

const BATCH = 100
/** How long a check waits for a worker of its place, in seconds. */
const ABANDONED_SECONDS = 3_600

/** Ends checks that no worker takes, so that their tasks do not wait for ever. One that cannot be ended keeps no other. Returns how many. */
export async function endAbandonedChecks(deps: Deps): Promise<number> {
  let count = 0
  for (const held of await checkClaims.findAbandonedChecks(deps.dispatchDb.sql, ABANDONED_SECONDS, BATCH)) {
    const end = couldNotRun(held.place === null ? 'No worker took it within an hour.' : 'No worker with the folder of this task took it within an hour.')
    try {
      if (await storeEnd(deps, held, end, false)) count += 1
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error
      deps.log.error({ err: error, project_id: held.projectId, check_run_id: held.id }, 'could not end a check that no worker takes; it is tried again')
    }
  }
  return count
}
