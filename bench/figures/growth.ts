import { mkdir, writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { join, resolve } from 'node:path'
import { startApi } from '../contenders/api.ts'
import { AGENTS, muster, startMusterWorker } from '../contenders/muster.ts'
import { type Bench, type Figure, Rows } from '../instrument/figure.ts'
import { type HttpCall, type HttpTarget, sendHttpAtRate } from '../instrument/http-rate.ts'
import { keep } from '../instrument/live.ts'
import { type Curve, plot } from '../instrument/plot.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import { percentile } from '../instrument/statistics.ts'
import { seedNotes, seedProjects, seedStored, settle } from '../seeds/grown.ts'
import { seedPending } from '../seeds/pending.ts'
import { newSubtask } from './post-subtasks.ts'
import { measureStarts } from './start-latency.ts'

const RATE = 50
/** Of events that thousands of followers receive each. */
const FOLLOWED_RATE = 2
const NEW_AGENTS = 50_000
/** The rows beside which the other axes grow. */
const BASE = 10_000
/** Of growth by log n, the part that noise may add. */
const TOLERANCE = 1.5

/** What one operation costs at one size. */
interface Cost {
  /** Pages of tables and indexes that its statements touched, from memory or not. */
  buffers: number
  /** Execution in PostgreSQL, without planning. */
  databaseMs: number
  /** Until the caller has its answer, or until the runner has begun; median. */
  endToEndMs: number
}

interface StatementCost {
  query: string
  calls: number
  buffers: number
}

type Measured = Record<string, Cost & { statements: StatementCost[] }>

interface Axis {
  name: string
  what: string
  /** The largest size of an axis, at full size. */
  largest: number
  smallest: number
  measure(bench: Bench, size: number): Promise<Measured>
}

/** Counts what the statements of a database cost while some operations are made. Planned and cached statements are measured: a first round goes before. */
async function costs(bench: Bench, { name }: BenchDatabase, work: (isWarmUp: boolean) => Promise<number[]>): Promise<Measured[string]> {
  const { admin } = bench.server
  await work(true)
  await admin`select pg_stat_statements_reset()`
  const latencies = await work(false)
  const rows = await admin<{ query: string; calls: number; buffers: number; ms: number }[]>`
    select regexp_replace(s.query, '\\s+', ' ', 'g') as query, s.calls::float8 as calls, (s.shared_blks_hit + s.shared_blks_read)::float8 as buffers, s.total_exec_time as ms
    from pg_stat_statements s join pg_database d on d.oid = s.dbid where d.datname = ${name} and s.toplevel`
  const sum = (pick: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + pick(row), 0) / latencies.length
  return {
    buffers: sum(({ buffers }) => buffers),
    databaseMs: sum(({ ms }) => ms),
    endToEndMs: percentile(latencies, 0.5),
    statements: rows.map(({ query, calls, buffers }) => ({ query: query.slice(0, 300), calls, buffers: buffers / calls })),
  }
}

/** The operations of the hot path on a database as it is: a whole lifecycle, and the requests of callers. */
async function hotPath(bench: Bench, database: BenchDatabase, ids: readonly string[]): Promise<Measured> {
  const measured: Measured = {}
  {
    await using opened = await muster.open(bench, database, { capacity: 50, runMs: 0 })
    measured['spawn, run, end'] = await costs(
      bench,
      database,
      async (isWarmUp) => (await measureStarts(opened, RATE, isWarmUp ? bench.size(3, 1) : bench.size(10, 3), 1)).fromCommitMs,
    )
  }
  const api = await startApi(bench, database)
  await using _ = api.process
  const target = { url: api.address, headers: api.headers }
  const known = ids.length > 0 ? ids : (await database.admin<{ id: string }[]>`select id from subtasks limit 1000`).map(({ id }) => id)
  const stored = await database.admin<{ name: string }[]>`select distinct agent_id as name from subtasks where id = any(${known as string[]}) limit 500`
  const agents = stored.map(({ name }) => name)
  const prefix = `new-${process.hrtime.bigint()}-`
  const requests: Record<string, (index: number) => HttpCall> = {
    'POST /subtasks': (index) => newSubtask(index, { agents: NEW_AGENTS, prefix, runner: 'external' }) as HttpCall,
    'GET /subtasks/{id}': (index) => ({ method: 'GET', path: `/subtasks/${known[(index * 7_919) % known.length]}` }),
    'GET /subtasks, by agent': (index) => ({ method: 'GET', path: `/subtasks?agent_id=${agents[index % agents.length]}&limit=10` }),
    'GET /subtasks/{id}/steps': (index) => ({ method: 'GET', path: `/subtasks/${known[(index * 7_919) % known.length]}/steps` }),
    'POST /sessions/{id}/injections': (index) => ({ method: 'POST', path: `/sessions/session-${agents[index % agents.length]}/injections` }),
  }
  for (const [name, request] of Object.entries(requests)) measured[name] = await costs(bench, database, (isWarmUp) => send(bench, target, request, isWarmUp))
  return measured
}

let sent = 0
/** Numbers go on, so that no request is made twice. */
async function send(bench: Bench, target: HttpTarget, request: (index: number) => HttpCall, isWarmUp: boolean, rate = RATE): Promise<number[]> {
  const seconds = isWarmUp ? bench.size(3, 1) : bench.size(6, 2)
  const from = sent
  sent += rate * seconds
  return (await sendHttpAtRate(target, rate, seconds, (index) => request(from + index))).fromSentMs
}

/** An axis of rows that are stored. */
function stored(seed: (bench: Bench, database: BenchDatabase, size: number) => Promise<string[]>): Axis['measure'] {
  return async (bench, size) => {
    await using database = await bench.server.musterDatabase()
    const ids = await seed(bench, database, size)
    await settle(database.admin)
    return await hotPath(bench, database, ids)
  }
}

const external = { runner: 'external', queue: 'run.external.00000000-0000-7000-8000-000000000001' }

const AXES: readonly Axis[] = [
  {
    name: 'stored',
    what: 'subtasks stored, with events, steps, inbox and evaluations',
    smallest: 10_000,
    largest: 10_000_000,
    measure: stored((_, { admin }, size) => seedStored(admin, size, AGENTS)),
  },
  { name: 'agents', what: 'agents', smallest: 1, largest: 100_000, measure: stored((_, { admin }, size) => seedStored(admin, Math.max(BASE, size), size)) },
  {
    name: 'projects',
    what: 'projects',
    smallest: 1,
    largest: 10_000,
    measure: stored(async (_, { admin }, size) => {
      await seedProjects(admin, size)
      return await seedStored(admin, BASE, AGENTS)
    }),
  },
  {
    name: 'waiting',
    what: 'subtasks that wait',
    smallest: 100,
    largest: 1_000_000,
    measure: stored(async (_, { admin }, size) => {
      await seedPending(admin, { ...external, count: size, agents: AGENTS, agentPrefix: 'waiting-' })
      return await seedStored(admin, BASE, AGENTS)
    }),
  },
  { name: 'notes', what: 'notes that a subtask has received', smallest: 1, largest: 10_000, measure: measureNotes },
  { name: 'workers', what: 'worker processes', smallest: 1, largest: 32, measure: measureWorkers },
  { name: 'followers', what: 'followers of the event log', smallest: 1, largest: 5_000, measure: measureFollowers },
]

async function measureNotes(bench: Bench, size: number): Promise<Measured> {
  await using database = await bench.server.musterDatabase()
  const { admin } = database
  await seedPending(admin, { ...external, count: 1, agents: 1 })
  const [subtask] = await admin<{ id: string }[]>`select id from subtasks`
  const id = subtask?.id as string
  await seedNotes(admin, id, size)
  await settle(admin)
  const api = await startApi(bench, database)
  await using _ = api.process
  const target = { url: api.address, headers: api.headers }
  const list = () => ({ method: 'GET', path: `/subtasks/${id}/updates?limit=50` }) as const
  const note = () => ({ method: 'POST', path: `/subtasks/${id}/updates`, body: JSON.stringify({ content: 'And those in build/.' }) }) as const
  return {
    'GET /subtasks/{id}/updates': await costs(bench, database, (isWarmUp) => send(bench, target, list, isWarmUp)),
    'POST /subtasks/{id}/updates': await costs(bench, database, (isWarmUp) => send(bench, target, note, isWarmUp)),
  }
}

async function measureWorkers(bench: Bench, size: number): Promise<Measured> {
  await using database = await bench.server.musterDatabase()
  await seedStored(database.admin, BASE, AGENTS)
  await settle(database.admin)
  await using _ = await idleWorkers(bench, database, size - 1)
  await using opened = await muster.open(bench, database, { capacity: 50, runMs: 0 })
  return {
    // A load that the first worker alone could take. Another one may be faster, so the ends are waited for and not the entries.
    'spawn, run, end': await costs(bench, database, async (isWarmUp) => {
      const load = await opened.load(RATE, isWarmUp ? bench.size(3, 1) : bench.size(10, 3))
      for (;;) {
        const [left] = await database.admin`select from subtasks where status in ('pending', 'running') limit 1`
        if (left === undefined) break
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const [row] = await database.admin<{ ms: number[] }[]>`
        select array_agg(extract(epoch from started_at - created_at)::float8 * 1000) as ms from subtasks where id = any(${[...load.ids]})`
      return row?.ms ?? []
    }),
  }
}

async function idleWorkers(bench: Bench, database: BenchDatabase, count: number) {
  const children: Awaited<ReturnType<typeof startMusterWorker>>[] = []
  // Two at a time: each start uses the processor.
  while (children.length < count) {
    const some = Array.from({ length: Math.min(2, count - children.length) }, () => startMusterWorker(bench, database, { capacity: 50, runMs: 0 }))
    children.push(...(await Promise.all(some)))
  }
  return keep({}, async () => void (await Promise.all(children.map((child) => child[Symbol.asyncDispose]()))))
}

async function measureFollowers(bench: Bench, size: number): Promise<Measured> {
  await using database = await bench.server.musterDatabase()
  const api = await startApi(bench, database)
  await using _ = api.process
  const received = { events: 0 }
  const streams: IncomingMessage[] = []
  while (streams.length < size) {
    const some = Array.from({ length: Math.min(50, size - streams.length) }, () => follow(api, received))
    streams.push(...(await Promise.all(some)))
  }
  const target = { url: api.address, headers: api.headers }
  const prefix = `followed-${process.hrtime.bigint()}-`
  const measured = {
    'POST /subtasks, seen by all': await costs(bench, database, async (isWarmUp) => {
      const before = received.events
      const spawn = (index: number) => newSubtask(index, { agents: NEW_AGENTS, prefix, runner: 'external' }) as HttpCall
      const latencies = await send(bench, target, spawn, isWarmUp, FOLLOWED_RATE)
      while (received.events - before < latencies.length * size) await new Promise((resolve) => setTimeout(resolve, 10))
      return latencies
    }),
  }
  for (const stream of streams) stream.destroy()
  return measured
}

/** One stream of the event log, which counts what was created. */
function follow({ address, headers }: { address: string; headers: Record<string, string> }, received: { events: number }): Promise<IncomingMessage> {
  return new Promise((done, failed) => {
    const request = get(`${address}/events?type=subtask.created`, { headers: { ...headers, accept: 'text/event-stream' }, agent: false }, (response) => {
      if (response.statusCode !== 200) return failed(new Error(`the stream answered ${response.statusCode}`))
      response.setEncoding('utf8').on('data', (chunk: string) => {
        received.events += chunk.split('\nevent: subtask.created').length - 1 + (chunk.startsWith('event: subtask.created') ? 1 : 0)
      })
      response.on('error', () => {})
      done(response)
    })
    request.on('error', failed)
  })
}

/** The sizes of an axis: its decades, or doubles where there are few, as far as asked. */
function sizesOf({ smallest, largest }: Axis, share: number): number[] {
  const end = Math.max(smallest * (largest >= 1_000 ? 10 : 2), Math.round(largest * share))
  const sizes: number[] = []
  for (let size = smallest; size <= end; size *= largest >= 1_000 ? 10 : 2) sizes.push(size)
  if (largest === end && sizes.at(-1) !== end) sizes.push(end)
  return sizes
}

/** Statements whose pages grow faster than log n, from the smallest size to the largest. */
function faster(smallest: Measured, largest: Measured, first: number, last: number): string[] {
  const allowed = (TOLERANCE * Math.log(Math.max(last, 2) * 10)) / Math.log(Math.max(first, 2) * 10)
  return Object.entries(largest).flatMap(([operation, { statements }]) => {
    const before = new Map(smallest[operation]?.statements.map(({ query, buffers }) => [query, buffers]))
    return statements.flatMap(({ query, calls, buffers }) => {
      const known = before.get(query)
      // Statements of a few pages grow by one when an index gets another level.
      return known === undefined || calls < 10 || buffers < 20 || buffers <= known * allowed
        ? []
        : [`${operation}: ${known.toFixed(1)} → ${buffers.toFixed(1)} pages: ${query}`]
    })
  })
}

export const growth: Figure = {
  name: 'growth',
  title: 'pages touched, execution time and latency of the hot path as each of seven things grows; with --share and --plots',
  raised: 'pg_stat_statements',
  isApart: true,
  notes: [
    'stored subtasks are as if the search index of memory had nothing to catch up with',
    'what the processes do unasked, such as the relay and maintenance, counts as well: at so few operations a second it is a large part',
    'pages and execution times are those that PostgreSQL counted for all statements of the database (pg_stat_statements), divided by the operations',
  ],
  serverSettings: {
    shared_preload_libraries: 'pg_stat_statements',
    'pg_stat_statements.track': 'top',
    'pg_stat_statements.max': '10000',
    // A worker holds up to fourteen.
    max_connections: '500',
  },
  async measure(bench) {
    const rows = new Rows()
    await bench.server.admin`create extension if not exists pg_stat_statements`
    const folder = resolve(bench.plots ?? join(import.meta.dirname, '../results/growth'))
    await mkdir(folder, { recursive: true })
    const wanted = AXES.filter(({ name }) => bench.axes === undefined || bench.axes.includes(name))
    for (const axis of wanted) {
      const sizes = sizesOf(axis, bench.share)
      const results: Measured[] = []
      for (const size of sizes) {
        const measured = await axis.measure(bench, size)
        results.push(measured)
        for (const [operation, { buffers, databaseMs, endToEndMs }] of Object.entries(measured)) {
          bench.log(`${axis.name} ${size}: ${operation}: ${buffers.toFixed(1)} pages, ${databaseMs.toFixed(3)} ms in PostgreSQL, ${endToEndMs.toFixed(2)} ms`)
          const label = `growth, ${size.toLocaleString('en-US')} ${axis.what}: ${operation}`
          rows.add({ label: `${label}, pages`, unit: 'pages', better: 'lower', goal: null }, null, buffers)
          rows.add({ label: `${label}, execution`, unit: 'ms', better: 'lower', goal: null }, null, databaseMs)
          rows.add({ label: `${label}, p50`, unit: 'ms', better: 'lower', goal: null }, null, endToEndMs)
        }
      }
      const curves = (pick: (cost: Cost) => number): Curve[] =>
        Object.keys(results[0] ?? {}).map((operation) => ({
          name: operation,
          points: sizes.flatMap((size, place) => {
            const cost = results[place]?.[operation]
            return cost === undefined ? [] : [{ size, cost: pick(cost) }]
          }),
        }))
      await writeFile(
        join(folder, `${axis.name}-pages.svg`),
        plot(
          'Pages touched an operation',
          axis.what,
          'pages',
          curves(({ buffers }) => buffers),
        ),
      )
      await writeFile(
        join(folder, `${axis.name}-execution.svg`),
        plot(
          'Execution an operation',
          axis.what,
          'ms',
          curves(({ databaseMs }) => databaseMs),
        ),
      )
      await writeFile(
        join(folder, `${axis.name}-latency.svg`),
        plot(
          'Latency, p50',
          axis.what,
          'ms',
          curves(({ endToEndMs }) => endToEndMs),
        ),
      )
      const found = faster(results[0] as Measured, results.at(-1) as Measured, sizes[0] as number, sizes.at(-1) as number)
      for (const line of found) bench.log(`${axis.name}: faster than log n: ${line}`)
      rows.add(
        { label: `growth, ${axis.what}: statements that grow faster than log n`, unit: '', better: 'lower', goal: null, details: { statements: found } },
        null,
        found.length,
      )
    }
    return rows.list()
  },
}
