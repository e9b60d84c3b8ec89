import type { LocalPostgres } from '@muster/local-postgres'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startOwnPostgres } from './harness/own-postgres.ts'
import { type Standby, startStandby } from './harness/standby.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'

let primary: LocalPostgres
let standby: Standby
let system: System

beforeEach(async () => {
  const own = await startOwnPostgres()
  primary = own.server
  standby = await startStandby(primary)
  const readUrl = own.database.appUrl.replace(`:${new URL(primary.adminUrl).port}/`, `:${standby.server.port}/`)
  const database = {
    ...own.database,
    async drop() {
      await standby.remove()
      await own.database.drop()
    },
  }
  system = await startSystem({ database, workers: 0, env: { DATABASE_READ_URL: readUrl } })
})
afterEach(() => system.close())

async function countsOf(): Promise<Record<string, number>> {
  const text = await (await fetch(new URL('/metrics', system.api.address))).text()
  return Object.fromEntries([...text.matchAll(/^muster_replica_reads_total\{outcome="(\w+)"\} (\d+)$/gm)].map(([, outcome, count]) => [outcome, Number(count)]))
}

async function spawn(agent = 'default'): Promise<string> {
  return (await system.client.spawn({ task: 'Wait.', runner: 'external', agent_id: agent })).id
}

async function listed(): Promise<string[]> {
  const { status, body } = await system.client.call<{ items: { id: string }[] }>('GET', '/subtasks')
  expect(status).toBe(200)
  return body.items.map(({ id }) => id)
}

const databasePart = async () =>
  ((await (await fetch(new URL('/readyz', system.api.address))).json()) as { parts: { database: { status: string; detail: string | null } } }).parts.database

it('lists, events, search and statistics are answered by the standby, and a list has what was written just before', { timeout: 120_000 }, async () => {
  for (let round = 0; round < 10; round += 1) {
    const id = await spawn(`agent-${round}`)
    expect(await listed()).toContain(id)
  }
  await until('a read went to the standby', async () => {
    await listed()
    return ((await countsOf()).standby ?? 0) > 0
  })
  const [id] = await listed()
  for (const path of [
    ...['/tasks', '/stats', '/schedules', '/questions', '/evaluations', '/evaluations/stats', '/audit', '/usage', '/tsgs', '/agents'],
    ...['/events', '/sessions/s/messages', `/subtasks/${id}/steps`, `/subtasks/${id}/updates`],
  ]) {
    await until(`${path} is answered by the standby`, async () => {
      const before = await countsOf()
      const { status } = await system.client.call('GET', path)
      expect([path, status]).toEqual([path, 200])
      const after = await countsOf()
      expect([path, after.failed]).toEqual([path, before.failed])
      return (after.standby ?? 0) > (before.standby ?? 0)
    })
  }
  expect(await standby.admin`select from pg_stat_activity where application_name = 'muster-api-read'`).not.toHaveLength(0)
})

it('while the standby replays nothing, lists have what was written just before, from the primary', { timeout: 120_000 }, async () => {
  await standby.admin`select pg_wal_replay_pause()`
  await until('replay is paused', async () => (await standby.admin`select pg_get_wal_replay_pause_state() as state`)[0]?.state === 'paused')
  const id = await spawn()
  expect(await listed()).toContain(id)
  expect(await countsOf()).toMatchObject({ standby: 0, failed: 0 })
  expect((await countsOf()).behind).toBeGreaterThan(0)
  await standby.admin`select pg_wal_replay_resume()`
  await until('a list is answered by the standby', async () => {
    expect(await listed()).toContain(id)
    return ((await countsOf()).standby ?? 0) > 0
  })
})

it('while the standby is down the primary answers lists, /readyz says so, and afterwards the standby is used again', { timeout: 120_000 }, async () => {
  await standby.server.kill()
  const id = await spawn()
  expect(await listed()).toContain(id)
  expect((await countsOf()).standby).toBe(0)
  expect(await databasePart()).toMatchObject({ status: 'degraded', detail: expect.stringContaining('DATABASE_READ_URL') })
  await standby.server.restart()
  await until('a list is answered by the standby', async () => {
    expect(await listed()).toContain(id)
    return ((await countsOf()).standby ?? 0) > 0
  })
  expect(await databasePart()).toEqual({ status: 'ok', detail: null })
})

it('a standby that was promoted is not used', { timeout: 120_000 }, async () => {
  await standby.promote()
  const id = await spawn()
  expect(await listed()).toContain(id)
  expect((await countsOf()).standby).toBe(0)
  expect(await databasePart()).toMatchObject({ status: 'degraded' })
})
