import { auditLog, chatBots, idempotency, maintenance, storedBytes, workers } from '@muster/db'
import { type Loop, startLoop } from '@muster/jobs'
import { endAbandonedChecks } from '../checks/run-check.ts'
import type { Deps } from '../core/ctx.ts'
import { underWay } from '../core/under-way.ts'
import { checkWrites } from '../core/write-watch.ts'
import { endUnsendableDeliveries } from '../deliveries/send-deliveries.ts'
import { renewJudgementJobs, takeLostJudgements } from '../judgements/judge-evaluation.ts'
import { rememberEpisodes } from '../memory/change-memory.ts'
import { expireQuestions } from '../questions/expire-questions.ts'
import { applyRetention } from '../retention/apply-retention.ts'
import { passIdlePermits, reapRuns } from '../runs/reap-runs.ts'
import { grantMissedPermits } from '../subtasks/grant-permits.ts'
import { addUpBytes } from '../usage/quotas.ts'
import { makePartitions } from './partitions.ts'

const BATCH = 5_000

/** How often runs of lost workers are looked for while something runs: by the first process, and by the last ones. */
const REAP_MS = { first: 250, last: 1_000 }

/** Removes what is outlived: answers to repeated requests after a day, workers that are long gone, old entries of the audit log. */
export async function deleteExpired(deps: Deps): Promise<void> {
  for (let deleted = BATCH; deleted === BATCH; ) {
    deleted = await idempotency.deleteOldIdempotencyKeys(deps.dispatchDb, BATCH)
  }
  await workers.removeOldWorkers(deps.dispatchDb)
  await storedBytes.forgetEndedRuns(deps.dispatchDb)
  await chatBots.removeOldBots(deps.dispatchDb)
  for (let deleted = BATCH; deleted === BATCH; ) {
    deleted = await auditLog.deleteOldAuditEntries(deps.dispatchDb, deps.settings.AUDIT_DAYS, BATCH)
  }
}

/** Lets the planner know of tables that have grown: every few seconds, since a new database fills quickly. */
export async function refreshStatistics(deps: Deps): Promise<void> {
  await maintenance.analyzeGrownTables(deps.dispatchDb)
}

export interface MaintenanceTask {
  /** For messages: "failed to …". */
  what: string
  everyMs: number
  /** Asked after each run where the next one may have to come sooner than after `everyMs`. */
  pace?(deps: Deps): Promise<number>
  run(deps: Deps): Promise<unknown>
  /** While this holds, there is nothing to do: it is asked at its own, slower pace. */
  idle?: { when(deps: Deps): Promise<boolean>; everyMs: number }
  /** Events that this process has moved into the log make work: it runs soon after them, and otherwise at its own pace for those of a process that died. */
  afterEvents?: { restMs: number }
}

/** Runs one at its pace. */
export function startMaintenance(deps: Deps, { everyMs, pace, run, idle, afterEvents }: MaintenanceTask, onError: (error: unknown) => void): Loop {
  const work = async () => {
    if (await idle?.when(deps)) return undefined
    await run(deps)
    return (await pace?.(deps)) ?? everyMs
  }
  const loop = startLoop(work, { everyMs: idle?.everyMs ?? everyMs, onError, ...afterEvents })
  if (afterEvents !== undefined) void deps.notifier.listen('logged', () => loop.wake())
  return loop
}

/** What does not run is not lost. A subtask that starts later has a worker that was alive then, and whose silence takes longer to be noticed. */
const NOTHING_RUNS = { when: async (deps: Deps) => !(await underWay(deps)).runs, everyMs: REAP_MS.last }
const NOTHING_WAITS = { when: async (deps: Deps) => !(await underWay(deps)).waits, everyMs: 2_000 }
const NOTHING_IS_ASKED = { when: async (deps: Deps) => !(await underWay(deps)).asks, everyMs: 2_000 }

const NOTHING_TO_COUNT = { when: async (deps: Deps) => !(await underWay(deps)).counts, everyMs: 3_000 }

/**
 * One process looks for lost runs as often as it takes to give them to others soon. Those that come after it look less often, and more often once those
 * before them are gone: what many look for at once is found no sooner.
 */
export async function reaperPace(deps: Deps): Promise<number> {
  return Math.min(REAP_MS.first * 2 ** (await underWay(deps)).workersBefore, REAP_MS.last)
}

/** Only the reaper needs to know since when writes succeed, so they need not be checked again before something runs. A failure here is one of writes too. */
const WRITES_ARE_KNOWN = {
  when: async (deps: Deps) => deps.writes.steadyMs > 0 && (await NOTHING_RUNS.when(deps).catch(() => false)),
  everyMs: 1_000,
}

/**
 * Periodic work. Every process does it, APIs too, because with only outside workers there are no other processes. Several at once do not
 * disturb each other.
 */
export const MAINTENANCE: readonly MaintenanceTask[] = [
  { what: 'reap subtasks of lost workers', everyMs: REAP_MS.last, pace: reaperPace, run: reapRuns, idle: NOTHING_RUNS },
  { what: 'write to the database', everyMs: 1_000, run: checkWrites, idle: WRITES_ARE_KNOWN },
  { what: 'pass idle permits on', everyMs: 2_000, run: passIdlePermits, idle: NOTHING_WAITS },
  { what: 'index ended subtasks', everyMs: 10_000, run: rememberEpisodes, afterEvents: { restMs: 1_000 } },
  { what: 'grant missed permits', everyMs: 2_000, run: grantMissedPermits, idle: NOTHING_WAITS },
  { what: 'expire questions', everyMs: 2_000, run: expireQuestions, idle: NOTHING_IS_ASKED },
  { what: 'take judgements from lost workers', everyMs: 5_000, run: takeLostJudgements },
  { what: 'add up stored bytes', everyMs: 3_000, run: addUpBytes, idle: NOTHING_TO_COUNT },
  { what: 'refresh statistics', everyMs: 5_000, run: refreshStatistics },
  { what: 'end checks that no worker takes', everyMs: 30_000, run: endAbandonedChecks },
  { what: 'make partitions', everyMs: 30_000, run: makePartitions },
  { what: 'give up deliveries that cannot be sent', everyMs: 60_000, run: endUnsendableDeliveries },
  { what: 'renew judgements without a job', everyMs: 60_000, run: renewJudgementJobs },
  { what: 'delete expired rows', everyMs: 600_000, run: deleteExpired },
  { what: 'drop what is older than it is kept', everyMs: 60_000, run: applyRetention },
]
