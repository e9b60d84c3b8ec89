import { idempotency, maintenance, transaction, workers } from '@muster/db'
import type { Deps } from '../core/ctx.ts'
import { checkWrites } from '../core/write-watch.ts'
import { renewJudgementJobs, takeLostJudgements } from '../judgements/judge-evaluation.ts'
import { rememberEpisodes } from '../memory/change-memory.ts'
import { passIdlePermits, reapRuns } from '../runs/reap-runs.ts'
import { grantMissedPermits } from '../subtasks/grant-permits.ts'

const BATCH = 5_000

/** Makes the partitions of the coming days and of the next millions of events. */
async function makePartitions(deps: Deps): Promise<void> {
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

export interface MaintenanceTask {
  /** For messages: "failed to …". */
  what: string
  everyMs: number
  run(deps: Deps): Promise<unknown>
}

/**
 * Periodic work. Every process does it, APIs too, because with only outside workers there are no other processes. Several at once do not
 * disturb each other.
 */
export const MAINTENANCE: readonly MaintenanceTask[] = [
  { what: 'reap subtasks of lost workers', everyMs: 250, run: reapRuns },
  { what: 'write to the database', everyMs: 1_000, run: checkWrites },
  { what: 'pass idle permits on', everyMs: 1_000, run: passIdlePermits },
  { what: 'index ended subtasks', everyMs: 1_000, run: rememberEpisodes },
  { what: 'grant missed permits', everyMs: 2_000, run: grantMissedPermits },
  { what: 'take judgements from lost workers', everyMs: 5_000, run: takeLostJudgements },
  { what: 'refresh statistics', everyMs: 5_000, run: refreshStatistics },
  { what: 'make partitions', everyMs: 30_000, run: makePartitions },
  { what: 'renew judgements without a job', everyMs: 60_000, run: renewJudgementJobs },
  { what: 'delete expired rows', everyMs: 600_000, run: deleteExpired },
]
