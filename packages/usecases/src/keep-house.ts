import { idempotency, maintenance, transaction, workers } from '@muster/db'
import type { Deps } from './ctx.ts'

const BATCH = 5_000

/** What has to be done now and then, by any process and by several at once: partitions ahead of time, and what is outlived. */
export async function keepHouse(deps: Deps): Promise<void> {
  await transaction(deps.dispatchDb, null, (tx) => maintenance.ensurePartitions(tx))
  await transaction(deps.dispatchDb, null, (tx) => idempotency.deleteOldIdempotencyKeys(tx, BATCH))
  await transaction(deps.dispatchDb, null, (tx) => workers.removeOldWorkers(tx))
}

/** Lets the planner know of tables that have grown: every few seconds, since a new database fills quickly. */
export async function refreshStatistics(deps: Deps): Promise<void> {
  await transaction(deps.dispatchDb, null, (tx) => maintenance.analyzeGrownTables(tx))
}
