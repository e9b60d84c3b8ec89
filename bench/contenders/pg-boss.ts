import { PgBoss, type Queue, type WorkOptions } from 'pg-boss'
import { type ServingChild, startServing } from '../instrument/child.ts'
import type { Bench } from '../instrument/figure.ts'
import { keep } from '../instrument/live.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import type { PgBossWorkers } from '../processes/peer-pg-boss.ts'
import { agentNames } from './agents.ts'
import type { Contender, OpenContender } from './contender.ts'
import { takeEntries } from './entries.ts'
import { AGENTS } from './muster.ts'

export const PG_BOSS_QUEUE = 'noop'

/** `work()` at its fastest without notifications: it asks no more often than twice a second. */
const POLLING = { name: 'pg-boss work()', useListenNotify: false, work: { pollingIntervalSeconds: 0.5 } } as const
/** The same, and while its statistics (taken every second here) say that more is waiting, it asks again after each job. */
const BURSTING = {
  name: 'pg-boss work()',
  useListenNotify: false,
  work: { pollingIntervalSeconds: 0.5, burstWhenReadyExceeds: 1 },
  superviseSeconds: 1,
} as const
const NOTIFIED = { name: 'pg-boss notify', useListenNotify: true, work: {} } as const

interface PgBossOptions {
  name: string
  useListenNotify: boolean
  work: WorkOptions
  superviseSeconds?: number
}

/** Installs pg-boss with one queue into an empty database. */
export async function installPgBoss(database: BenchDatabase, queue: Partial<Queue> = {}): Promise<void> {
  const boss = new PgBoss({ connectionString: database.adminUrl, supervise: false, schedule: false })
  boss.on('error', () => {})
  await boss.start()
  await boss.createQueue(PG_BOSS_QUEUE, { name: PG_BOSS_QUEUE, ...queue })
  await boss.stop({ graceful: false })
}

export function startPgBossWorker(bench: Bench, database: BenchDatabase, workers: Omit<PgBossWorkers, 'url' | 'queue'>): Promise<ServingChild> {
  return startServing(bench, 'pg-boss-worker', 'peer-pg-boss.ts', { ...workers, url: database.adminUrl, queue: PG_BOSS_QUEUE })
}

export function startPgBossProducer(bench: Bench, database: BenchDatabase): Promise<ServingChild> {
  return startServing(bench, 'pg-boss-producer', 'producer.ts', { url: database.adminUrl, kind: 'pg-boss', queue: PG_BOSS_QUEUE })
}

/** Many jobs at once, by pg-boss's own table and with the values it would have written. */
export async function seedPgBoss(database: BenchDatabase, count: number, agents: number, isGrouped = false): Promise<void> {
  await database.admin`
    insert into pgboss.job (name, data, policy, group_id)
    select ${PG_BOSS_QUEUE}, jsonb_build_object('agent', 'agent-' || n % ${agents}::int), 'standard', case when ${isGrouped} then 'agent-' || n % ${agents}::int end
    from generate_series(0, ${count - 1}::int) as n`
}

/** Jobs that are to start later, one every `everyMs`, as `send` with `startAfter` would have put them there. */
export async function seedPgBossAt(
  database: BenchDatabase,
  queue: string,
  { count, firstAtMs, everyMs }: { count: number; firstAtMs: number; everyMs: number },
) {
  await database.admin`
    insert into pgboss.job (name, data, policy, start_after)
    select ${queue}, jsonb_build_object('agent', 'agent-' || n), 'standard', to_timestamp((${firstAtMs}::bigint + n::bigint * ${everyMs}::bigint) / 1000.0)
    from generate_series(0, ${count - 1}::int) as n`
}

function pgBoss({ name, useListenNotify, work, ...more }: PgBossOptions): Contender {
  return {
    name,
    async prepare(bench) {
      const database = await bench.server.emptyDatabase()
      await installPgBoss(database, { notify: useListenNotify })
      return database
    },
    async open(bench, database, workers) {
      const worker = await startPgBossWorker(bench, database, { ...workers, ...more, useListenNotify, work })
      const producer = await startPgBossProducer(bench, database)
      const agents = agentNames(AGENTS)
      return keep(
        {
          load: (perSecond: number, seconds: number) => producer.call<Awaited<ReturnType<OpenContender['load']>>>('load', { perSecond, seconds, agents }),
          preload: (count: number) => seedPgBoss(database, count, AGENTS),
          entries: (count: number) => takeEntries([worker], count),
        },
        async () => {
          await producer[Symbol.asyncDispose]()
          await worker[Symbol.asyncDispose]()
        },
      )
    },
  }
}

export const pgBossBursting = pgBoss(BURSTING)
export const pgBossPolling = pgBoss(POLLING)
export const pgBossNotified = pgBoss(NOTIFIED)
