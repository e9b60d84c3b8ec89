import { agentNames } from '../contenders/agents.ts'
import type { Entry } from '../contenders/contender.ts'
import { takeEntries } from '../contenders/entries.ts'
import { analyzeGraphile, GRAPHILE, graphile, startGraphileProducer, startGraphileWorker } from '../contenders/graphile.ts'
import { muster, startMusterWorker, startSpawner } from '../contenders/muster.ts'
import { installPgBoss, startPgBossProducer, startPgBossWorker } from '../contenders/pg-boss.ts'
import { machineMs } from '../instrument/clock.ts'
import { atMost, type Bench, type Figure, Rows } from '../instrument/figure.ts'
import { percentile } from '../instrument/statistics.ts'

const PG_BOSS = 'pg-boss work()'
const AGENTS = 20
/** They are asked for one by one, so that the agents' runs do not end at the same moment, and so fast that many wait when all have been asked for. */
const ASKED = { perSecond: 500, seconds: 1.2 }
const RUN_MS = 50
const SLOTS = { capacity: 50, runMs: RUN_MS }

/** How long after the end of each first attempt its second was entered. */
function betweenAttempts(entries: readonly Entry[]): number[] {
  return [...Map.groupBy(entries, (entry) => entry.id).values()].map((attempts) => {
    const [first, second] = attempts.sort((a, b) => a.attempt - b.attempt)
    return (second?.enteredMs as number) - (first?.leftMs as number)
  })
}

/**
 * How long after the end of each run the agent's next one was entered, where an agent runs one at a time. Only of runs that began when the
 * last one had been asked for: before that, it is who asks that is waited for.
 */
function betweenRuns(entries: readonly Entry[], askedMs: number): number[] {
  return [...Map.groupBy(entries, (entry) => entry.agent).values()].flatMap((runs) => {
    const ordered = runs.sort((a, b) => a.enteredMs - b.enteredMs)
    return ordered.slice(1).flatMap((next, place) => {
      const before = ordered[place] as Entry
      return before.enteredMs < askedMs ? [] : [next.enteredMs - (before.leftMs as number)]
    })
  })
}

async function measureOurs(bench: Bench) {
  await using database = await muster.prepare(bench)
  await using worker = await startMusterWorker(bench, database, SLOTS, { SUBTASK_MAX_CONCURRENT: '1' })
  await using spawner = await startSpawner(bench, database, { SUBTASK_MAX_CONCURRENT: '1', SUBTASK_MAX_PENDING: '50' })
  const agents = agentNames(500)
  const retry = async (seconds: number) => {
    const load = await spawner.call<{ ids: string[] }>('load', { perSecond: 50, seconds, agents, metadata: { fails_first: true, run_ms: 5 } })
    return betweenAttempts(await takeEntries([worker], load.ids.length * 2, 'left'))
  }
  const freed = async () => {
    const load = await spawner.call<{ ids: string[] }>('load', { ...ASKED, agents: agentNames(AGENTS) })
    const askedMs = machineMs()
    return betweenRuns(await takeEntries([worker], load.ids.length, 'left'), askedMs)
  }
  await retry(1)
  await freed()
  const freedMs: number[] = []
  for (let round = 0; round < bench.size(3, 1); round += 1) freedMs.push(...(await freed()))
  return { retryMs: await retry(bench.size(8, 1)), freedMs }
}

async function measurePgBossRetry(bench: Bench): Promise<number[]> {
  await using database = await bench.server.emptyDatabase()
  await installPgBoss(database, { retryLimit: 2, retryDelay: 0 })
  await using worker = await startPgBossWorker(bench, database, { capacity: 50, runMs: 5, useListenNotify: false, work: { pollingIntervalSeconds: 0.5 } })
  await using producer = await startPgBossProducer(bench, database)
  const load = await producer.call<{ ids: string[] }>('load', { perSecond: 50, seconds: bench.size(8, 2), agents: ['a'], data: { fails_first: true } })
  return betweenAttempts(await takeEntries([worker], load.ids.length * 2, 'left'))
}

/** Its queues are its lanes of one. It retries with a growing delay only, which is no defect but leaves nothing to compare. */
async function measureGraphileFreed(bench: Bench): Promise<number[]> {
  await using database = await graphile.prepare(bench)
  await using worker = await startGraphileWorker(bench, database, SLOTS)
  await using producer = await startGraphileProducer(bench, database)
  const load = await producer.call<{ ids: string[] }>('load', { ...ASKED, agents: agentNames(AGENTS), isGrouped: true })
  await analyzeGraphile(database)
  const askedMs = machineMs()
  return betweenRuns(await takeEntries([worker], load.ids.length, 'left'), askedMs)
}

export const nextStart: Figure = {
  name: 'next-start',
  title: 'end of a failed attempt → its retry entered; end of a run of a full agent → its next one entered',
  raised: 'SUBTASK_WORKERS=50, SUBTASK_MAX_CONCURRENT=1, SUBTASK_MAX_PENDING=50',
  async measure(bench) {
    const rows = new Rows()
    for (let run = 1; run <= bench.runs; run += 1) {
      const ours = await measureOurs(bench)
      const bossRetryMs = await bench.peer(PG_BOSS, () => measurePgBossRetry(bench))
      const graphileFreedMs = await bench.peer(GRAPHILE, () => measureGraphileFreed(bench))
      for (const [label, share, retryGoal, freedGoal] of [
        ['p50', 0.5, null, null],
        ['p99', 0.99, atMost(20, 'ms'), atMost(15, 'ms')],
      ] as const) {
        const retry = { label: `failed attempt → retry, ${label}`, unit: 'ms', better: 'lower', goal: retryGoal } as const
        rows.add(retry, null, percentile(ours.retryMs, share))
        if (bossRetryMs !== null) rows.add(retry, PG_BOSS, percentile(bossRetryMs, share))
        const freed = { label: `permit freed → next start, ${label}`, unit: 'ms', better: 'lower', goal: freedGoal } as const
        rows.add(freed, null, percentile(ours.freedMs, share))
        if (graphileFreedMs !== null) rows.add(freed, GRAPHILE, percentile(graphileFreedMs, share))
      }
      bench.log(`run ${run}: retry p99 ${percentile(ours.retryMs, 0.99).toFixed(1)} ms, freed permit p99 ${percentile(ours.freedMs, 0.99).toFixed(1)} ms`)
    }
    return rows.list()
  },
}
