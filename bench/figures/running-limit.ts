import { agentNames } from '../contenders/agents.ts'
import type { Entry } from '../contenders/contender.ts'
import { takeEntries } from '../contenders/entries.ts'
import { startMusterWorker, startSpawner } from '../contenders/muster.ts'
import { installPgBoss, startPgBossProducer, startPgBossWorker } from '../contenders/pg-boss.ts'
import type { ServingChild } from '../instrument/child.ts'
import { atMost, type Bench, type Figure, Rows } from '../instrument/figure.ts'
import { keep } from '../instrument/live.ts'

const LIMIT = 2
/** A start takes a second of a processor, which a quick run has not. */
const workersOf = (bench: Bench) => bench.size(16, 6)
const AGENTS = 8
const EACH = { capacity: 8, runMs: 5 }
const PEER = 'pg-boss groupConcurrency'

/** The most runs of one agent that were open at the same moment, over all workers. */
export function mostAtOnce(entries: readonly Entry[]): number {
  let most = 0
  for (const runs of Map.groupBy(entries, (entry) => entry.agent).values()) {
    const moments = runs.flatMap((run) => [
      { atMs: run.enteredMs, change: 1 },
      { atMs: run.leftMs as number, change: -1 },
    ])
    let open = 0
    for (const { change } of moments.sort((a, b) => a.atMs - b.atMs || a.change - b.change)) {
      open += change
      most = Math.max(most, open)
    }
  }
  return most
}

async function startAll(count: number, start: () => Promise<ServingChild>): Promise<{ workers: ServingChild[] } & AsyncDisposable> {
  const workers: ServingChild[] = []
  const all = keep({ workers }, async () => void (await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()))))
  // A few at a time: starting is work for a processor, and too many at once would take too long for each.
  while (workers.length < count) workers.push(...(await Promise.all(Array.from({ length: Math.min(4, count - workers.length) }, start))))
  return all
}

async function spawnAndCount(producer: ServingChild, workers: readonly ServingChild[], jobs: number, more: object): Promise<number> {
  await producer.call('spawn', { count: jobs, agents: agentNames(AGENTS), ...more })
  return mostAtOnce(await takeEntries(workers, jobs, 'left'))
}

async function measureOurs(bench: Bench): Promise<number> {
  await using database = await bench.server.musterDatabase()
  const raised = { SUBTASK_MAX_CONCURRENT: String(LIMIT), SUBTASK_MAX_PENDING: '1000000', WORKER_POOL_SIZE: '2' }
  await using started = await startAll(workersOf(bench), () => startMusterWorker(bench, database, EACH, raised))
  await using spawner = await startSpawner(bench, database, raised)
  return await spawnAndCount(spawner, started.workers, bench.size(2_000, 300), {})
}

async function measurePeer(bench: Bench): Promise<number> {
  await using database = await bench.server.emptyDatabase()
  await installPgBoss(database, { notify: true })
  // Its pool has ten connections each, and the server a hundred or two: three are as many as sixteen workers may have.
  const work = { groupConcurrency: LIMIT, pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 }
  await using started = await startAll(workersOf(bench), () => startPgBossWorker(bench, database, { ...EACH, useListenNotify: true, work, connectionsMax: 3 }))
  await using producer = await startPgBossProducer(bench, database)
  return await spawnAndCount(producer, started.workers, bench.size(500, 150), { isGrouped: true })
}

export const runningLimit: Figure = {
  name: 'running-limit',
  title: `most runs of one agent at once, limit ${LIMIT}, 16 worker processes of ${EACH.capacity} slots, ${AGENTS} agents`,
  raised: `SUBTASK_WORKERS=${EACH.capacity}, SUBTASK_MAX_CONCURRENT=${LIMIT}, SUBTASK_MAX_PENDING=1000000, WORKER_POOL_SIZE=2`,
  async measure(bench) {
    const rows = new Rows()
    const row = { label: `most at once of one agent, limit ${LIMIT}, ${workersOf(bench)} workers`, unit: '', better: 'lower', goal: atMost(LIMIT) } as const
    for (let run = 1; run <= bench.runs; run += 1) {
      const ours = await measureOurs(bench)
      const peer = await bench.peer(PEER, () => measurePeer(bench))
      rows.add(row, null, ours)
      if (peer !== null) rows.add(row, PEER, peer)
      bench.log(`run ${run}: ours ${ours}, peer ${peer}`)
    }
    // A limit that is passed once is passed: not the median counts but the most.
    return rows.list().map((each) => ({ ...each, ours: each.ours.map(() => Math.max(...each.ours)) }))
  },
}
