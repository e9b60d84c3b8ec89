import { transaction, type WorkerRow, workers } from '@muster/db'
import { DomainError, type DrainMode, isOperator, notFound, requireFound, requireScope, type WorkerState, workerState } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
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
