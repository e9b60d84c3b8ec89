import { setTimeout as sleep } from 'node:timers/promises'
import { checkAttempts } from './checks/attempts.ts'
import { checkBriefs } from './checks/briefs.ts'
import type { Evidence } from './checks/check.ts'
import { checkCheckRuns } from './checks/check-runs.ts'
import { checkCoverage } from './checks/coverage.ts'
import { checkDeliveries } from './checks/deliveries.ts'
import { checkEvaluations } from './checks/evaluations.ts'
import { checkLargeResults } from './checks/large-results.ts'
import { checkEmptySystem, checkQuietSystem, listWorkspaces } from './checks/leftovers.ts'
import { checkLimits, checkQueue } from './checks/limits.ts'
import { checkQuestions } from './checks/questions.ts'
import { checkFollowers, checkInbox, checkUpdates } from './checks/readers.ts'
import { checkRefusedWrites } from './checks/refused-writes.ts'
import { checkRunsOfBriefs } from './checks/runs-of-briefs.ts'
import { checkSchedules } from './checks/schedules.ts'
import { checkStaleWriters } from './checks/stale-writers.ts'
import { checkSubtasks } from './checks/subtasks.ts'
import { checkWebhooks } from './checks/webhooks.ts'
import { moveClock, readClockMoves } from './clock.ts'
import { type FaultRun, runFaults } from './faults.ts'
import type { Findings } from './findings.ts'
import { importAYear, passAYear } from './history.ts'
import { type Load, startLoad } from './load/load.ts'
import type { Traffic } from './network.ts'
import type { Options } from './options.ts'
import type { Fault } from './plan.ts'
import { letApisRecover, measureRecoveries, type Recoveries } from './recoveries.ts'
import { type Sampler, startSampler } from './sampler.ts'
import { type GrowthWatch, startGrowthWatch } from './steady.ts'
import { GRACE_SECONDS, type System } from './system.ts'

const LINE_EVERY_MS = 5_000
/** A receiver that failed several probes in a row is left alone for minutes (BREAKER), and its deliveries wait. */
const DRAIN_MAX_MS = 300_000
const CATCH_UP_MAX_MS = 30_000
const CHECKS = [
  checkSubtasks,
  checkAttempts,
  checkLimits,
  checkQueue,
  checkFollowers,
  checkInbox,
  checkUpdates,
  checkBriefs,
  checkDeliveries,
  checkRunsOfBriefs,
  checkSchedules,
  checkEvaluations,
  checkQuestions,
  checkCheckRuns,
  checkRefusedWrites,
  checkLargeResults,
  checkWebhooks,
]
/** More than this is not explained by results of a megabyte on their way. */
const MEMORY_MAX_MIB = 400

export interface RunResult {
  faults: FaultRun
  load: Load
  sampler: Sampler
  recoveries: Recoveries
  growth: GrowthWatch | null
  drainedInMs: number
  /** Between each process and the database, by names. */
  traffic: ReadonlyMap<string, Traffic>
  workspacesLeft: number
  /** What reached the receiver of webhooks, and how much of it more than once. */
  webhooks: { deliveries: number; repetitions: number }
}

/** One run: load and faults for the given time, quiet, checks, and the end of all processes. */
export async function runChaos(
  system: System,
  options: Options,
  plan: readonly Fault[],
  findings: Findings,
  interrupted: AbortSignal,
  log: (line: string) => void,
): Promise<RunResult> {
  const sampler = startSampler(system, findings)
  const load = startLoad(system, findings, options, () => sampler.counts.pending + sampler.counts.running)
  const growth = options.steady ? startGrowthWatch(system, options.minutes) : null
  const startedAt = performance.now()
  const lag = setInterval(() => {
    load.client.lagMs = sampler.lagMs()
  }, 200)
  const line = setInterval(() => log(describe(startedAt, load, sampler, findings)), LINE_EVERY_MS)

  try {
    const faulting = runFaults(system, load.client, plan, findings, interrupted, log)
    await sleep(options.minutes * 60_000, undefined, { signal: interrupted })
    const faults = await faulting
    growth?.stop()
    log('faults are over; letting the system come to rest')
    const drainStartedAt = performance.now()
    await Promise.all(system.apis.concat(system.workers).map((each) => each.ready()))
    await letApisRecover(system, load.client, findings)
    await load.close()
    await drain(system, findings, interrupted)
    const drainedInMs = performance.now() - drainStartedAt
    await letReadersFinish(system, load)
    await sampler.stop()

    const clock = await readClockMoves(system.admin)
    const evidence: Evidence = { system, admin: system.admin, ledger: load.ledger, followers: load.followers, findings, clock }
    await checkQuietSystem(evidence)
    await load.end()
    log('checking')
    for (const check of CHECKS) await check(evidence)
    await checkStaleWriters(evidence, faults.records)
    const recoveries = await measureRecoveries(evidence, faults)
    findings.none(
      'memory stays within bounds',
      sampler.memoryMaxMib.size,
      [...sampler.memoryMaxMib].filter(([, mib]) => mib > MEMORY_MAX_MIB).map(([name, mib]) => `${name}: ${mib.toFixed(0)} MiB`),
    )
    growth?.judge(findings)
    const traffic = await system.readTraffic()
    await passAYear(evidence, log)
    await endProcesses(system, findings)
    await importAYear(evidence)
    await checkEmptySystem(evidence)
    checkCoverage(options, faults, load.absences.count, system.disk !== null, findings)
    const { receipts } = system.receiver
    const webhooks = {
      deliveries: receipts.size,
      repetitions: Array.from(receipts.values()).filter(({ times }) => times > 1).length,
    }
    return { faults, load, sampler, recoveries, growth, drainedInMs, traffic, workspacesLeft: listWorkspaces(evidence).length, webhooks }
  } finally {
    clearInterval(line)
    clearInterval(lag)
    growth?.stop()
    await sampler.stop()
    await load.end()
  }
}

