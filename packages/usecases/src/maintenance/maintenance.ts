import type { Deps } from '../core/ctx.ts'
import { checkWrites } from '../core/write-watch.ts'
import { renewJudgementJobs, takeLostJudgements } from '../judgements/repair-judgements.ts'
import { rememberEpisodes } from '../memory/change-memory.ts'
import { passIdlePermits, reapRuns } from '../runs/reap-runs.ts'
import { grantMissedPermits } from '../subtasks/grant-permits.ts'
import { deleteExpired, makePartitions, refreshStatistics } from './retention.ts'

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
