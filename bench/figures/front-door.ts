import { setTimeout as sleep } from 'node:timers/promises'
import { startApi } from '../contenders/api.ts'
import { startMusterWorker } from '../contenders/muster.ts'
import { machineMs } from '../instrument/clock.ts'
import { atLeast, atMost, type Bench, type Figure, type Goal, Rows } from '../instrument/figure.ts'
import { sendHttpLoad } from '../instrument/http-load.ts'
import { connections, type HttpTarget, sendJson } from '../instrument/http-rate.ts'
import { produceAtRate } from '../instrument/open-loop.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import { percentile } from '../instrument/statistics.ts'
import { memoryOf, type Usage, usageOf } from '../instrument/usage.ts'

const SLOTS = 100
const BURST = 2_000
const RATES = [20, 100] as const
const READERS = 32
/** The text of a task of 500 bytes. */
const TASK = `Do nothing, and say so. ${'Say it again. '.repeat(34)}`.slice(0, 500)

/** Submits a job and waits for its result, as a client does. Returns the milliseconds from the submission to the result. */
async function runJob(target: HttpTarget, agent: ReturnType<typeof connections>, index: number): Promise<{ id: string; tookMs: number }> {
  const body = JSON.stringify({ task: TASK, agent_id: `agent-${index % 5_000}`, runner: 'noop', wait_seconds: 30 })
  const startMs = machineMs()
  const { id, status } = await sendJson<{ id: string; status: string }>(agent.http, target, { method: 'POST', path: '/subtasks', body })
  if (status !== 'completed') throw new Error(`subtask ${id} is ${status}`)
  return { id, tookMs: machineMs() - startMs }
}

/** What a system used while something was done. */
async function using<T>(pids: readonly number[], database: BenchDatabase, work: () => Promise<T>) {
  const transactions = async () => {
    // A session hands its counts in some time after the transaction.
    await sleep(1_500)
    const [row] = await database.admin<{ count: string }[]>`select xact_commit + xact_rollback as count from pg_stat_database where datname = ${database.name}`
    return Number(row?.count)
  }
  const [before, count] = [await usageOf(pids), await transactions()]
  const startMs = machineMs()
  const result = await work()
  const tookMs = machineMs() - startMs
  const after = await usageOf(pids)
  const difference = (key: keyof Usage) => after[key] - before[key]
  return {
    result,
    tookMs,
    processorMs: difference('processorMs'),
    contextSwitches: difference('contextSwitches'),
    transactions: (await transactions()) - count,
  }
}

async function measureOnce(bench: Bench, rows: Rows): Promise<void> {
  await using database = await bench.server.musterDatabase()
  const api = await startApi(bench, database)
  await using _api = api.process
  await using worker = await startMusterWorker(bench, database, { capacity: SLOTS, runMs: 0 })
  const target: HttpTarget = { url: api.address, headers: api.headers }
  const pids = [api.process.pid, worker.pid, ...(await bench.server.pids())]
  using agent = connections(BURST)
  let sent = 0
  const load = async (perSecond: number, seconds: number) => {
    const tookMs: number[] = []
    await produceAtRate(perSecond, seconds, async () => {
      sent += 1
      const job = await runJob(target, agent, sent)
      tookMs.push(job.tookMs)
      return job.id
    })
    return tookMs
  }
  const add = (label: string, unit: string, value: number, goal: Goal | null, better: 'lower' | 'higher' = 'lower') =>
    rows.add({ label: `front door: ${label}`, unit, better, goal }, null, value)
  // As long as it takes for the code to be compiled.
  await load(100, bench.size(10, 2))
  await sleep(bench.size(3_000, 1_000))

  const restMs = bench.size(10_000, 2_000)
  const idle = await using(pids, database, () => sleep(restMs))
  add('idle, of a core', '%', (100 * idle.processorMs) / idle.tookMs, atMost(0.7, '%'))
  add('idle, transactions a second', '/s', (1_000 * idle.transactions) / idle.tookMs, null)
  add('memory, idle', 'MB', await memoryOf(pids), atMost(220, 'MB'))
  for (const perSecond of RATES) {
    const seconds = bench.size(15, 2)
    const { result, ...used } = await using(pids, database, () => load(perSecond, seconds))
    const goals = {
      20: { p50: atMost(6, 'ms'), p99: atMost(15, 'ms'), processor: atMost(5, 'ms') },
      100: { p50: null, p99: atMost(20, 'ms'), processor: atMost(3.5, 'ms') },
    }[perSecond]
    add(`result known at ${perSecond}/s, p50`, 'ms', percentile(result, 0.5), goals.p50)
    add(`result known at ${perSecond}/s, p99`, 'ms', percentile(result, 0.99), goals.p99)
    add(`processor a job at ${perSecond}/s`, 'ms', used.processorMs / result.length, goals.processor)
    add(`transactions a job at ${perSecond}/s`, '', used.transactions / result.length, null)
    add(`context switches a job at ${perSecond}/s`, '', used.contextSwitches / result.length, null)
    bench.log(
      `${perSecond}/s: p50 ${percentile(result, 0.5).toFixed(1)} ms, p99 ${percentile(result, 0.99).toFixed(1)} ms, processor ${(used.processorMs / result.length).toFixed(2)} ms, ${(used.transactions / result.length).toFixed(1)} transactions a job`,
    )
  }
  const count = bench.size(BURST, 200)
  const ids: string[] = []
  const burst = await using(pids, database, async () => {
    const jobs = Array.from({ length: count }, async () => {
      sent += 1
      ids.push((await runJob(target, agent, sent)).id)
    })
    await Promise.all(jobs)
  })
  add(`burst of ${count}`, '/s', (1_000 * count) / burst.tookMs, atLeast(2_000, '/s'), 'higher')
  add('processor a job in the burst', 'ms', burst.processorMs / count, null)
  add('memory, after the burst', 'MB', await memoryOf(pids), atMost(350, 'MB'))
  const reads = await sendHttpLoad({
    ...target,
    connections: READERS,
    seconds: bench.size(5, 1),
    request: (index) => ({ method: 'GET', path: `/subtasks/${ids[index % ids.length]}` }),
  })
  add('GET of a finished subtask', '/s', reads.perSecond, atLeast(6_000, '/s'), 'higher')
  bench.log(
    `burst ${((1_000 * count) / burst.tookMs).toFixed(0)}/s, ${(burst.processorMs / count).toFixed(2)} ms of processor a job; GET ${reads.perSecond.toFixed(0)}/s; idle ${((100 * idle.processorMs) / idle.tookMs).toFixed(2)} %`,
  )
}

export const frontDoor: Figure = {
  name: 'front-door',
  title: `POST /subtasks of 500 bytes with wait_seconds → a worker process runs a no-op → the client has the result; ${SLOTS} slots`,
  raised: `SUBTASK_WORKERS=${SLOTS}`,
  notes: ['processor, context switches and memory are those of API, worker and PostgreSQL together, without the client; Linux only'],
  async measure(bench) {
    const rows = new Rows()
    for (let run = 1; run <= bench.runs; run += 1) await measureOnce(bench, rows)
    return rows.list()
  },
}
