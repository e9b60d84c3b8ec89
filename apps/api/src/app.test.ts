import { connect, createServer } from 'node:net'
import { testDatabase } from '@muster/testing'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startApi, type TestApi } from './testing/api.ts'

const LOCAL = { host: 'localhost:7300' }
const OK = { status: 'ok', detail: null }
const UNKNOWN = { status: 'unknown', detail: null }
const READY = {
  status: 'ready',
  reason: null,
  parts: { process: OK, database: OK, migrations: OK, writes: OK, queues: OK, relay: OK, partitions: OK, history: OK },
}

describe('the app', () => {
  let api: TestApi

  beforeAll(async () => {
    api = await startApi(await testDatabase())
  })
  afterAll(() => api.close())

  it('answers what is nowhere with a problem', async () => {
    const answer = await api.call('GET', '/nowhere?secret=1')
    expect(answer.status).toBe(404)
    expect(answer.headers['content-type']).toContain('application/problem+json')
    expect(answer.body).toMatchObject({ code: 'not_found', instance: '/nowhere', retryable: false, request_id: answer.headers['x-request-id'] })
  })

  it('says which methods a path takes', async () => {
    const answer = await api.call('PUT', '/subtasks/x/updates')
    expect(answer.status).toBe(405)
    expect(answer.headers.allow).toBe('GET, HEAD, POST')
    expect(answer.body.code).toBe('method_not_allowed')
  })

  it('answers a URL that cannot be decoded with a problem', async () => {
    expect((await api.app.inject('/subtasks/%zz')).json()).toMatchObject({ status: 400, code: 'validation_failed' })
  })

  it('gives a problem the address of its section as type', async () => {
    const { type } = (await api.call('GET', '/nowhere', { headers: LOCAL })).body
    expect(type).toBe('http://localhost:7300/docs/errors#not_found')
  })

  it('shows health, readiness, metrics and its reference without a key', async () => {
    expect((await api.call('GET', '/healthz')).body).toEqual({ status: 'ok' })
    expect((await api.call('GET', '/readyz')).body).toEqual(READY)
    const { text } = await api.call('GET', '/metrics')
    expect(text).toContain('muster_http_request_duration_seconds')
    expect(text).toContain('muster_api_process_cpu_seconds_total')
    const reference = await api.app.inject('/openapi.json')
    expect(reference.json().openapi).toBe('3.1.0')
    expect((await api.app.inject('/openapi.yaml')).body).toMatch(/^openapi: 3\.1\.0/)
  })

  it.each([
    ['a name that was made to point here', { host: 'evil.example' }],
    ['a page of another origin', { ...LOCAL, origin: 'http://evil.example' }],
  ])('403: shows no metrics to %s, unless it has a key', async (_, headers) => {
    expect((await api.call('GET', '/metrics', { headers })).body).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await api.call('GET', '/metrics', { headers, key: await api.key(['tsgs:read']) })).status).toBe(200)
  })

  it('lists the runners, one of them the default', async () => {
    const { items } = (await api.call('GET', '/runners', { key: await api.key(['subtasks:read']) })).body
    expect(items.filter((runner: { default: boolean }) => runner.default)).toMatchObject([{ name: 'external', available: true }])
  })

  it('lists what sandboxes are limited to, and why something is not', async () => {
    const base = { available: true, default: false, defaultForSubagents: false, followsDefinitions: true, missing: [], steerable: true, interruptible: true }
    const sandboxLimits = { memoryBytes: null, processes: 50, problem: 'Memory is not limited: the controller memory is not delegated to /x.' }
    using _ = vi.spyOn(api.deps, 'runners').mockReturnValueOnce([{ ...base, name: 'ai', sandbox: 'commands', sandboxLimits }])
    const { body } = await api.call('GET', '/runners', { key: await api.key(['subtasks:read']) })
    expect(body.items[0]).toMatchObject({ sandbox_limits: { memory_bytes: null, processes: 50, problem: sandboxLimits.problem } })
  })

  it('stops looking up keys for an address that has tried too many', async () => {
    const statuses = new Set<number>()
    for (let attempt = 0; attempt < 110; attempt += 1) statuses.add((await api.call('GET', '/runners', { key: 'mst_key_guess' })).status)
    expect([...statuses]).toEqual([401, 429])
  })
})

