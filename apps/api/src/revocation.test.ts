import { setTimeout as delay } from 'node:timers/promises'
import { testDatabase } from '@muster/testing'
import { cancelSubtask, revokeApiKey } from '@muster/usecases'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JUDGED_FOR_MS, SLOW_BODY_MS } from './plugins/auth.ts'
import { drainEvents, spawnExternal, startApi, type TestApi } from './testing/api.ts'

const PATIENCE = { timeout: 10_000 }

describe('a credential that ends while a request waits', () => {
  let api: TestApi
  let admin: postgres.Sql
  let address: string

  beforeAll(async () => {
    const database = await testDatabase()
    admin = postgres(database.adminUrl, { max: 1 })
    api = await startApi(database, { SUBTASK_MAX_PENDING: '1000' })
    address = await api.app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    await admin.end()
    await api.close()
  })

  /** A new key, and how to end it. */
  async function key(scopes: Parameters<TestApi['key']>[0]) {
    const token = await api.key(scopes)
    const [row] = await admin<{ id: string }[]>`select id from api_keys order by id desc limit 1`
    const id = row?.id ?? ''
    const end = {
      revoked: async () => void (await revokeApiKey(api.ctx, id)),
      expired: async () => void (await admin`update api_keys set expires_at = muster_now() - interval '1 second' where id = ${id}`),
    }
    return { token, end }
  }

  it.each(['revoked', 'expired'] as const)('401: a claim that waited gets no subtask once its key is %s', async (how) => {
    const { token, end } = await key(['subtasks:claim'])
    const waiting = api.call('POST', '/subtasks/claim', { key: token, body: { worker_id: 'w', wait_seconds: 30 } })
    await expect.poll(() => api.deps.runWaiters.size(), PATIENCE).toBe(1)
    await delay(2 * JUDGED_FOR_MS)
    await end[how]()
    const { id } = await spawnExternal(api.ctx)
    expect(await waiting).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    expect((await api.call('GET', `/subtasks/${id}`, { key: await api.key(['subtasks:read']) })).body).toMatchObject({ status: 'pending', attempt: 0 })
    await cancelSubtask(api.ctx, id)
  })

  it('401: a wait for the end of a subtask is not answered with it', async () => {
    const { token, end } = await key(['subtasks:read'])
    const { id } = await spawnExternal(api.ctx)
    const waiting = api.call('GET', `/subtasks/${id}?wait_seconds=30`, { key: token })
    await expect.poll(() => api.deps.endWaiters.size(), PATIENCE).toBe(1)
    await delay(2 * JUDGED_FOR_MS)
    await end.revoked()
    expect(await waiting).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
  })

  it.each(['revoked', 'expired'] as const)('ends an event stream whose key is %s, also one that is silent', async (how) => {
    const { token, end } = await key(['events:read'])
    const stream = await fetch(`${address}/events`, { headers: { authorization: `Bearer ${token}` } })
    await end[how]()
    // The server ends it before the first heartbeat.
    expect(await stream.text()).not.toContain('still here')
    await expect.poll(() => api.deps.feed.size(), PATIENCE).toBe(0)
  })

  it('ends the stream of a subtask’s credential with its attempt, and leaves those of others open', async () => {
    const other = await fetch(`${address}/events?type=task.created`, { headers: { authorization: `Bearer ${await api.key(['events:read'])}` } })
    const { id } = await spawnExternal(api.ctx, { priority: 'urgent' })
    const worker = await api.key(['subtasks:claim'])
    let claim = await api.call('POST', '/subtasks/claim', { key: worker, body: { worker_id: 'w' } })
    while (claim.body.subtask.id !== id) claim = await api.call('POST', '/subtasks/claim', { key: worker, body: { worker_id: 'w' } })
    const stream = await fetch(`${address}/events`, { headers: { authorization: `Bearer ${claim.body.credential}` } })
    await api.call('POST', `/subtasks/${id}/release`, { key: worker, body: { lease_token: claim.body.lease.token } })
    await drainEvents(api)
    expect(await stream.text()).not.toContain('still here')
    await expect.poll(() => api.deps.feed.size(), PATIENCE).toBe(1)
    await other.body?.cancel()
  })

  it('401: a body that arrived slowly does nothing once the key is revoked', async () => {
    const { token, end } = await key(['subtasks:write'])
    const body = new TransformStream<Uint8Array, Uint8Array>()
    const writer = body.writable.getWriter()
    const answer = fetch(`${address}/subtasks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body.readable,
      duplex: 'half',
    } as RequestInit)
    await writer.write(Buffer.from('{"task": "Count '))
    // Counted by the server from the moment at which it has read the headers.
    await delay(2 * SLOW_BODY_MS)
    await end.revoked()
    await writer.write(Buffer.from('the files."}'))
    await writer.close()
    expect((await answer).status).toBe(401)
  })
})
