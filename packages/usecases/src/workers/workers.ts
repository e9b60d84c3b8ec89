import { maintenance, type StoredFiles, storedFiles, transaction, type WorkerRow, workers } from '@muster/db'
import { DomainError, type DrainMode, isOperator, notFound, requireFound, requireScope, WORKER_STATES, type WorkerState, workerState } from '@muster/domain'
import { type Ctx, type Deps, inProject } from '../core/ctx.ts'
import { idInCursor, type Page, page } from '../core/page.ts'

export type ListedWorker = WorkerRow & { state: WorkerState }

/**
 * The workers of this installation, the latest first. One that ended in order is gone from it; one that did not stays for a day.
 *
 * @throws DomainError `forbidden` for administrators of other projects than the default one
 */
export async function listWorkers(ctx: Ctx, query: { limit: number; cursor?: string | undefined }): Promise<Page<ListedWorker>> {
  requireScope(ctx.actor, 'admin')
  if (!isOperator(ctx.actor)) {
    throw new DomainError('forbidden', 'Workers serve all projects of this installation. Use an admin key of the default project.')
  }
  const beforeId = idInCursor(query.cursor)
  const rows = await transaction(ctx.dispatchDb, null, (tx) => workers.listWorkers(tx, beforeId, query.limit + 1))
  return page(
    rows.map((row) => ({ ...row, state: workerState(row) })),
    query.limit,
    (last) => last.id,
  )
}

/**
 * Asks a worker to take no more work. It learns of it with its next heartbeat. Repeating it changes nothing, but `release` after `finish` makes the
 * worker release what it still runs.
 *
 * @throws DomainError `not_found`, also for administrators of other projects than the default one, who see no workers
 */
export async function drainWorker(ctx: Ctx, workerId: string, mode: DrainMode): Promise<{ workerId: string; drain: DrainMode; requestedAt: Date }> {
  requireScope(ctx.actor, 'admin')
  if (!isOperator(ctx.actor)) throw notFound('worker')
  return await inProject(ctx, async (tx) => ({ workerId, ...requireFound(await workers.requestDrain(tx, workerId, mode), 'worker') }))
}

/** What an operator watches, of the whole installation. */
export interface Vitals {
  /** For how long the oldest event has waited for the relay. */
  relayLagMs: number
  /** For how long a subtask has waited that a worker may claim, of those that wait the longest one. */
  oldestClaimableMs: number
  workers: Record<WorkerState, number>
  /** Of the workers that are active. */
  capacity: number
  /** Subtasks that the listed workers run. */
  running: number
  /** Folders by kind, and bodies. */
  files: StoredFiles[]
}

/** More workers than an installation has; those beyond are not counted. */
const WORKERS_MAX = 1_000

/** For metrics: says nothing of any project. */
export async function readVitals({ dispatchDb }: Pick<Deps, 'dispatchDb'>): Promise<Vitals> {
  const [relayLagMs, oldestClaimableMs, rows, files] = await Promise.all([
    maintenance.relayLagMs(dispatchDb),
    maintenance.oldestClaimableMs(dispatchDb),
    workers.listWorkers(dispatchDb, undefined, WORKERS_MAX),
    storedFiles.readStoredFiles(dispatchDb),
  ])
  const states = rows.map((row) => ({ ...row, state: workerState(row) }))
  return {
    relayLagMs,
    oldestClaimableMs,
    workers: Object.fromEntries(WORKER_STATES.map((state) => [state, states.filter((each) => each.state === state).length])) as Vitals['workers'],
    capacity: states.reduce((sum, { state, capacity }) => sum + (state === 'active' ? capacity : 0), 0),
    running: rows.reduce((sum, { running }) => sum + running, 0),
    files,
  }
}
