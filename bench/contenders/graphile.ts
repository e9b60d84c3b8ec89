import { runMigrations } from 'graphile-worker'
import { type ServingChild, startServing } from '../instrument/child.ts'
import type { Bench } from '../instrument/figure.ts'
import { keep } from '../instrument/live.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import { agentNames } from './agents.ts'
import type { Contender, OpenContender, Workers } from './contender.ts'
import { takeEntries } from './entries.ts'
import { AGENTS } from './muster.ts'

export const GRAPHILE = 'graphile-worker'

export function startGraphileWorker(bench: Bench, database: BenchDatabase, workers: Workers): Promise<ServingChild> {
  return startServing(bench, 'graphile-worker', 'peer-graphile.ts', { ...workers, url: database.adminUrl })
}

export function startGraphileProducer(bench: Bench, database: BenchDatabase): Promise<ServingChild> {
  return startServing(bench, 'graphile-producer', 'producer.ts', { url: database.adminUrl, kind: GRAPHILE, queue: '' })
}

/** It leaves that to autovacuum, which a new database may wait a minute for, and reads its whole table for every job meanwhile. */
export async function analyzeGraphile({ admin }: BenchDatabase): Promise<void> {
  await admin`analyze graphile_worker._private_jobs`
}

export const graphile: Contender = {
  name: GRAPHILE,
  async prepare(bench) {
    const database = await bench.server.emptyDatabase()
    await runMigrations({ connectionString: database.adminUrl })
    return database
  },
  async open(bench, database, workers) {
    const worker = await startGraphileWorker(bench, database, workers)
    const producer = await startGraphileProducer(bench, database)
    const agents = agentNames(AGENTS)
    return keep(
      {
        load: (perSecond: number, seconds: number) => producer.call<Awaited<ReturnType<OpenContender['load']>>>('load', { perSecond, seconds, agents }),
        async preload(count: number) {
          await database.admin`
            select from graphile_worker.add_jobs(array(
              select ('noop', json_build_object('agent', 'agent-' || n % ${AGENTS}::int), null, null, null, null, null, null)::graphile_worker.job_spec
              from generate_series(0, ${count - 1}::int) as n))`
          await analyzeGraphile(database)
        },
        entries: (count: number) => takeEntries([worker], count),
      },
      async () => {
        await producer[Symbol.asyncDispose]()
        await worker[Symbol.asyncDispose]()
      },
    )
  },
}
