import type { Deps } from '../core/ctx.ts'
import { checkWrites } from '../core/write-watch.ts'
import { renewJudgementJobs, takeLostJudgements } from '../judgements/repair-judgements.ts'
import { rememberEpisodes } from '../memory/change-memory.ts'
import { passIdlePermits, reapRuns } from '../runs/reap-runs.ts'
import { grantMissedPermits } from '../subtasks/grant-permits.ts'
import { deleteExpired, makePartitions, refreshStatistics } from './retention.ts'

export interface MaintenanceTask {
  /** For messages: "could not …". */
  what: string
  everyMs: number
  run(deps: Deps): Promise<unknown>
}

/**
 * What somebody has to look after now and then. Every process does, APIs too: where all work is done by outside workers there is no
 * other. Several at once get in nobody's way.
 */
export const MAINTENANCE: readonly MaintenanceTask[] = [
  { what: 'take subtasks from lost workers', everyMs: 250, run: reapRuns },
  { what: 'write to the database', everyMs: 1_000, run: checkWrites },
  { what: 'pass idle slots on', everyMs: 1_000, run: passIdlePermits },
  { what: 'remember what has ended', everyMs: 1_000, run: rememberEpisodes },
  { what: 'give missed slots', everyMs: 2_000, run: grantMissedPermits },
  { what: 'take judgements from lost workers', everyMs: 5_000, run: takeLostJudgements },
  { what: 'refresh statistics', everyMs: 5_000, run: refreshStatistics },
  { what: 'make partitions', everyMs: 30_000, run: makePartitions },
  { what: 'renew judgements without a job', everyMs: 60_000, run: renewJudgementJobs },
  { what: 'keep house', everyMs: 600_000, run: deleteExpired },
]
