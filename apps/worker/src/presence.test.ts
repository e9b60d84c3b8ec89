import { type Harness, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDeps, type WorkerDeps } from './deps.ts'
import { Peers } from './peers.ts'
import { startPresence } from './presence.ts'

let harness: Harness
let deps: WorkerDeps

beforeAll(async () => {
  harness = await startHarness()
  const settings = { ...harness.deps.settings, DATABASE_URL: harness.database.appUrl }
  deps = createDeps({ settings, environment: {}, log: harness.log, runners: new Map() })
})

afterAll(async () => {
  await deps.close()
  await harness.close()
})

const rows = (id: string) => harness.admin`select id from muster_system.workers where id = ${id}`
const locks = () => harness.admin<{ pid: number }[]>`
  select pid from pg_locks where locktype = 'advisory' and classid = 7301 and granted
    and database = (select oid from pg_database where datname = current_database()) order by objid desc`

/** Deps whose first statements outside of transactions find their connection lost. */
function losing(times: number): WorkerDeps {
  let left = times
  const sql = new Proxy(deps.dispatchDb.sql, {
    apply(target, self, parts) {
      if (left === 0) return Reflect.apply(target as never, self, parts)
      left -= 1
      return Promise.reject(Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' }))
    },
  })
  return { ...deps, workerId: harness.deps.newId(), dispatchDb: { ...deps.dispatchDb, sql } }
}

describe('the presence of a worker', () => {
  it('is a row and a session lock, and both are gone when it has signed off', async () => {
    const presence = await startPresence(deps, new Peers(deps.workerId))
    expect(await rows(deps.workerId)).toHaveLength(1)
    expect(await locks()).toHaveLength(1)
    await presence.stop()
    expect(await rows(deps.workerId)).toHaveLength(0)
  })

  it('takes its lock again when its connection was lost', async () => {
    const again = { ...deps, workerId: harness.deps.newId() }
    const presence = await startPresence(again, new Peers(again.workerId))
    const [before] = await locks()
    await harness.admin`select pg_terminate_backend(${before?.pid as number})`
    // By another connection: the one that was ended may be seen to hold it for a while yet.
    await expect.poll(async () => (await locks()).some(({ pid }) => pid !== before?.pid), { timeout: 5_000 }).toBe(true)
    await presence.stop()
  })

  it('signs off although its connection is lost just then', async () => {
    const worker = losing(2)
    const presence = await startPresence(worker, new Peers(worker.workerId))
    await presence.stop()
    expect(await rows(worker.workerId)).toHaveLength(0)
  })

  it('leaves no row behind when it loses its connection before it has its lock', async () => {
    const worker = { ...deps, workerId: harness.deps.newId() }
    let statements = 0
    const sql = new Proxy(deps.presence.sql, {
      apply(target, self, parts) {
        statements += 1
        return statements === 2 ? Promise.reject(Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' })) : Reflect.apply(target as never, self, parts)
      },
    })
    await expect(startPresence({ ...worker, presence: { ...deps.presence, sql } }, new Peers(worker.workerId))).rejects.toThrow('cut')
    expect(await rows(worker.workerId)).toHaveLength(0)
  })

  it('says so when it cannot', async () => {
    const worker = losing(3)
    const presence = await startPresence(worker, new Peers(worker.workerId))
    await expect(presence.stop()).rejects.toThrow('cut')
  })
})
