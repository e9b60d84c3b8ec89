import { idempotency, maintenance, transaction, workers } from '@muster/db'
import type { Deps } from '../core/ctx.ts'

const BATCH = 5_000

/** Makes the partitions of the coming days and of the next millions of events. */
export async function makePartitions(deps: Deps): Promise<void> {
  await transaction(deps.dispatchDb, null, (tx) => maintenance.ensurePartitions(tx))
}

/** Removes what is outlived: answers to repeated requests after a day, workers that are long gone. */
export async function deleteExpired(deps: Deps): Promise<void> {
  for (let deleted = BATCH; deleted === BATCH; ) {
    deleted = await transaction(deps.dispatchDb, null, (tx) => idempotency.deleteOldIdempotencyKeys(tx, BATCH))
  }
  await transaction(deps.dispatchDb, null, (tx) => workers.removeOldWorkers(tx))
}

/** Lets the planner know of tables that have grown: every few seconds, since a new database fills quickly. */
export async function refreshStatistics(deps: Deps): Promise<void> {
  await transaction(deps.dispatchDb, null, (tx) => maintenance.analyzeGrownTables(tx))
}
