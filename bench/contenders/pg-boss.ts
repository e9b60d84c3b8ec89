import { PgBoss, type Queue, type WorkOptions } from 'pg-boss'
import { type ServingChild, startServing } from '../instrument/child.ts'
import type { Bench } from '../instrument/figure.ts'
import { keep } from '../instrument/live.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import type { PgBossWorkers } from '../processes/peer-pg-boss.ts'
import { AGENTS } from './muster.ts'
import { agentNames } from './agents.ts'
import type { Contender, OpenContender, Workers } from './contender.ts'
import { takeEntries } from './entries.ts'

export const PG_BOSS_QUEUE = 'noop'

/** `work()` at its fastest without notifications: it asks no more often than twice a second. */
export const POLLING = { name: 'pg-boss work()', useListenNotify: false, work: { pollingIntervalSeconds: 0.5 } } as const
export const NOTIFIED = { name: 'pg-boss notify', useListenNotify: true, work: {} } as const

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

function pgBoss({ name, useListenNotify, work }: { name: string; useListenNotify: boolean; work: WorkOptions }): Contender {
  return {
    name,
    async open(bench: Bench, workers: Workers): Promise<OpenContender> {
      const database = await bench.server.emptyDatabase()
      await installPgBoss(database, { notify: useListenNotify })
      const worker = await startPgBossWorker(bench, database, { ...workers, useListenNotify, work })
      const producer = await startPgBossProducer(bench, database)
      const agents = agentNames(AGENTS)
      return keep(
        {
          database,
          load: (perSecond: number, seconds: number) => producer.call<Awaited<ReturnType<OpenContender['load']>>>('load', { perSecond, seconds, agents }),
          async preload(count: number) {
            await seedPgBoss(database, count, AGENTS)
            // One small job that wakes the workers, which ask again at once while there is more.
            if (useListenNotify) await producer.call('spawn', { count: 1, agents })
          },
          entries: (count: number) => takeEntries([worker], count),
        },
        async () => {
          await producer[Symbol.asyncDispose]()
          await worker[Symbol.asyncDispose]()
          await database[Symbol.asyncDispose]()
        },
      )
    },
  }
}

export const pgBossPolling = pgBoss(POLLING)
export const pgBossNotified = pgBoss(NOTIFIED)
