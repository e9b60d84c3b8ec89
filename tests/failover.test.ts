import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LocalPostgres } from '@muster/local-postgres'
import type { TestDatabase } from '@muster/testing'
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Child } from './harness/child.ts'
import { startOwnPostgres } from './harness/own-postgres.ts'
import { type Standby, startStandby } from './harness/standby.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { Subtask } from './harness/wire.ts'

let primary: LocalPostgres
let standby: Standby
let database: TestDatabase
let system: System

beforeEach(async () => {
  const own = await startOwnPostgres()
  primary = own.server
  standby = await startStandby(primary)
  const both = (url: string) => url.replace(/(@[^/]+)/, `$1,127.0.0.1:${standby.server.port}`)
  database = {
    ...own.database,
    appUrl: both(own.database.appUrl),
    adminUrl: both(`${own.database.adminUrl}?target_session_attrs=read-write`),
    async drop() {
      await standby.remove()
      await own.database.drop()
    },
  }
})
afterEach(() => system.close())

/** Without limits of the project, which the load would meet. */
const UNLIMITED = { SUBTASK_PROJECT_MAX_PENDING: '0', SUBTASK_PROJECT_MAX_CONCURRENT: '0' }

/** Spawns for outside workers, without a pause, until it is ended. Answers other than 202 have to be 503. */
function startLoad({ client }: System): { accepted: string[]; end(): Promise<void> } {
  const accepted: string[] = []
  let isOver = false
  const lanes = Array.from({ length: 2 }, async (_, lane) => {
    for (let place = 0; !isOver; place += 1) {
      const agent = `agent-${lane}-${place}`
      const { status, body } = await client.call<Pick<Subtask, 'id'>>('POST', '/subtasks', { body: { task: 'Wait.', runner: 'external', agent_id: agent } })
      if (status === 202) accepted.push(body.id)
      else expect(status).toBe(503)
    }
  })
  return {
    accepted,
    async end() {
      isOver = true
      await Promise.all(lanes)
    },
  }
}

/** Kills the primary under load, and promotes the standby. Resolves once subtasks are accepted there. */
async function failOver({ accepted }: { accepted: string[] }): Promise<void> {
  await until('subtasks are accepted', () => accepted.length > 20)
  await primary.kill()
  const before = accepted.length
  await standby.promote()
  await until('subtasks are accepted at the standby', () => accepted.length > before + 20)
}

async function storedOf(ids: readonly string[]): Promise<number> {
  return (await system.admin`select from subtasks where id = any(${ids as string[]})`).length
}

describe('a primary that is killed under load', () => {
  it('with a synchronous standby costs nothing that was accepted, and what runs goes on; when it comes back it accepts nothing', {
    timeout: 180_000,
  }, async () => {
    const admin = postgres(primary.adminUrl, { max: 1 })
    await admin`alter system set synchronous_standby_names = '*'`
    await admin`select pg_reload_conf()`
    await admin.end()
    system = await startSystem({ database, env: UNLIMITED })
    const held = await system.client.spawn({ task: 'Hold over a failover.', runner: 'hold', parent_session_id: 'failover' })
    await system.ledger.written(held.id, 'start', 1)

    const load = startLoad(system)
    await failOver(load)
    await load.end()
    expect(await storedOf(load.accepted)).toBe(load.accepted.length)
    system.ledger.release(held.id)
    expect(await system.client.ended(held.id)).toMatchObject({ status: 'completed', attempt: 1 })
    expect(await system.invariants()).toEqual([])

    for (const { child } of [...system.apis, ...system.workers]) await child.end('SIGTERM')
    await primary.restart()
    const old = postgres(primary.adminUrl, { max: 2, onnotice: () => {} })
    const write = old`create table of_the_old_primary ()`
    write.catch(() => {})
    await until(
      'the commit at the old primary waits for a standby',
      async () => (await old`select from pg_stat_activity where wait_event = 'SyncRep'`).length === 1,
    )
    await primary.kill()
    await expect(write).rejects.toThrow()
    await old.end({ timeout: 0 })
  })

  it('with an asynchronous standby loses what the standby had not received; workers notice, and start nothing until an operator has decided', {
    timeout: 180_000,
  }, async () => {
    system = await startSystem({ database, env: UNLIMITED })
    const heartbeat = async () => (JSON.parse(await readFile(join(system.folder, 'heartbeat'), 'utf8')) as { beat: number }).beat
    const kept = await system.client.spawn({ task: 'Hold.', runner: 'hold' })
    await system.ledger.written(kept.id, 'start', 1)
    const load = startLoad(system)
    await until('subtasks are accepted', () => load.accepted.length > 20)
    const known = [...load.accepted]
    await standby.disconnect()
    const beat = await heartbeat()
    await until('the worker has counted on', async () => (await heartbeat()) > beat)

    const counted = load.accepted.length
    await failOver(load)
    await load.end()
    const stored = await storedOf(load.accepted)
    expect(await storedOf(known)).toBe(known.length)
    expect(stored).toBeLessThan(load.accepted.length)
    expect(stored).toBeGreaterThan(load.accepted.length - counted)

    system.expectError(/The database was restored/)
    const [worker] = system.workers
    await worker?.child.line(({ fields }) => String(fields.msg).startsWith('The database was restored'))
    const restored = new Child({
      name: 'restored',
      argv: [process.execPath, 'scripts/restored.ts', '--go-on'],
      env: { PATH: process.env.PATH, DATA_DIR: system.folder, DATABASE_URL: database.appUrl, MIGRATE_DATABASE_URL: database.adminUrl },
    })
    expect((await restored.exited).code, restored.text).toBe(0)
    expect(restored.text).toContain(`subtask ${kept.id}`)
    system.ledger.release(kept.id)
    expect(await system.client.ended(kept.id)).toMatchObject({ status: 'completed' })
  })
})
