import { randomBytes } from 'node:crypto'
import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startApi, type TestApi } from '../../testing/api.ts'

const SETTINGS = { SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}` }
const BODY = { url: 'https://example.com/hook', events: ['subtask.completed', 'task.*', 'subtask.completed'] }

let api: TestApi
let key: string

beforeAll(async () => {
  api = await startApi(await testDatabase(), SETTINGS)
  key = await api.key(['webhooks:write', 'subtasks:write', 'subtasks:read', 'tasks:write', 'tasks:read'])
})
afterAll(() => api.close())

const create = (body: object = {}, headers: Record<string, string> = {}) => api.call('POST', '/webhooks', { key, body: { ...BODY, ...body }, headers })

describe('POST /webhooks', () => {
  it('201: shows the secret, once', async () => {
    const answer = await create({ description: 'x', subject: 'guide-1', agent_id: 'a', session_id: 's', ordered: true })
    expect(answer.status).toBe(201)
    expect(answer.headers.location).toBe(`/webhooks/${answer.body.id}`)
    const { secret, ...webhook } = answer.body
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(webhook).toMatchObject({
      events: ['subtask.completed', 'task.*'],
      subject: 'guide-1',
      agent_id: 'a',
      session_id: 's',
      ordered: true,
      status: 'enabled',
    })
    const read = await api.call('GET', `/webhooks/${answer.body.id}`, { key })
    expect(read.body).toEqual(webhook)
    expect((await api.call('GET', '/webhooks', { key })).text).not.toContain(secret)
  })

  it('201: repeats the answer without the secret', async () => {
    const headers = { 'idempotency-key': 'webhook-1' }
    const [first, second] = [await create({}, headers), await create({}, headers)]
    expect(second.body).toEqual({ ...first.body, secret: null })
  })

  it('400: names a URL that cannot be reached, and events that do not exist', async () => {
    expect((await create({ url: 'http://169.254.169.254/' })).body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/url', reason: expect.stringContaining('OUTBOUND_ALLOW') }],
    })
    const answer = await create({ events: ['subtask.done', '*'] })
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/events/0'])
  })

  it('503: stores no secret without a key to encrypt it', async () => {
    const bare = await startApi(await testDatabase())
    const answer = await bare.call('POST', '/webhooks', { key: await bare.key(['admin']), body: BODY })
    expect(answer.body).toMatchObject({ status: 503, code: 'secrets_not_configured', retryable: false })
    expect((await bare.call('GET', '/webhooks', { key: await bare.key(['admin']) })).body.items).toEqual([])
    await bare.close()
  })
})

describe('/webhooks/{id}', () => {
  it('PATCH 200: changes only what is given', async () => {
    const { body: made } = await create({ description: 'before', agent_id: 'a' })
    const { secret: _, ...webhook } = made
    const changed = await api.call('PATCH', `/webhooks/${made.id}`, { key, body: { agent_id: null, ordered: true } })
    expect(changed.body).toEqual({ ...webhook, agent_id: null, ordered: true })
    const disabled = await api.call('PATCH', `/webhooks/${made.id}`, { key, body: { enabled: false } })
    expect(disabled.body).toMatchObject({ status: 'disabled', disabled_reason: 'It was disabled by a request.', disabled_at: expect.any(String) })
    const enabled = await api.call('PATCH', `/webhooks/${made.id}`, { key, body: { enabled: true } })
    expect(enabled.body).toMatchObject({ status: 'enabled', disabled_reason: null, disabled_at: null })
  })

  it('PATCH 400: refuses a URL that cannot be reached, and changes nothing', async () => {
    const { body: made } = await create()
    expect((await api.call('PATCH', `/webhooks/${made.id}`, { key, body: { url: 'http://[::1]/', description: 'x' } })).status).toBe(400)
    expect((await api.call('GET', `/webhooks/${made.id}`, { key })).body.description).toBeNull()
  })

  it('DELETE 204: and then it is not found', async () => {
    const { body: made } = await create()
    expect((await api.call('DELETE', `/webhooks/${made.id}`, { key })).status).toBe(204)
    expect((await api.call('GET', `/webhooks/${made.id}`, { key })).status).toBe(404)
  })

  it('POST rotate-secret 200: shows the new secret, and until when the one before is used', async () => {
    const { body: made } = await create()
    const rotated = await api.call('POST', `/webhooks/${made.id}/rotate-secret`, { key, body: { overlap_seconds: 60 } })
    expect(rotated.status).toBe(200)
    expect(rotated.body.secret).not.toBe(made.secret)
    expect(rotated.body.previous_secret_until).not.toBeNull()
  })
})

describe('deliveries', () => {
  it('POST test 202: is stored to be sent, and shows in the log with its body', async () => {
    const { body: made } = await create()
    const test = await api.call('POST', `/webhooks/${made.id}/test`, { key })
    expect(test.status).toBe(202)
    expect(test.body).toMatchObject({ type: 'webhook.test', status: 'pending', event_id: null, attempts: [] })
    expect(JSON.parse(test.body.body)).toMatchObject({ type: 'webhook.test', data: { webhook_id: made.id } })
    expect((await api.call('GET', test.headers.location as string, { key })).body).toEqual(test.body)
    const list = await api.call('GET', `/webhooks/${made.id}/deliveries?status=pending`, { key })
    const { body: _, ...summary } = test.body
    expect(list.body.items).toEqual([summary])
    expect((await api.call('GET', `/webhooks/${made.id}/deliveries?status=failed`, { key })).body.items).toEqual([])
  })

  it('POST redeliver 202: makes it due', async () => {
    const { body: made } = await create()
    const test = await api.call('POST', `/webhooks/${made.id}/test`, { key })
    const again = await api.call('POST', `/webhooks/${made.id}/deliveries/${test.body.id}/redeliver`, { key })
    expect([again.status, again.body.body]).toEqual([202, test.body.body])
  })

  it('GET /deliveries 200: shows those of every kind of receiver, filtered, without secrets, and sends one again', async () => {
    const secret = `whsec_${randomBytes(24).toString('base64')}`
    const { body: made } = await create()
    await api.call('POST', `/webhooks/${made.id}/test`, { key })
    const body = { task: 'x', runner: 'external', callback: { url: 'https://example.com/done?token=hidden', secret } }
    const { body: subtask } = await api.call('POST', '/subtasks', { key, body })
    await api.call('DELETE', `/subtasks/${subtask.id}`, { key })
    const list = async (query: string) => (await api.call('GET', `/deliveries?${query}`, { key })).body.items
    let found = await list('receiver_kind=slack')
    expect(found).toEqual([])
    await vi.waitFor(async () => {
      found = await list(`receiver_kind=callback&status=pending&subject=${subtask.id}&since=2020-01-01T00:00:00Z`)
      expect(found).toHaveLength(1)
    }, 10_000)
    expect(found).toMatchObject([
      { receiver: { kind: 'callback' }, subject: { kind: 'subtask', id: subtask.id }, type: 'subtask.cancelled', ended_reason: null },
    ])
    expect(await list(`subject=${subtask.id}&since=2100-01-01T00:00:00Z`)).toEqual([])
    expect(await list(`receiver_id=${found[0].receiver.id}`)).toEqual(found)
    const kinds = async (query: string) => new Set((await list(query)).map(({ receiver }: { receiver: { kind: string } }) => receiver.kind))
    expect(await kinds('')).toEqual(new Set(['webhook', 'callback']))
    expect(await kinds('status=failed')).toEqual(new Set())
    const [latest] = await list('limit=1')
    expect(latest).toEqual(found[0])
    const read = await api.call('GET', `/deliveries/${latest.id}`, { key })
    const again = await api.call('POST', `/deliveries/${latest.id}/redeliver`, { key })
    expect([again.status, again.body.body]).toEqual([202, read.body.body])
    for (const hidden of [secret, 'hidden']) expect(read.text + again.text).not.toContain(hidden)
    expect((await api.call('GET', `/deliveries/${latest.id}`, { key: await api.key(['admin'], await api.stranger()) })).status).toBe(404)
  })

  it('409: sends nothing to a webhook that was deleted, whose deliveries stay in the log', async () => {
    const { body: made } = await create()
    const test = await api.call('POST', `/webhooks/${made.id}/test`, { key })
    await api.call('DELETE', `/webhooks/${made.id}`, { key })
    const { body } = await api.call('GET', `/deliveries/${test.body.id}`, { key })
    expect(body).toMatchObject({ status: 'failed', attempts: [], ended_reason: 'The webhook was deleted.' })
    expect((await api.call('POST', `/deliveries/${test.body.id}/redeliver`, { key })).body.code).toBe('invalid_transition')
  })

  it('404: shows nothing under another webhook', async () => {
    const [{ body: one }, { body: other }] = [await create(), await create()]
    const test = await api.call('POST', `/webhooks/${one.id}/test`, { key })
    expect((await api.call('GET', `/webhooks/${other.id}/deliveries/${test.body.id}`, { key })).status).toBe(404)
    expect((await api.call('POST', `/webhooks/${other.id}/deliveries/${test.body.id}/redeliver`, { key })).status).toBe(404)
  })

  it('409: sends nothing to a webhook that is disabled', async () => {
    const { body: made } = await create()
    await api.call('PATCH', `/webhooks/${made.id}`, { key, body: { enabled: false } })
    expect((await api.call('POST', `/webhooks/${made.id}/test`, { key })).body.code).toBe('invalid_transition')
  })
})

describe('a callback', () => {
  const CALLBACK = { url: 'https://example.com/done', secret: `whsec_${randomBytes(24).toString('base64')}` }

  it('202 and 201: is taken with a subtask and a task, and its secret is shown nowhere', async () => {
    const subtask = await api.call('POST', '/subtasks', { key, body: { task: 'x', runner: 'external', callback: CALLBACK } })
    expect(subtask.status).toBe(202)
    const task = await api.call('POST', '/tasks', { key, body: { title: 'T', instructions: 'Do it.', callback: { url: CALLBACK.url } } })
    expect(task.status).toBe(201)
    const dispatched = await api.call('POST', `/tasks/${task.body.id}/dispatch`, { key, body: { runner: 'external', callback: CALLBACK } })
    expect(dispatched.status).toBe(202)
    for (const answer of [subtask, task, dispatched]) expect(answer.text).not.toContain(CALLBACK.secret)
  })

  it('400: names what is wrong with it, beside everything else of a brief', async () => {
    const bad = { url: CALLBACK.url, secret: 'whsec_short', more: 1 }
    const subtask = await api.call('POST', '/subtasks', { key, body: { task: '', callback: bad } })
    expect(subtask.body.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual(['/callback/more', '/callback/secret', '/task'])
    const task = await api.call('POST', '/tasks', { key, body: { title: 'T', callback: bad, unknown: 1 } })
    expect(task.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(
      expect.arrayContaining(['/callback/more', '/callback/secret', '/unknown', '/instructions']),
    )
    const unreachable = await api.call('POST', '/tasks', { key, body: { title: 'T', instructions: 'x', callback: { url: 'http://10.0.0.1/' } } })
    expect(unreachable.body.errors).toMatchObject([{ pointer: '/callback/url' }])
  })
})