describe('an open server', () => {
  let api: TestApi

  beforeAll(async () => {
    api = await startApi(await testDatabase(), { AUTH: 'open' })
  })
  afterAll(() => api.close())

  it('names the sender of an update by the session that a caller without a key names, where it can be one', async () => {
    const created = await api.call('POST', '/subtasks', { headers: LOCAL, body: { task: 'Count the files.', runner: 'external' } })
    const note = async (headers: Record<string, string>) =>
      (await api.call('POST', `/subtasks/${created.body.id}/updates`, { headers: { ...LOCAL, ...headers }, body: { content: 'Only src/.' } })).body.sender
    expect(await note({ 'muster-session-id': 'chat-1' })).toEqual({ kind: 'open', id: 'open', name: 'chat-1' })
    expect(await note({ 'muster-session-id': 'x'.repeat(129) })).toEqual({ kind: 'open', id: 'open', name: null })
    expect(await note({})).toEqual({ kind: 'open', id: 'open', name: null })
  })

  it.each([
    ['localhost', LOCAL],
    ['127.0.0.1', { host: '127.0.0.1:7300' }],
    ['[::1]', { host: '[::1]:7300' }],
    ['its own pages', { ...LOCAL, origin: 'http://localhost:7300', 'sec-fetch-site': 'same-origin' }],
    ['an address bar', { ...LOCAL, 'sec-fetch-site': 'none' }],
  ])('takes calls from %s', async (_, headers) => {
    expect((await api.call('GET', '/subtasks', { headers })).status).toBe(200)
  })

  it.each([
    ['a name that was made to point here', { host: 'evil.example' }],
    ['a page of another origin', { ...LOCAL, origin: 'http://evil.example' }],
    ['a page on another port', { ...LOCAL, origin: 'http://localhost:3000' }],
    ['a page without an origin', { ...LOCAL, origin: 'null' }],
    ['a picture on another site', { ...LOCAL, 'sec-fetch-site': 'cross-site' }],
    ['a picture on another port', { ...LOCAL, 'sec-fetch-site': 'same-site' }],
  ])('403: refuses %s', async (_, headers) => {
    const answer = await api.call('GET', '/subtasks', { headers })
    expect(answer.status).toBe(403)
    expect(answer.body.code).toBe('forbidden')
  })

  it('401: still refuses a wrong key', async () => {
    expect((await api.call('GET', '/subtasks', { key: 'mst_key_wrong', headers: LOCAL })).status).toBe(401)
  })
})

describe('a server on other addresses than loopback', () => {
  it('shows its metrics to holders of a key, of any scope', async () => {
    const api = await startApi(await testDatabase(), { HOST: '0.0.0.0' })
    expect((await api.call('GET', '/metrics')).status).toBe(401)
    expect((await api.call('GET', '/metrics', { key: await api.key(['tsgs:read']) })).status).toBe(200)
    await api.close()
  })
})

describe('a server whose database is away', () => {
  it('503: says so everywhere, but that it is alive', async () => {
    const api = await startApi(
      { appUrl: `postgres://nobody@127.0.0.1:${await closedPort()}/nothing`, drop: async () => {} },
      { AUTH: 'open' },
      { awaitReady: false },
    )
    for (const [method, path, body] of [
      ['GET', '/subtasks', undefined],
      ['POST', '/subtasks', { task: 'x' }],
      ['POST', '/subtasks/claim', { worker_id: 'w', wait_seconds: 5 }],
      ['GET', '/events', undefined],
    ] as const) {
      const answer = await api.call(method, path, { headers: LOCAL, ...(body === undefined ? {} : { body }) })
      expect(answer.status).toBe(503)
      expect(answer.headers['retry-after']).toBe('1')
      expect(answer.body).toMatchObject({ code: 'unavailable', retryable: true })
    }
    const reason = 'The database is not reachable at the moment.'
    expect((await api.call('GET', '/readyz')).body).toMatchObject({
      status: 'not_ready',
      reason,
      parts: {
        process: { status: 'failed' },
        database: { status: 'failed', detail: reason },
        migrations: UNKNOWN,
        writes: UNKNOWN,
        queues: UNKNOWN,
        relay: UNKNOWN,
      },
    })
    expect((await api.call('GET', '/healthz')).status).toBe(200)
    await api.close()
  })
})

