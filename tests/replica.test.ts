import { randomBytes } from 'node:crypto'
import type { LocalPostgres } from '@muster/local-postgres'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { EventStream } from './harness/event-stream.ts'
import { startOwnPostgres } from './harness/own-postgres.ts'
import { type Standby, startStandby } from './harness/standby.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'

let primary: LocalPostgres
let standby: Standby
let system: System
let readUrl: string

beforeEach(async () => {
  const own = await startOwnPostgres()
  primary = own.server
  standby = await startStandby(primary)
  readUrl = own.database.appUrl.replace(`:${new URL(primary.adminUrl).port}/`, `:${standby.server.port}/`)
  const database = {
    ...own.database,
    async drop() {
      await standby.remove()
      await own.database.drop()
    },
  }
  system = await startSystem({ database, workers: 0, env: { DATABASE_READ_URL: readUrl, SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}` } })
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
  const { id: webhook } = await system.client.ok<{ id: string }>('POST', '/webhooks', { body: { url: 'https://example.com/hook', events: ['*'] } })
  const elsewhere: string[] = []
  const isAtStandby = async (path: string, read: () => Promise<number>) => {
    const before = await countsOf()
    const status = await read()
    const { standby: count = 0, failed } = await countsOf()
    if (status !== 200 || failed !== before.failed) elsewhere.push(`${path}: status ${status}, failed ${failed}`)
    return status !== 200 || count > (before.standby ?? 0)
  }
  for (const path of [
    ...['/tasks', '/stats', '/schedules', '/questions', '/evaluations', '/evaluations/stats', '/audit', '/audit/export', '/usage', '/tsgs'],
    ...['/memory/search?q=wait', '/webhooks', '/deliveries', `/webhooks/${webhook}/deliveries`],
    ...['/sessions/s/messages', `/subtasks/${id}/steps`, `/subtasks/${id}/prompts`, `/subtasks/${id}/updates`],
  ]) {
    await until(`${path} is answered by the standby`, () => isAtStandby(path, async () => (await system.client.call('GET', path)).status), 10_000)
  }
  await until('events are read at the standby', () =>
    isAtStandby('/events', async () => {
      const stream = await EventStream.open(system.client, '/events?after=0')
      await until('an event has come', () => stream.events.length > 0)
      await stream.close()
      return 200
    }),
  )
  expect(elsewhere).toEqual([])
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

it('a standby that still follows the old primary is not used after a failover, however far it is', { timeout: 180_000 }, async () => {
  const next = await startStandby(primary)
  const databaseUrl = system.database.appUrl.replace(/(@[^/]+)/, `$1,127.0.0.1:${next.server.port}`)
  const api = await system.startApi({ DATABASE_URL: databaseUrl, DATABASE_READ_URL: readUrl })
  await primary.kill()
  await next.promote()
  const created = await until('a subtask is accepted at the new primary', async () => {
    const answer = await api.client.call<{ id: string }>('POST', '/subtasks', { body: { task: 'Wait.', runner: 'external' } })
    return answer.status === 202 ? answer.body.id : undefined
  })
  const { body } = await api.client.call<{ items: { id: string }[] }>('GET', '/subtasks')
  expect(body.items.map(({ id }) => id)).toContain(created)
  // On a busy machine, the first looks may find that the standby does not answer in time.
  await until('the API says why it does not use the standby', async () => {
    const ready = (await (await fetch(new URL('/readyz', api.address))).json()) as { parts: { database: { status: string; detail: string } } }
    expect(ready.parts.database.status).toBe('degraded')
    return ready.parts.database.detail.includes('another timeline')
  })
  await next.remove()
  await primary.restart()
})
