import { randomBytes } from 'node:crypto'
import { startApi } from '../contenders/api.ts'
import { AGENTS, muster } from '../contenders/muster.ts'
import { atMost, type Bench, type Figure, Rows, withinPeer } from '../instrument/figure.ts'
import { sendHttpLoad } from '../instrument/http-load.ts'
import { type HttpCall, sendHttpAtRate } from '../instrument/http-rate.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import { percentile } from '../instrument/statistics.ts'
import { seedFinished } from '../seeds/finished.ts'
import { seedPending } from '../seeds/pending.ts'
import { newSubtask } from './post-subtasks.ts'
import { measureStarts } from './start-latency.ts'

const EMPTY = 'empty'
const STARTS_PER_SECOND = 200
const GETS_PER_SECOND = 200
/** A list is 50 or 100 subtasks, which is as much work as a dozen single reads: at their rate it would be a queue for one process that is measured. */
const LISTS_PER_SECOND = 50
const WRITERS = 32
/** Enough for each new subtask to have a slot of its own. */
const NEW_AGENTS = 50_000

/** @returns ids of stored subtasks */
async function seed(bench: Bench, { admin }: BenchDatabase): Promise<string[]> {
  const [finished, pending] = [bench.size(1_000_000, 20_000), bench.size(100_000, 2_000)]
  const startMs = performance.now()
  const ids = await seedFinished(admin, finished, AGENTS)
  // For outside workers: what waits for the worker that is measured would be run by it, and start before anything new.
  await seedPending(admin, {
    count: pending,
    agents: AGENTS,
    agentPrefix: 'waiting-',
    runner: 'external',
    queue: `run.external.00000000-0000-7000-8000-000000000001`,
  })
  await admin`vacuum (analyze) subtasks, attempts, pgboss.job`
  await admin`checkpoint`
  bench.log(`stored ${finished} finished and ${pending} pending subtasks in ${((performance.now() - startMs) / 1_000).toFixed(0)} s`)
  return ids
}

async function measureStartLatency(bench: Bench, database: BenchDatabase): Promise<number[]> {
  await using opened = await muster.open(bench, database, { capacity: 50, runMs: 20 })
  return (await measureStarts(opened, STARTS_PER_SECOND, bench.size(7, 1), bench.size(2, 1))).fromCommitMs
}

async function measureHttp(bench: Bench, database: BenchDatabase, ids: readonly string[]) {
  const api = await startApi(bench, database)
  await using _ = api.process
  const target = { url: api.address, headers: api.headers }
  const lists = [
    '',
    '?status=completed',
    '?status=pending',
    '?status=failed&agent_id=agent-7',
    '?agent_id=agent-11',
    '?parent_session_id=session-agent-13',
    '?limit=100',
  ]
  const get = (index: number) => ({ method: 'GET', path: `/subtasks/${ids[(index * 7_919) % ids.length]}` }) as const
  const list = (index: number) => ({ method: 'GET', path: `/subtasks${lists[index % lists.length]}` }) as const
  // For outside workers too: what is left of it must not be in the way of the next run. And new agents each time, for their limits' sake.
  const prefix = `new-${randomBytes(4).toString('hex')}-`
  const post = (index: number) => newSubtask(index, { agents: NEW_AGENTS, prefix, runner: 'external' })
  const readSeconds = bench.size(7, 1)
  // One after the other at a fixed schedule: a second's worth of them at once would measure how they wait for each other.
  const read = async (perSecond: number, seconds: number, request: (index: number) => HttpCall) =>
    percentile((await sendHttpAtRate(target, perSecond, seconds, request)).fromSentMs, 0.99)
  // As long as it takes for the code to be compiled.
  await read(GETS_PER_SECOND / 2, bench.size(6, 1), (index) => (index % 2 === 0 ? get(index) : list(index)))
  return {
    get: await read(GETS_PER_SECOND, readSeconds, get),
    list: await read(LISTS_PER_SECOND, readSeconds, list),
    post: (await sendHttpLoad({ ...target, connections: WRITERS, seconds: bench.size(7, 1), request: post })).perSecond,
  }
}

export const manyStored: Figure = {
  name: 'many-stored',
  title: 'start latency, reads and spawns with 1,000,000 finished and 100,000 pending subtasks stored, beside the same on an empty database',
  raised: 'SUBTASK_WORKERS=50',
  notes: ['stored are subtasks, their attempts and the jobs of pending ones, but no events, inbox items, evaluations or words of memory'],
  async measure(bench) {
    const rows = new Rows()
    const start = { unit: 'ms', better: 'lower', goal: withinPeer(1.5, EMPTY) } as const
    const read = { unit: 'ms', better: 'lower', goal: atMost(20, 'ms') } as const
    const add = async (contender: string | null, database: BenchDatabase, ids: readonly string[]) => {
      const starts = await measureStartLatency(bench, database)
      rows.add({ ...start, label: `many stored: start latency at ${STARTS_PER_SECOND}/s, p50` }, contender, percentile(starts, 0.5))
      rows.add({ ...start, label: `many stored: start latency at ${STARTS_PER_SECOND}/s, p99` }, contender, percentile(starts, 0.99))
      const http = await measureHttp(bench, database, ids.length > 0 ? ids : await someIds(database))
      rows.add({ ...read, label: `many stored: GET /subtasks/{id} at ${GETS_PER_SECOND}/s, p99` }, contender, http.get)
      rows.add({ ...read, label: `many stored: GET /subtasks at ${LISTS_PER_SECOND}/s, p99` }, contender, http.list)
      rows.add({ label: 'many stored: POST /subtasks', unit: '/s', better: 'higher', goal: null }, contender, http.post)
      bench.log(
        `${contender ?? 'many stored'}: start p50 ${percentile(starts, 0.5).toFixed(1)} ms, get ${http.get.toFixed(1)} ms, list ${http.list.toFixed(1)} ms, POST ${Math.round(http.post)}/s`,
      )
    }
    await using full = await bench.server.musterDatabase()
    const ids = await seed(bench, full)
    for (let run = 1; run <= bench.runs; run += 1) {
      const beside = async () => {
        await using empty = await bench.server.musterDatabase()
        await add(EMPTY, empty, [])
      }
      await bench.peer(EMPTY, beside, { holdsGoal: true })
      await add(null, full, ids)
    }
    return rows.list()
  },
}

async function someIds({ admin }: BenchDatabase): Promise<string[]> {
  return (await admin<{ id: string }[]>`select id from subtasks limit 1000`).map((row) => row.id)
}
