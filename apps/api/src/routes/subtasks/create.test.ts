import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../testing/api.ts'

describe('POST /subtasks', () => {
  let api: TestApi
  let key: string

  beforeAll(async () => {
    api = await startApi(await testDatabase(), { SUBTASK_MAX_PENDING: '1000' })
    key = await api.key(['subtasks:write', 'subtasks:read', 'subtasks:claim'])
  })
  afterAll(() => api.close())

  const create = (body: unknown, headers: Record<string, string> = {}) => api.call('POST', '/subtasks', { key, body, headers })

  describe('200, for a caller that waits', () => {
    const complete = async (agentId: string) => {
      const claimed = await api.call('POST', '/subtasks/claim', { key, body: { worker_id: 'w', wait_seconds: 5 } })
      expect(claimed).toMatchObject({ status: 200, body: { subtask: { agent_id: agentId } } })
      const { subtask, lease } = claimed.body
      const ended = { lease_token: lease.token, result: 'Counted: 7.' }
      expect((await api.call('POST', `/subtasks/${subtask.id}/complete`, { key, body: ended })).status).toBe(200)
      return subtask.id
    }

    it('has the result as soon as there is one', async () => {
      const [answer, id] = await Promise.all([create({ task: 'Count.', agent_id: 'waits', wait_seconds: 30 }), complete('waits')])
      expect(answer).toMatchObject({ status: 200, body: { id, status: 'completed', result: 'Counted: 7.', runner_reason: expect.any(String) } })
      expect(answer.headers.location).toBe(`/subtasks/${id}`)
    })

    it('waits for the same subtask when it is repeated with its key', async () => {
      const body = { task: 'Count.', agent_id: 'again', wait_seconds: 0.1 }
      const headers = { 'idempotency-key': 'count-again' }
      const first = await create(body, headers)
      expect(first.status).toBe(202)
      await complete('again')
      const second = await create(body, headers)
      expect(second).toMatchObject({ status: 200, body: { id: first.body.id, result: 'Counted: 7.' } })
      expect(second.headers['idempotent-replayed']).toBe('true')
    })
  })

  describe('202', () => {
    it('stores the subtask with the defaults and says where it is', async () => {
      const answer = await create({ task: '  Count the files.  ' })
      expect(answer.status).toBe(202)
      expect(answer.headers.location).toBe(`/subtasks/${answer.body.id}`)
      expect(answer.body).toMatchObject({
        task: 'Count the files.',
        agent_id: 'default',
        priority: 'normal',
        timeout_seconds: 120,
        notify: true,
        runner: 'external',
        max_attempts: 2,
        budget: { max_steps: 50, max_tokens: null, max_cost_usd: null },
        status: 'pending',
        session_id: `subtask-${answer.body.id}`,
      })
      const read = await api.call('GET', `/subtasks/${answer.body.id}`, { key })
      const { runner_reason, ...stored } = answer.body
      expect(runner_reason).toBe('No other runner is available: an outside worker has to claim the subtask.')
      expect(read.body).toEqual(stored)
    })

    it('is also the answer to a caller that waits and whose time is over, or that may not read subtasks', async () => {
      const startMs = performance.now()
      const late = await create({ task: 'Never claimed.', wait_seconds: 0.2 })
      expect(performance.now() - startMs).toBeGreaterThan(190)
      expect(late).toMatchObject({ status: 202, body: { status: 'pending', runner_reason: expect.any(String) } })
      const body = { task: 'Never claimed.', wait_seconds: 60 }
      expect(await api.call('POST', '/subtasks', { key: await api.key(['subtasks:write']), body })).toMatchObject({ status: 202 })
    })

    it('takes required outputs as names and as objects', async () => {
      const answer = await create({ task: 'x', required_outputs: ['a', { name: 'b', description: 'B', schema: { type: 'integer' } }] })
      expect(answer.body.required_outputs).toEqual([
        { name: 'a', description: null, schema: null },
        { name: 'b', description: 'B', schema: { type: 'integer' } },
      ])
    })

    it('counts lengths in code points', async () => {
      expect((await create({ task: '𝄞'.repeat(100_000) })).status).toBe(202)
    })

    it('keeps money exactly', async () => {
      const answer = await create({ task: 'x', budget: { max_cost_usd: 0.000123 } })
      expect(answer.body.budget.max_cost_usd).toBe(0.000123)
    })

    it('lets the agent of the key win over the one of the request', async () => {
      const bound = await api.call('POST', '/api-keys', {
        key: await api.key(['admin']),
        body: { name: 'bound', scopes: ['subtasks:write'], agent_id: 'painter' },
      })
      const answer = await api.call('POST', '/subtasks', { key: bound.body.key, body: { task: 'x', agent_id: 'other' } })
      expect(answer.body.agent_id).toBe('painter')
    })

    it('answers a repetition with the first answer', async () => {
      const headers = { 'idempotency-key': 'spawn-1' }
      const first = await create({ task: 'once' }, headers)
      const second = await create({ task: 'once' }, headers)
      expect(first.headers['idempotent-replayed']).toBeUndefined()
      expect(second.status).toBe(202)
      expect(second.headers['idempotent-replayed']).toBe('true')
      expect(second.headers.location).toBe(first.headers.location)
      expect(second.body).toEqual(first.body)
    })
  })

  describe('400', () => {
    it('names every problem at once, with what was sent', async () => {
      const answer = await create({ task: ' ', priority: 'P0', notify: 'yes', unknown: 1, required_outputs: ['a', 'a', { name: 'b', extra: true }] })
      expect(answer.status).toBe(400)
      expect(answer.body.code).toBe('validation_failed')
      expect(answer.body.errors).toEqual(
        expect.arrayContaining([
          { pointer: '/task', field: 'task', reason: 'must not be empty', value: '' },
          { pointer: '/priority', field: 'priority', reason: 'must be one of low, normal, high, urgent', value: 'P0' },
          { pointer: '/notify', field: 'notify', reason: 'must be true or false', value: 'yes' },
          expect.objectContaining({ pointer: '/unknown' }),
          expect.objectContaining({ pointer: '/required_outputs/2/extra' }),
        ]),
      )
    })

    it.each([
      ['no task', {}, '/task', 'is required'],
      ['U+0000', { task: 'a\0b' }, '/task', 'must not contain the character U+0000'],
      ['a lone surrogate', { task: 'a\ud800' }, '/task', 'must not contain lone surrogates'],
      ['U+0000 deep in metadata', { task: 'x', metadata: { a: [{ 'k\0': 1 }] } }, '/metadata', 'must not contain the character U+0000'],
      [
        'U+0000 in a schema',
        { task: 'x', required_outputs: [{ name: 'a', schema: { title: 'a\0' } }] },
        '/required_outputs/0/schema',
        'must not contain the character U+0000',
      ],
      ['a task too long', { task: 'x'.repeat(100_001) }, '/task', 'must be at most 100000 characters long, and is 100001'],
      ['too much metadata', { task: 'x', metadata: { a: 'x'.repeat(16_384) } }, '/metadata', expect.stringContaining('16 KiB')],
      ['an output named twice', { task: 'x', required_outputs: ['a', 'a'] }, '/required_outputs/1', 'names a a second time'],
      [
        'a schema that is none',
        { task: 'x', required_outputs: [{ name: 'a', schema: { type: 'nothing' } }] },
        '/required_outputs/0/schema',
        expect.stringContaining('JSON Schema'),
      ],
      [
        'a schema that refers to elsewhere',
        { task: 'x', required_outputs: ['b', { name: 'a', schema: { $ref: 'https://example.com/s' } }] },
        '/required_outputs/1/schema',
        expect.stringContaining('nothing is fetched'),
      ],
      ['an output that is a number', { task: 'x', required_outputs: [7] }, '/required_outputs/0', 'must be a text or an object'],
      ['a timeout above the limit of the server', { task: 'x', timeout_seconds: 601 }, '/timeout_seconds', expect.stringContaining('at most 600')],
      ['a session with a line break', { task: 'x', parent_session_id: 'a\nb' }, '/parent_session_id', 'must not contain control characters'],
      ['a task id that is none', { task: 'x', task_id: '7' }, '/task_id', 'must be a UUID'],
    ])('refuses %s', async (_, body, pointer, reason) => {
      const answer = await create(body)
      expect(answer.status).toBe(400)
      expect(answer.body.errors).toEqual([expect.objectContaining({ pointer, reason })])
    })

    it('cuts what it quotes to 100 characters', async () => {
      const answer = await create({ task: 'x', priority: 'p'.repeat(500) })
      expect(answer.body.errors[0].value).toBe(`${'p'.repeat(100)}…`)
    })

    it.each([
      ['broken JSON', '{"task": '],
      ['no body', ''],
      ['a list', '[]'],
      ['deep nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
      ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0x74, 0x61, 0x73, 0x6b, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
      ['a field named __proto__', '{"task":"x","metadata":{"__proto__":{"a":1}}}'],
    ])('refuses %s', async (_, raw) => {
      const answer = await api.call('POST', '/subtasks', { key, raw })
      expect(answer.status).toBe(400)
      expect(answer.body.code).toBe('validation_failed')
    })

    it('refuses an idempotency key that is too long', async () => {
      const answer = await create({ task: 'x' }, { 'idempotency-key': 'k'.repeat(256) })
      expect(answer.status).toBe(400)
      expect(answer.body.errors[0].field).toBe('Idempotency-Key')
    })
  })

  describe('403', () => {
    it('refuses a subtask that wants to spawn, whatever its scopes', async () => {
      const agent = 'claimed'
      await create({ task: 'x', agent_id: agent, priority: 'urgent' })
      const claim = await api.call('POST', '/subtasks/claim', { key, body: { worker_id: 'w' } })
      const answer = await api.call('POST', '/subtasks', { key: claim.body.credential, body: { task: 'more' } })
      expect(answer.status).toBe(403)
      expect(answer.body).toMatchObject({ code: 'spawn_blocked', title: 'SpawnBlocked' })
    })
  })

  describe('413', () => {
    it('refuses a body of more than 1 MiB', async () => {
      const answer = await create({ task: 'x'.repeat(1_048_577) })
      expect(answer.status).toBe(413)
      expect(answer.body.code).toBe('payload_too_large')
    })
  })

  describe('415', () => {
    it('reads nothing but JSON', async () => {
      const answer = await api.call('POST', '/subtasks', { key, raw: 'task=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } })
      expect(answer.status).toBe(415)
      expect(answer.body.code).toBe('unsupported_media_type')
    })
  })

  describe('422', () => {
    it('says which runners there are when it does not know the one that was named', async () => {
      const answer = await create({ task: 'x', runner: 'nobody' })
      expect(answer.status).toBe(422)
      expect(answer.body).toMatchObject({ code: 'runner_unavailable', detail: expect.stringContaining('Available: external') })
    })

    it('says what a runner lacks', async () => {
      const answer = await create({ task: 'x', runner: 'ai' })
      expect(answer.status).toBe(422)
      expect(answer.body.missing).toHaveLength(1)
    })

    it('refuses an idempotency key that was used for another request', async () => {
      const headers = { 'idempotency-key': 'spawn-2' }
      await create({ task: 'one' }, headers)
      const answer = await create({ task: 'two' }, headers)
      expect(answer.status).toBe(422)
      expect(answer.body.code).toBe('idempotency_mismatch')
    })
  })
})

describe('POST /subtasks at its limits', () => {
  it('429: accepts exactly as many as may wait', async () => {
    const api = await startApi(await testDatabase(), { AUTH: 'open' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.call('POST', '/subtasks', { body: { task: 'x' }, headers: { host: 'localhost' } })))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(5)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(15)
    expect(refused[0]?.body).toMatchObject({ code: 'pending_limit_reached', retryable: true })
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0)
    await api.close()
  })

  it('503: creates nothing before the server has made its queues, and takes the same request afterwards', async () => {
    const api = await startApi(await testDatabase())
    const name = `run.external.${api.ctx.actor.projectId}`
    const request = { key: await api.key(['subtasks:write']), body: { task: 'x', runner: 'external' }, headers: { 'idempotency-key': 'early' } }
    await api.deps.db.sql`update pgboss.queue set name = 'away' where name = ${name}`
    const early = await api.call('POST', '/subtasks', request)
    expect([early.status, early.body.code, early.headers['retry-after']]).toEqual([503, 'unavailable', '1'])
    expect(early.body.detail).toContain('The server is still starting')
    await api.deps.db.sql`update pgboss.queue set name = ${name} where name = 'away'`
    expect((await api.call('POST', '/subtasks', request)).status).toBe(202)
    await api.close()
  })

  it('503: creates nothing while subtasks are switched off', async () => {
    const api = await startApi(await testDatabase(), { SUBTASK_ENABLED: 'false' })
    const answer = await api.call('POST', '/subtasks', { key: await api.key(['subtasks:write']), body: { task: 'x' } })
    expect(answer.status).toBe(503)
    expect(answer.body.code).toBe('subtasks_disabled')
    await api.close()
  })
})
