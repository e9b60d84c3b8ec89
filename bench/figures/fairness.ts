import { takeEntries } from '../contenders/entries.ts'
import { startMusterWorker, startSpawner } from '../contenders/muster.ts'
import { installPgBoss, seedPgBoss, startPgBossProducer, startPgBossWorker } from '../contenders/pg-boss.ts'
import type { ServingChild } from '../instrument/child.ts'
import { atMost, type Bench, countText, type Figure, Rows } from '../instrument/figure.ts'
import type { Load } from '../instrument/open-loop.ts'
import { percentile } from '../instrument/statistics.ts'
import { seedPending } from '../seeds/pending.ts'

const PEER = 'pg-boss groupConcurrency'
const WORKERS = { capacity: 50, runMs: 20 }
const PER_SECOND = 20
/** The shipped limit of an agent. */
const LIMIT = 3
const pendingOf = (bench: Bench) => bench.size(100_000, 10_000)
const OTHERS = Array.from({ length: 20 }, (_, index) => `other-${index}`)

/** How long the subtasks of other agents take to start while those of the full ones run on. */
export async function measureOthers(
  bench: Bench,
  producer: ServingChild,
  worker: ServingChild,
  { perSecond = PER_SECOND, seconds = bench.size(7, 1), ...more }: { perSecond?: number; seconds?: number; isGrouped?: boolean },
): Promise<number[]> {
  const load = async (loadSeconds: number) => {
    const { ids, committedMs } = await producer.call<Load>('load', { perSecond, seconds: loadSeconds, agents: OTHERS, ...more })
    const others = new Map<string, number>()
    // The full agent's runs are among the entries, and there is no telling how many.
    while (others.size < ids.length) {
      for (const entry of await takeEntries([worker], 1)) if (entry.agent.startsWith('other-')) others.set(entry.id, entry.enteredMs)
    }
    return ids.map((id, place) => (others.get(id) as number) - (committedMs[place] as number))
  }
  await load(1)
  return await load(seconds)
}

async function measureOurs(bench: Bench): Promise<number[]> {
  await using database = await bench.server.musterDatabase()
  // The first to start makes the queue.
  await using spawner = await startSpawner(bench, database)
  await seedPending(database.admin, { count: pendingOf(bench), agents: 1, agentPrefix: 'full-', runner: 'noop', queue: 'run.noop' })
  await database.admin`vacuum (analyze) subtasks, pgboss.job`
  await using worker = await startMusterWorker(bench, database, WORKERS)
  return await measureOthers(bench, spawner, worker, {})
}

async function measurePeer(bench: Bench): Promise<number[]> {
  await using database = await bench.server.emptyDatabase()
  await installPgBoss(database, { notify: true })
  await seedPgBoss(database, pendingOf(bench), 1, true)
  await database.admin`vacuum (analyze) pgboss.job`
  const work = { groupConcurrency: LIMIT, pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 }
  await using worker = await startPgBossWorker(bench, database, { ...WORKERS, useListenNotify: true, work })
  await using producer = await startPgBossProducer(bench, database)
  return await measureOthers(bench, producer, worker, { isGrouped: true })
}

export const fairness: Figure = {
  name: 'fairness',
  title: 'commit → runner entered for other agents, while one agent at its limit has 100,000 subtasks pending',
  raised: 'SUBTASK_WORKERS=50',
  async measure(bench) {
    const rows = new Rows()
    for (let run = 1; run <= bench.runs; run += 1) {
      const ours = await measureOurs(bench)
      const peer = await bench.peer(PEER, () => measurePeer(bench))
      for (const [label, share, goal] of [
        ['p50', 0.5, null],
        ['p99', 0.99, atMost(15, 'ms')],
      ] as const) {
        const row = { label: `start behind ${countText(pendingOf(bench))} of a full agent, ${label}`, unit: 'ms', better: 'lower', goal } as const
        rows.add(row, null, percentile(ours, share))
        if (peer !== null) rows.add(row, PEER, percentile(peer, share))
      }
      const delivered = [ours, ...(peer === null ? [] : [peer])].map(
        (values) => `p50 ${percentile(values, 0.5).toFixed(1)} ms, p99 ${percentile(values, 0.99).toFixed(1)} ms`,
      )
      bench.log(`run ${run}: ${delivered.join('; peer ')}`)
    }
    return rows.list()
  },
}
