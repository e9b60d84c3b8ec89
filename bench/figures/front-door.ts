import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Door,
  installLangGraph,
  installPeers,
  killDbos,
  killRestate,
  type OpenDoor,
  openBare,
  openDbos,
  openLangGraph,
  openMuster,
  openRestate,
} from '../contenders/doors.ts'
import { machineMs } from '../instrument/clock.ts'
import { atLeast, atMost, type Bench, type Figure, type Goal, Rows } from '../instrument/figure.ts'
import { sendHttpLoad } from '../instrument/http-load.ts'
import { connections } from '../instrument/http-rate.ts'
import { produceAtRate } from '../instrument/open-loop.ts'
import { percentile } from '../instrument/statistics.ts'
import { memoryOf, type Usage, usageOf } from '../instrument/usage.ts'
import { measureOurs } from './crash-to-rerun.ts'

const CAPACITY = 100
const BURST = 2_000
const RATES = [1, 20, 100] as const
const PROFILED_RATE = 20
const READERS = 32
/** What a system used while something was done. */
async function using<T>(bench: Bench, { pids, database }: Pick<Door, 'pids' | 'database'>, work: () => Promise<T>) {
  const transactions = async () => {
    if (database === null) return 0
    // A session hands its counts in some time after the transaction.
    await sleep(1_500)
    const [row] = await bench.server.admin<
      { count: string }[]
    >`select xact_commit + xact_rollback as count from pg_stat_database where datname = ${database.name}`
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

async function measureOnce(bench: Bench, rows: Rows, name: string | null, open: OpenDoor): Promise<void> {
  await using door = await open(bench)
  const { pids } = door
  using agent = connections(BURST)
  let sent = 0
  const load = async (perSecond: number, seconds: number) => {
    const tookMs: number[] = []
    await produceAtRate(perSecond, seconds, async () => {
      sent += 1
      const startMs = machineMs()
      const id = await door.runJob(agent, sent)
      tookMs.push(machineMs() - startMs)
      return id
    })
    return tookMs
  }
  const add = (label: string, unit: string, value: number, goal: Goal | null, better: 'lower' | 'higher' = 'lower') =>
    rows.add({ label: `front door: ${label}`, unit, better, goal }, name, value)
  // As long as it takes for the code to be compiled.
  await load(100, bench.size(10, 2))
  if (bench.profileFolder !== undefined) {
    // One rate alone, so that a profile shows what a job costs at that rate: `--from 20` leaves out what comes before it.
    await load(PROFILED_RATE, 100)
    return
  }
  // What follows a load, such as indexing and the collection of garbage, is not idling.
  await sleep(bench.size(15_000, 1_000))

  const restMs = bench.size(10_000, 2_000)
  const idle = await using(bench, door, () => sleep(restMs))
  add('idle, of a core', '%', (100 * idle.processorMs) / idle.tookMs, atMost(0.7, '%'))
  if (door.database !== null) add('idle, transactions a second', '/s', (1_000 * idle.transactions) / idle.tookMs, null)
  add('memory, idle', 'MB', await memoryOf(pids), atMost(220, 'MB'))
  for (const perSecond of RATES) {
    const seconds = bench.size(15, 2)
    const { result, ...used } = await using(bench, door, () => load(perSecond, seconds))
    const goals = {
      1: { p50: null, p99: null, processor: null },
      20: { p50: atMost(6, 'ms'), p99: atMost(15, 'ms'), processor: atMost(5, 'ms') },
      100: { p50: null, p99: atMost(20, 'ms'), processor: atMost(3.5, 'ms') },
    }[perSecond]
    add(`result known at ${perSecond}/s, p50`, 'ms', percentile(result, 0.5), goals.p50)
    add(`result known at ${perSecond}/s, p99`, 'ms', percentile(result, 0.99), goals.p99)
    add(`processor a job at ${perSecond}/s`, 'ms', used.processorMs / result.length, goals.processor)
    if (door.database !== null) add(`transactions a job at ${perSecond}/s`, '', used.transactions / result.length, null)
    add(`context switches a job at ${perSecond}/s`, '', used.contextSwitches / result.length, null)
    bench.log(
      `${name ?? 'Muster'} at ${perSecond}/s: p50 ${percentile(result, 0.5).toFixed(1)} ms, p99 ${percentile(result, 0.99).toFixed(1)} ms, processor ${(used.processorMs / result.length).toFixed(2)} ms, ${(used.transactions / result.length).toFixed(1)} transactions a job`,
    )
  }
  const count = bench.size(BURST, 200)
  const ids: string[] = []
  const burst = await using(bench, door, async () => {
    const jobs = Array.from({ length: count }, async () => {
      sent += 1
      ids.push(await door.runJob(agent, sent))
    })
    await Promise.all(jobs)
  })
  add(`burst of ${count}`, '/s', (1_000 * count) / burst.tookMs, atLeast(2_000, '/s'), 'higher')
  add('processor a job in the burst', 'ms', burst.processorMs / count, null)
  add('memory, after the burst', 'MB', await memoryOf(pids), atMost(350, 'MB'))
  const { result } = door
  if (result !== null) {
    const request = (index: number) => ({ method: 'GET' as const, path: result.path(ids[index % ids.length] as string) })
    const reads = await sendHttpLoad({ ...result.target, connections: READERS, seconds: bench.size(5, 1), request })
    add('GET of a finished subtask', '/s', reads.perSecond, atLeast(6_000, '/s'), 'higher')
    bench.log(`${name ?? 'Muster'}: GET ${reads.perSecond.toFixed(0)}/s`)
  }
  bench.log(
    `${name ?? 'Muster'}: burst ${((1_000 * count) / burst.tookMs).toFixed(0)}/s, ${(burst.processorMs / count).toFixed(2)} ms of processor a job; idle ${((100 * idle.processorMs) / idle.tookMs).toFixed(2)} %`,
  )
}

/** What each keeps: all but LangGraph's development server the submission and the result on disk, before the client has them. */
const PEERS: { name: string; install?: () => Promise<void>; open: OpenDoor; isOnce?: boolean; kill?: (bench: Bench) => Promise<number> }[] = [
  { name: 'bare', open: openBare },
  { name: 'Restate 1.7.12', install: installPeers, open: openRestate, kill: killRestate },
  { name: 'DBOS 5.3.0, polls of 10 ms', install: installPeers, open: openDbos(10) },
  // Its polls of a second take long to measure, and vary little.
  { name: 'DBOS 5.3.0', install: installPeers, open: openDbos(undefined), isOnce: true, kill: killDbos },
  { name: 'LangGraph dev 0.16.7', install: installLangGraph, open: openLangGraph, isOnce: true },
]
const KILLED = { label: 'front door: kill -9 of the worker → its work runs again', unit: 'ms', better: 'lower', goal: null } as const

export const frontDoor: Figure = {
  name: 'front-door',
  title: `POST /subtasks of 500 bytes with wait_seconds → a worker process runs a no-op → the client has the result; up to ${CAPACITY} jobs at once`,
  raised: `SUBTASK_WORKERS=${CAPACITY}`,
  notes: [
    'processor, context switches and memory are those of API, worker and PostgreSQL together, without the client; Linux only',
    'peers: bare is four statements and nothing else, with the same libraries and PostgreSQL: one stores a job, one takes it, one stores its result, one reads it; Restate keeps log and results in RocksDB of its own and its worker is started again after kill -9; DBOS is a queue in the same PostgreSQL, with polls of 10 ms and with its default of a second (one run); the development server of LangGraph keeps its runs in memory (one run)',
  ],
  async measure(bench) {
    const rows = new Rows()
    const installed = new Set<unknown>()
    const missing = new Set<string>()
    for (let run = 1; run <= bench.runs; run += 1) {
      await measureOnce(bench, rows, null, openMuster)
      if (bench.profileFolder !== undefined) return []
      rows.add(KILLED, null, await measureOurs(bench))
      for (const { name, open, isOnce, install } of PEERS) {
        if (missing.has(name) || (isOnce && run > 1)) continue
        const measured = await bench.peer(name, async () => {
          if (install !== undefined && !installed.has(install)) await install()
          installed.add(install)
          await measureOnce(bench, rows, name, open)
          return true
        })
        if (measured === null) missing.add(name)
      }
    }
    for (const { name, kill } of PEERS) {
      if (kill === undefined || missing.has(name)) continue
      const killed = await bench.peer(`${name} after kill -9`, () => kill(bench))
      if (killed !== null) rows.add(KILLED, name, killed)
    }
    return rows.list()
  },
}
