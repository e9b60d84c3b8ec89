import type { Contender, Entry, OpenContender } from '../contenders/contender.ts'
import { graphile } from '../contenders/graphile.ts'
import { muster } from '../contenders/muster.ts'
import { pgBossNotified, pgBossPolling } from '../contenders/pg-boss.ts'
import { atMost, type Bench, type Figure, Rows } from '../instrument/figure.ts'
import type { Load } from '../instrument/open-loop.ts'
import { percentile } from '../instrument/statistics.ts'

const RATES = [200, 500] as const
const GOALS = { 200: { p50: atMost(1.5, 'ms'), p99: atMost(6, 'ms') }, 500: { p50: null, p99: atMost(10, 'ms') } }
const WORKERS = { capacity: 50, runMs: 20 }
const PEERS: Contender[] = [graphile, pgBossNotified, pgBossPolling]

/** How long after its commit each job was entered, and how long after it was due. */
export interface Latencies {
  fromCommitMs: number[]
  fromDueMs: number[]
}

/** One load at a rate, after a short one that warms both processes up. */
export async function measureStarts(opened: OpenContender, perSecond: number, seconds: number, warmUpSeconds: number): Promise<Latencies> {
  await opened.entries((await opened.load(perSecond, warmUpSeconds)).ids.length)
  const load = await opened.load(perSecond, seconds)
  return latencies(load, await opened.entries(load.ids.length))
}

function latencies(load: Load, entries: readonly Entry[]): Latencies {
  const enteredMs = new Map(entries.map((entry) => [entry.id, entry.enteredMs]))
  const missing = load.ids.filter((id) => !enteredMs.has(id))
  if (missing.length > 0) throw new Error(`${missing.length} jobs were never entered, such as ${missing[0]}`)
  const since = (from: readonly number[]) => load.ids.map((id, place) => (enteredMs.get(id) as number) - (from[place] as number))
  return { fromCommitMs: since(load.committedMs), fromDueMs: since(load.dueMs) }
}

export const startLatency: Figure = {
  name: 'start-latency',
  title: 'commit of the spawn → runner entered, in a worker process of its own, runs of 20 ms, load by a fixed schedule',
  raised: 'SUBTASK_WORKERS=50',
  notes: [
    'pg-boss work() asks twice a second for one job in each of 50 pollers, which is 100 jobs/s at most: at 200/s and 500/s its queue grows, and its latencies and ratios are those of a growing queue',
  ],
  async measure(bench: Bench) {
    const rows = new Rows()
    for (let run = 1; run <= bench.runs; run += 1) {
      const add = async (contender: Contender) => {
        await using database = await contender.prepare(bench)
        await using opened = await contender.open(bench, database, WORKERS)
        for (const rate of RATES) {
          const { fromCommitMs, fromDueMs } = await measureStarts(opened, rate, bench.size(7, 2), bench.size(2, 1))
          const add = (label: string, value: number, goal: ReturnType<typeof atMost> | null) =>
            rows.add({ label: `start latency at ${rate}/s, ${label}`, unit: 'ms', better: 'lower', goal }, contender.name, value)
          add('p50', percentile(fromCommitMs, 0.5), GOALS[rate].p50)
          add('p99', percentile(fromCommitMs, 0.99), GOALS[rate].p99)
          add('p99 from when it was due', percentile(fromDueMs, 0.99), null)
          bench.log(
            `run ${run}, ${contender.name ?? 'muster'} at ${rate}/s: p50 ${percentile(fromCommitMs, 0.5).toFixed(1)} ms, p99 ${percentile(fromCommitMs, 0.99).toFixed(1)} ms`,
          )
        }
      }
      await add(muster)
      for (const peer of PEERS) await bench.peer(peer.name as string, () => add(peer))
    }
    return rows.list()
  },
}