describe('a server on another schema than its own', () => {
  const readinessAfter = async (change: string) => {
    const database = await testDatabase()
    const api = await startApi(database, { AUTH: 'open' })
    expect((await api.call('GET', '/readyz')).body).toEqual(READY)
    const admin = postgres(database.adminUrl, { max: 1 })
    await admin.unsafe(change)
    await admin.end()
    const answer = await api.call('GET', '/readyz')
    await api.close()
    return answer
  }

  it('503: is not ready on one of which a migration is missing', async () => {
    const { status, body } = await readinessAfter(`delete from muster_migrations.applied where name = '0001_security_and_functions'`)
    expect(status).toBe(503)
    expect(body).toMatchObject({
      status: 'not_ready',
      reason: expect.stringContaining('npm run migrate'),
      parts: { process: OK, database: OK, migrations: { status: 'failed', detail: body.reason }, writes: UNKNOWN },
    })
  })

  it('503: is not ready on one without the queue of a runner', async () => {
    const { status, body } = await readinessAfter(`delete from pgboss.queue where name = 'judge'`)
    expect(status).toBe(503)
    expect(body).toMatchObject({ parts: { migrations: OK, writes: OK, queues: { status: 'failed', detail: body.reason } } })
    expect(body.reason).toContain('lacks the queues judge')
  })

  it('200: stays ready when a newer version migrates it, as in a rolling update', async () => {
    const answer = await readinessAfter(`insert into muster_migrations.applied (name) values ('9999_from_the_future')`)
    expect(answer.body).toEqual(READY)
  })

  it('200: says that the relay lags, and goes on serving', async () => {
    const lagging = `
      revoke execute on function muster_relay(integer) from public;
      alter table outbox disable row level security;
      insert into outbox (project_id, type, subject_kind, subject_id, data, actor_kind, actor_id, at)
      values ('00000000-0000-0000-0000-000000000001', 'subtask.progress', 'subtask', gen_random_uuid(), '{}', 'system', 's', now() - interval '90 seconds')`
    const { status, body } = await readinessAfter(lagging)
    expect([status, body.status, body.reason]).toEqual([200, 'ready', null])
    expect(body.parts).toMatchObject({ relay: { status: 'degraded', detail: expect.stringMatching(/^The oldest event has waited for 9\d s/) }, partitions: OK })
  })

  it('200: says that no partition is made ahead', async () => {
    const missing = `
      delete from muster_system.partitions where parent = 'events' and from_key > 0;
      select setval('muster_system.event_seq', (select max(to_key) from muster_system.partitions where parent = 'events') - 10)`
    const { status, body } = await readinessAfter(missing)
    expect([status, body.status]).toEqual([200, 'ready'])
    expect(body.parts).toMatchObject({ relay: OK, partitions: { status: 'degraded', detail: expect.stringContaining('partitions of the event log end') } })
  })
})

describe('a server that stops', () => {
  it('503: takes no further requests', async () => {
    const api = await startApi(await testDatabase(), { AUTH: 'open' })
    api.beginStop()
    const answer = await api.call('GET', '/subtasks', { headers: LOCAL })
    expect(answer.body).toMatchObject({ status: 503, code: 'unavailable' })
    expect((await api.call('GET', '/readyz')).status).toBe(503)
    await api.close()
  })

  it('does not wait for connections that were opened and never used', async () => {
    const api = await startApi(await testDatabase())
    const socket = connect(Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port), '127.0.0.1')
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
    await api.close()
    await closed
  })
})

/** A port without a listener. */
function closedPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