/** Waits until everything has ended and been announced. */
async function drain(system: System, findings: Findings, interrupted: AbortSignal): Promise<void> {
  const deadline = performance.now() + DRAIN_MAX_MS
  for (;;) {
    interrupted.throwIfAborted()
    const [left] = await system.admin<{ unfinished: number; unannounced: number; unchecked: number; undelivered: number }[]>`
      select (select count(*)::int from subtasks where final_outcome is null) as unfinished, (select coalesce(sum(size), 0)::int from outbox) as unannounced,
        (select count(*)::int from check_runs where ended_at is null) as unchecked,
        (select count(*)::int from deliveries where ended_at is null) as undelivered`
    if (left?.unfinished === 0 && left.unannounced === 0 && left.unchecked === 0 && left.undelivered === 0) return
    if (performance.now() > deadline) {
      findings.broke(
        'the system comes to rest',
        `after ${DRAIN_MAX_MS / 1000} s ${left?.unfinished} subtasks and ${left?.unchecked} checks have not ended, ${left?.unannounced} events are not in the log, ${left?.undelivered} deliveries have not arrived`,
      )
      return
    }
    await sleep(250)
  }
}

/** Followers read to the end of the log, inboxes are emptied, and holders of tasks receive every update. Unacknowledged manual claims expire by moving the system's clock. */
async function letReadersFinish(system: System, load: Load): Promise<void> {
  const deadline = performance.now() + CATCH_UP_MAX_MS
  await moveClock(system.admin, 2 * 60_000)
  for (;;) {
    const last = await system.admin<{ project_id: string; type: string | null; seq: number }[]>`
      select project_id, type, max(seq)::int as seq from events group by grouping sets ((project_id), (project_id, type))`
    const lastOf = (projectId: string, type: string | null) => last.find((row) => row.project_id === projectId && row.type === type)?.seq ?? 0
    const areFollowersDone = load.followers.every((follower) => follower.last >= lastOf(follower.projectId, follower.type))
    const [waiting] = await system.admin<{ count: number }[]>`
      select (select count(*) from inbox where delivered_at is null)::int + (select count(*) from assignments where has_news and ended_at is null)::int as count`
    if ((areFollowersDone && waiting?.count === 0) || performance.now() > deadline) break
    await sleep(250)
  }
  // What was marked as delivered a moment ago may still be on its way.
  await sleep(1_000)
}

async function endProcesses(system: System, findings: Findings): Promise<void> {
  const processes = [...system.workers, ...system.apis]
  const ended = await Promise.all(processes.map((each) => each.end('SIGTERM', GRACE_SECONDS * 1_000 + 3_000)))
  findings.none(
    'a process that is asked to stop ends in time and in order',
    processes.length,
    processes.flatMap((each, index) =>
      ended[index] === true && (each.life?.how === 'code 0' || each.life?.how === null) ? [] : [`${each.name}: ${each.life?.how}`],
    ),
  )
}

function describe(startedAt: number, { ledger, client }: Load, { counts, connections, memoryMaxMib }: Sampler, findings: Findings): string {
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  const errors = (client.statuses.get('503') ?? 0) + (client.statuses.get('connection failed') ?? 0)
  return (
    `${String(seconds).padStart(4)} s  accepted ${ledger.count('accepted')} and ${ledger.briefs.length} briefs, ended ${counts.ended}, running ${counts.running}, waiting ${counts.pending}; ` +
    `503 or cut ${errors}; connections ${connections}; memory up to ${Math.max(0, ...memoryMaxMib.values()).toFixed(0)} MiB; broken ${findings.violations}`
  )
}
