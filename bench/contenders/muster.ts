import { LEAN } from '../../scripts/system/supervised-process.ts'
import { type ProcessSettings, type ServingChild, startServing } from '../instrument/child.ts'
import type { Bench } from '../instrument/figure.ts'
import { keep } from '../instrument/live.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import { seedPending } from '../seeds/pending.ts'
import { agentNames } from './agents.ts'
import type { Contender, OpenContender, Workers } from './contender.ts'
import { takeEntries } from './entries.ts'

/** As many as make the shipped limits of an agent no limit of what is measured. */
export const AGENTS = 500

/** The API's program, for figures that speak HTTP. */
const NOOP_RUNNER = JSON.stringify({ noop: { argv: [process.execPath, '--version'] } })

/** Measurements use many agents of one project, and put no limit on all of them together. */
const NO_PROJECT_LIMITS = { SUBTASK_PROJECT_MAX_CONCURRENT: '0', SUBTASK_PROJECT_MAX_PENDING: '0' }

/** What our processes are given in a measurement, the flags of `npm start` included; everything else is as shipped. */
export function musterSettings(bench: Bench, database: BenchDatabase, raised: Record<string, string> = {}): ProcessSettings {
  return {
    env: { DATABASE_URL: database.appUrl, DATA_DIR: bench.folder, SANDBOX: 'off', COMMAND_RUNNERS: NOOP_RUNNER, ...NO_PROJECT_LIMITS, ...raised },
    nodeFlags: LEAN,
  }
}

export function startMusterWorker(
  bench: Bench,
  database: BenchDatabase,
  { capacity, runMs }: Workers,
  raised: Record<string, string> = {},
): Promise<ServingChild> {
  return startServing(bench, 'worker', 'worker.ts', { capacity, runMs }, musterSettings(bench, database, { SUBTASK_WORKERS: String(capacity), ...raised }))
}

export function startSpawner(bench: Bench, database: BenchDatabase, raised: Record<string, string> = {}): Promise<ServingChild> {
  return startServing(bench, 'spawner', 'spawner.ts', null, musterSettings(bench, database, raised))
}

interface Variant {
  isFollowed?: boolean
  raised?: Record<string, string>
}

async function open(bench: Bench, database: BenchDatabase, workers: Workers, { isFollowed = false, raised = {} }: Variant): Promise<OpenContender> {
  const worker = await startMusterWorker(bench, database, workers, raised)
  const spawner = await startSpawner(bench, database)
  if (isFollowed) await spawner.call('follow')
  const agents = agentNames(AGENTS)
  return keep(
    {
      load: (perSecond: number, seconds: number) => spawner.call<Awaited<ReturnType<OpenContender['load']>>>('load', { perSecond, seconds, agents }),
      async preload(count: number) {
        await seedPending(database.admin, { count, agents: AGENTS, runner: 'noop', queue: 'run.noop' })
        await database.admin`select pg_notify('muster_run', '')`
      },
      entries: (count: number) => takeEntries([worker], count),
    },
    async () => {
      await spawner[Symbol.asyncDispose]()
      await worker[Symbol.asyncDispose]()
    },
  )
}

function ours(variant: Variant = {}): Contender {
  return { name: null, prepare: (bench) => bench.server.musterDatabase(), open: (bench, database, workers) => open(bench, database, workers, variant) }
}

export const muster = ours()
/** With a follower of the event log, for which the spawning process listens to the database. */
export const musterFollowed = ours({ isFollowed: true })
/** With spans that the worker sends to this collector. */
export const musterTraced = (collectorUrl: string): Contender => ours({ raised: { OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl } })
