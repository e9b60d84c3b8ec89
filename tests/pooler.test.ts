import { type TestDatabase, testDatabase } from '@muster/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { Child } from './harness/child.ts'
import type { Client } from './harness/client.ts'
import { type Pooler, type PoolerOptions, startPooler } from './harness/pooler.ts'
import { mainOf, type System, startSystem } from './harness/system.ts'

let database: TestDatabase
let pooler: Pooler
let system: System | undefined

async function open(options: PoolerOptions): Promise<void> {
  database = await testDatabase()
  pooler = await startPooler(database.appUrl, options)
}

afterEach(async () => {
  if (system === undefined) await database.drop()
  else await system.close()
  system = undefined
  await pooler.stop()
})

/** Background work that is steered, survives its worker, and is delivered once; and work that is cancelled. */
async function goOnAJourney(running: System, client: Client): Promise<void> {
  const { ledger } = running
  const { id } = await client.spawn({ task: 'Hold behind a pooler.', runner: 'hold', parent_session_id: 'journey', max_attempts: 2 })
  await ledger.written(id, 'start', 1)
  await client.steer(id, 'Leave out the tests.')
  await ledger.written(id, 'update', 1)
  await running.workerOf((await client.get(id)).worker_id).child.end('SIGKILL')
  await running.startWorker()
  await ledger.written(id, 'start', 2)
  ledger.release(id)
  expect(await client.ended(id)).toMatchObject({ status: 'completed', attempt: 2, result: expect.stringContaining('Held in attempt 2.') })
  expect(await client.inbox('journey')).toMatchObject([{ subtask_id: id, status: 'completed' }])
  expect(await client.inbox('journey')).toEqual([])
  expect(await client.inject('journey')).toMatchObject({ items: [] })

  const cancelled = await client.spawn({ task: 'Hold until cancelled.', runner: 'hold' })
  await ledger.written(cancelled.id, 'start', 1)
  await client.cancel(cancelled.id)
  expect(await client.ended(cancelled.id)).toMatchObject({ status: 'cancelled' })
}

describe('with DATABASE_DIRECT_URL beside a pooler', () => {
  it.each<[string, PoolerOptions, string]>([
    ['in transaction mode', { mode: 'transaction', sessionsMax: 2 }, ''],
    ['in session mode, with prepared statements', { mode: 'session', sessionsMax: 40 }, '?prepare=true'],
  ])('%s the work is started, steered, taken over, delivered once and cancelled', async (_, options, parameters) => {
    await open(options)
    system = await startSystem({ database, env: { AUTH: 'keys', DATABASE_URL: `${pooler.url}${parameters}`, DATABASE_DIRECT_URL: database.appUrl } })
    const client = system.client.as((await system.mintKey()).key)
    await goOnAJourney(system, client)

    const spawned = await Promise.all(
      Array.from({ length: 20 }, (_, place) => client.spawn({ task: `Task ${place}.`, runner: 'append', agent_id: `agent-${place}` })),
    )
    for (const { id } of spawned) expect(await client.ended(id)).toMatchObject({ status: 'completed' })
    const [used] = await system.admin`
      select count(*)::int as sessions from pg_stat_activity where datname = current_database() and application_name in ('muster-api', 'muster-worker')`
    expect(used?.sessions).toBeGreaterThan(0)
    expect(used?.sessions).toBeLessThanOrEqual(options.sessionsMax)
    expect(await system.invariants()).toEqual([])
  })
})

describe('without DATABASE_DIRECT_URL', () => {
  const IGNORING = 'ignore_startup_parameters = role, statement_timeout, idle_in_transaction_session_timeout, plan_cache_mode, enable_bitmapscan'

  it.each<[string, string[]]>([
    ['that refuses the settings of a session', []],
    ['that drops the settings of a session', [IGNORING]],
  ])('a start at a pooler %s is refused, and the message says what to do', async (_, more) => {
    await open({ mode: 'transaction', sessionsMax: 2, more })
    const env = { PATH: process.env.PATH, DATABASE_URL: pooler.url, AUTH: 'open', PORT: '0', DATA_DIR: '/tmp' }
    const children = (['api', 'worker'] as const).map((app) => new Child({ name: app, argv: [process.execPath, mainOf(app)], env }))
    for (const child of children) {
      expect((await child.exited).code).toBe(1)
      expect(child.text).toContain(
        `DATABASE_URL leads to a connection pooler at ${new URL(pooler.url).host}, behind which a session keeps none of its settings: set DATABASE_DIRECT_URL`,
      )
    }
  })
})

it('a start is refused where both addresses lead to different databases', async () => {
  await open({ mode: 'transaction', sessionsMax: 2 })
  const other = await testDatabase()
  const env = { PATH: process.env.PATH, DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: other.appUrl, AUTH: 'open', PORT: '0', DATA_DIR: '/tmp' }
  const child = new Child({ name: 'api', argv: [process.execPath, mainOf('api')], env })
  expect((await child.exited).code).toBe(1)
  expect(child.text).toContain('DATABASE_URL and DATABASE_DIRECT_URL lead to different databases')
  await other.drop()
})
