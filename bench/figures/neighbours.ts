import { startMusterWorker, startSpawner } from '../contenders/muster.ts'
import { atMost, type Bench, countText, type Figure, Rows } from '../instrument/figure.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import { median, percentile } from '../instrument/statistics.ts'
import { seedPending } from '../seeds/pending.ts'
import { measureOthers } from './fairness.ts'

const ALONE = 'without neighbour'
/** Such runs keep all places taken, and leave the processors room: what is measured is the turn, and not their speed. */
const WORKERS = { capacity: 50, runMs: 200 }
/** Of the neighbour. Runs of the same length would end as they began, many at once and then none for a while. */
const NEIGHBOUR_RUN_MS = { from: 100, to: 300 }
const PER_SECOND = 10
const NEIGHBOUR = '00000000-0000-7000-9000-000000000001'
const AGENTS = 500
const SHARES = [
  ['p50', 0.5],
  ['p99', 0.99],
] as const
const pendingOf = (bench: Bench) => bench.size(20_000, 5_000)

/** From the commit of a subtask of the quiet project until its runner is entered. */
async function measure(bench: Bench, hasNeighbour: boolean): Promise<number[]> {
  await using database = await bench.server.musterDatabase()
  // The first to start makes the queue.
  await using spawner = await startSpawner(bench, database)
  if (hasNeighbour) await seedNeighbour(bench, database)
  await database.admin`vacuum (analyze) subtasks, pgboss.job`
  await using worker = await startMusterWorker(bench, database, WORKERS)
  return await measureOthers(bench, spawner, worker, { perSecond: PER_SECOND, seconds: bench.size(12, 3) })
}

async function seedNeighbour(bench: Bench, { admin }: BenchDatabase): Promise<void> {
  await admin`insert into projects (id, name) values (${NEIGHBOUR}, 'neighbour')`
  await seedPending(admin, { count: pendingOf(bench), agents: AGENTS, agentPrefix: 'full-', runner: 'noop', queue: 'run.noop', projectId: NEIGHBOUR })
  const { from, to } = NEIGHBOUR_RUN_MS
  await admin`update subtasks set metadata = jsonb_build_object('run_ms', random(${from}::int, ${to}::int)) where project_id = ${NEIGHBOUR}`
}

export const neighbours: Figure = {
  name: 'neighbours',
  title:
    'commit → runner entered for a quiet project, while another project has 20,000 older subtasks pending and holds all places; and without that project, in turn',
  raised: 'SUBTASK_WORKERS=50',
  notes: [
    'runs of 100 to 300 ms in 50 places: one is free every 4 ms on average',
    'the cost is the median of those of pairs, measured one after the other in changing order',
  ],
  async measure(bench) {
    const rows = new Rows()
    const behind = `behind ${countText(pendingOf(bench))} of another project`
    for (let run = 1; run <= bench.runs; run += 1) {
      const costs: Record<string, number[]> = { p50: [], p99: [] }
      const all = new Map<boolean, number[]>([
        [false, []],
        [true, []],
      ])
      for (let pair = 0; pair < bench.size(3, 1); pair += 1) {
        const waits = new Map<boolean, number[]>()
        for (const hasNeighbour of pair % 2 === 0 ? [false, true] : [true, false]) {
          waits.set(hasNeighbour, await measure(bench, hasNeighbour))
          all.get(hasNeighbour)?.push(...(waits.get(hasNeighbour) as number[]))
        }
        for (const [name, share] of SHARES) {
          const [alone, beside] = [percentile(waits.get(false) as number[], share), percentile(waits.get(true) as number[], share)]
          costs[name]?.push(beside - alone)
          bench.log(`run ${run}, pair ${pair + 1}, ${name}: ${beside.toFixed(1)} ms ${behind}, ${alone.toFixed(1)} ms without`)
        }
      }
      for (const [name, share] of SHARES) {
        const row = { label: `quiet project: start ${behind}, ${name}`, unit: 'ms', better: 'lower', goal: null } as const
        rows.add(row, null, percentile(all.get(true) as number[], share))
        rows.add(row, ALONE, percentile(all.get(false) as number[], share))
        const cost = { label: `quiet project: cost of a full neighbour, ${name}`, unit: 'ms', better: 'lower', goal: atMost(20, 'ms') } as const
        rows.add(cost, null, median(costs[name] as number[]))
      }
    }
    return rows.list()
  },
}
