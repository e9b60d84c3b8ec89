import { randomBytes, randomUUID } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { receivers, transaction } from '@muster/db'
import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../testing/api.ts'

let api: TestApi
let key: string

beforeAll(async () => {
  api = await startApi(await testDatabase(), { SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}` })
  key = await api.key(['admin'])
})
afterAll(() => api.close())

describe('X-Request-Id', () => {
  it('is the one that the caller sent, also in a problem', async () => {
    const answer = await api.call('GET', '/tasks/none', { key, headers: { 'x-request-id': 'trace/42.a' } })
    expect(answer.headers['x-request-id']).toBe('trace/42.a')
    expect(answer.body.request_id).toBe('trace/42.a')
  })

  it.each(['', 'with blank', 'a"b', 'x'.repeat(129), 'ü'])('is a new one for %j', async (sent) => {
    const answer = await api.call('GET', '/healthz', { headers: { 'x-request-id': sent } })
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('the rate limit', () => {
  it('stands in the headers of the draft, beside the older ones', async () => {
    const { headers } = await api.call('GET', '/tasks', { key })
    expect(headers['ratelimit-policy']).toBe('"default";q=50000;w=10')
    expect(headers.ratelimit).toMatch(/^"default";r=\d+;t=\d+$/)
    expect(headers['x-ratelimit-limit']).toBe('50000')
  })
})

describe('a list', () => {
  it('links its next page with the same filters, and none on the last', async () => {
    for (const title of ['one', 'two', 'three']) await api.call('POST', '/tasks', { key, body: { title, instructions: 'Count.', priority: 'high' } })
    const titles: string[] = []
    let path: string | undefined = '/tasks?limit=2&priority=high'
    while (path !== undefined) {
      const page = await api.call('GET', path, { key })
      titles.push(...page.body.items.map(({ title }: { title: string }) => title))
      path = /^<([^>]+)>; rel="next"$/.exec(String(page.headers.link ?? ''))?.[1]
    }
    expect(titles).toEqual(['three', 'two', 'one'])
  })
})

describe('gzip', () => {
  const gzip = { 'accept-encoding': 'gzip' }

  it('compresses answers above 1 KB for callers who accept it', async () => {
    const plain = await api.app.inject({ url: '/openapi.json' })
    const compressed = await api.app.inject({ url: '/openapi.json', headers: gzip })
    expect(plain.headers).toMatchObject({ vary: 'accept-encoding' })
    expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' })
    expect(gunzipSync(compressed.rawPayload).toString()).toBe(plain.body)
    expect(compressed.rawPayload.byteLength).toBeLessThan(plain.rawPayload.byteLength / 4)
    expect(Number(compressed.headers['content-length'])).toBe(compressed.rawPayload.byteLength)
  })

  it('leaves short answers and those with a secret as they are', async () => {
    expect((await api.app.inject({ url: '/healthz', headers: gzip })).headers).not.toHaveProperty('content-encoding')
    const authorization = `Bearer ${key}`
    const task = await api.call('POST', '/tasks', { key, body: { title: 'Count', instructions: 'x'.repeat(5_000) } })
    const read = await api.app.inject({ url: `/tasks/${task.body.id}`, headers: { ...gzip, authorization } })
    expect(read.headers).toMatchObject({ 'content-encoding': 'gzip', etag: '"1"' })
    const assign = await api.app.inject({
      method: 'POST',
      url: `/tasks/${task.body.id}/assign`,
      headers: { ...gzip, authorization },
      payload: { subagent_session_id: 'writer' },
    })
    expect(assign.json().subagent_credential).toMatch(/^m/)
    expect(assign.headers).not.toHaveProperty('content-encoding')
  })
})

describe('application/merge-patch+json', () => {
  const headers = { 'content-type': 'application/merge-patch+json' }

  it('is taken by PATCH, and by nothing else', async () => {
    const task = await api.call('POST', '/tasks', { key, body: { title: 'Count', instructions: 'Count.' } })
    const patched = await api.call('PATCH', `/tasks/${task.body.id}`, { key, raw: '{"title":"Count all"}', headers: { ...headers, 'if-match': '"1"' } })
    expect(patched).toMatchObject({ status: 200, body: { task: { title: 'Count all' } } })
    expect((await api.call('POST', '/tasks', { key, raw: '{"title":"x","instructions":"x"}', headers })).status).toBe(415)
  })

  it('removes a field with null, and refuses null where there is nothing to remove', async () => {
    const task = await api.call('POST', '/tasks', { key, body: { title: 'Count', instructions: 'Count.', metadata: { a: 1 }, priority: 'urgent' } })
    const patch = (raw: string, revision: number) =>
      api.call('PATCH', `/tasks/${task.body.id}`, { key, raw, headers: { ...headers, 'if-match': `"${revision}"` } })
    expect((await patch('{"metadata":null,"priority":null}', 1)).body.task).toMatchObject({ metadata: {}, priority: 'normal' })
    const schedule = await api.call('POST', '/schedules', { key, body: { task: 'x', every: '2 hours' } })
    const refused = await api.call('PATCH', `/schedules/${schedule.body.id}`, { key, raw: '{"notify":null}', headers })
    expect(refused.body).toMatchObject({ status: 400, errors: [{ pointer: '/notify' }] })
    expect((await api.call('PATCH', `/schedules/${schedule.body.id}`, { key, raw: '{"notify":null}' })).status).toBe(200)
  })

  describe('reaches into objects', () => {
    const patch = (path: string, body: object, more: Record<string, string> = {}) =>
      api.call('PATCH', path, { key, raw: JSON.stringify(body), headers: { ...headers, ...more } })

    it('of a task: members are merged at every level, null removes one, a list replaces the whole list', async () => {
      const body = {
        ...{
          title: 'Count',
          instructions: 'Count.',
          budget: { max_tokens: 1_000, max_cost_usd: 2 },
          success_criteria: { criteria: ['One is counted'], all_required: false },
        },
        metadata: { team: { name: 'docs', room: 4 }, tags: ['a', 'b'], note: 'x', empty: null },
      }
      const { id } = (await api.call('POST', '/tasks', { key, body })).body
      const change = {
        metadata: { team: { room: null, lead: 'Ada' }, tags: ['c'], note: null, more: { deep: { left: 1, out: null } } },
        ...{ budget: { max_tokens: null }, success_criteria: { criteria: ['All are counted'] } },
      }
      const { body: changed, status } = await patch(`/tasks/${id}`, change, { 'if-match': '"1"' })
      expect(status).toBe(200)
      expect(changed.task).toMatchObject({
        metadata: { team: { name: 'docs', lead: 'Ada' }, tags: ['c'], empty: null, more: { deep: { left: 1 } } },
        budget: { max_tokens: null, max_cost_usd: 2 },
        task_context: { success_criteria: { criteria: ['All are counted'], all_required: false } },
      })
      expect(changed.task.metadata).not.toHaveProperty('note')
      expect(changed.task.metadata.team).not.toHaveProperty('room')
      // What is merged is checked as a whole, and the revision as before.
      expect((await patch(`/tasks/${id}`, { budget: { max_tokens: 'many' } }, { 'if-match': '"2"' })).body).toMatchObject({
        errors: [{ pointer: '/budget/max_tokens' }],
      })
      expect((await patch(`/tasks/${id}`, { metadata: { a: 1 } }, { 'if-match': '"1"' })).body).toMatchObject({
        status: 412,
        code: 'revision_stale',
        revision: 2,
      })
      expect((await patch(`/tasks/${id}`, { metadata: { a: 1 } })).body).toMatchObject({ status: 428 })
    })

    it('of a schedule', async () => {
      const body = { task: 'x', every: '2 hours', budget: { max_steps: 7, max_tokens: 100 }, metadata: { a: { b: 1 } } }
      const { id } = (await api.call('POST', '/schedules', { key, body })).body
      const { body: changed } = await patch(`/schedules/${id}`, { budget: { max_tokens: 200 }, metadata: { a: { c: 2 } } })
      expect(changed).toMatchObject({ budget: { max_steps: 7, max_tokens: 200, max_cost_usd: null }, metadata: { a: { b: 1, c: 2 } } })
      expect((await patch(`/schedules/${id}`, { budget: { max_steps: null } })).body).toMatchObject({ budget: { max_steps: 50, max_tokens: 200 } })
      expect((await patch(`/schedules/${id}`, { callback: { secret: null } })).body).toMatchObject({
        status: 400,
        errors: [{ pointer: '/callback/url', reason: 'is required' }],
      })
    })

    it('of the callback of a schedule, although no answer shows it', async () => {
      const callback = { url: 'https://example.com/runs', secret: `whsec_${randomBytes(24).toString('base64')}` }
      const { id } = (await api.call('POST', '/schedules', { key, body: { task: 'x', every: '2 hours', callback } })).body
      const stored = async () => {
        const [found] = await transaction(api.deps.db, DEFAULT_PROJECT_ID, (tx) => receivers.listCallbacks(tx, DEFAULT_PROJECT_ID, [id]))
        return { url: found?.url, isSigned: found?.secret !== null }
      }
      const url = 'https://example.com/moved'
      expect((await patch(`/schedules/${id}`, { callback: { url } })).status).toBe(200)
      expect(await stored()).toEqual({ url, isSigned: true })
      expect((await patch(`/schedules/${id}`, { callback: { secret: null } })).status).toBe(200)
      expect(await stored()).toEqual({ url, isSigned: false })
      expect((await patch(`/schedules/${id}`, { callback: { secret: callback.secret } })).status).toBe(200)
      expect(await stored()).toEqual({ url, isSigned: true })
      expect((await api.call('PATCH', `/schedules/${id}`, { key, body: { callback: { url } } })).status).toBe(200)
      expect(await stored()).toEqual({ url, isSigned: false })
    })

    it('of the settings of a project', async () => {
      const path = `/projects/${DEFAULT_PROJECT_ID}`
      await api.call('PATCH', path, {
        key,
        body: { settings: { timezone: 'Europe/Berlin', limits: { pending: 50, agents: { one: { running: 1 }, two: { running: 2 } } } } },
      })
      const { body } = await patch(path, { settings: { timezone: null, limits: { agents: { two: null, three: { pending: 3 } } } } })
      expect(body.settings).toEqual({ limits: { pending: 50, agents: { one: { running: 1 }, three: { pending: 3 } } } })
      expect((await patch(path, { settings: { limits: { pending: 'many' } } })).body).toMatchObject({ errors: [{ pointer: '/settings/limits/pending' }] })
      await api.call('PATCH', path, { key, body: { settings: {} } })
    })

    it('of a guide, and refuses null for a member that has to be there', async () => {
      const guide = { id: 'merged', title: 'T', content: 'C', patterns: ['merged-pattern'], applicability: { technologies: ['node'] } }
      await api.call('POST', '/tsgs', { key, body: guide })
      expect((await patch('/tsgs/merged', { applicability: { technologies: ['go'] } })).body.applicability).toEqual({ technologies: ['go'] })
      const refused = await patch('/tsgs/merged', { applicability: { technologies: null } })
      expect(refused.body).toMatchObject({ status: 400, errors: [{ pointer: '/applicability/technologies', reason: 'is required' }] })
    })

    it('of nothing where no field is an object', async () => {
      const refused = await patch('/webhooks/0198c9b0-0000-7000-8000-00000000000b', { description: { a: 1 } })
      expect(refused.body).toMatchObject({ status: 400, errors: [{ pointer: '/description' }] })
    })

    it('while others change the same object, without losing what they wrote', async () => {
      const { id } = (await api.call('POST', '/schedules', { key, body: { task: 'x', every: '2 hours' } })).body
      await Promise.all(['a', 'b', 'c', 'd'].map((name) => patch(`/schedules/${id}`, { metadata: { [name]: 1 } })))
      expect((await api.call('GET', `/schedules/${id}`, { key })).body.metadata).toEqual({ a: 1, b: 1, c: 1, d: 1 })
    })
  })
})

describe('a former name of a parameter', () => {
  const AGES = { deprecation: expect.stringMatching(/^@\d{10}$/), sunset: expect.stringMatching(/ GMT$/) }

  it.each([
    ['/tasks', 'parent_session', 'parent_session_id', 'old names'],
    ['/tasks', 'subagent_session', 'subagent_session_id', 'old names'],
    ['/subtasks', 'session', 'parent_session_id', 'old names'],
    ['/questions', 'session', 'session_id', 'old names'],
    ['/questions', 'task', 'task_id', randomUUID()],
    ['/evaluations/stats', 'from', 'since', '2026-03-02T00:00:00Z'],
  ])('of %s, %s, means %s, and the answer says until when', async (path, former, present, value) => {
    const old = await api.call('GET', `${path}?${new URLSearchParams({ [former]: value })}`, { key })
    const now = await api.call('GET', `${path}?${new URLSearchParams({ [present]: value })}`, { key })
    expect(old.status).toBe(200)
    expect(old.headers).toMatchObject(AGES)
    expect(now.headers).not.toHaveProperty('deprecation')
    expect({ ...old.body, until: null, to: null }).toEqual({ ...now.body, until: null, to: null })
  })

  it('filters, and leads to the next page', async () => {
    for (const title of ['one', 'two']) await api.call('POST', '/tasks', { key, body: { title, instructions: 'Count.', parent_session_id: 'reads on' } })
    await api.call('POST', '/tasks', { key, body: { title: 'other', instructions: 'Count.' } })
    const first = await api.call('GET', '/tasks?limit=1&parent_session=reads+on', { key })
    const next = await api.call('GET', /^<([^>]+)>; rel="next"$/.exec(String(first.headers.link))?.[1] ?? '', { key })
    expect([...first.body.items, ...next.body.items].map(({ title }) => title)).toEqual(['two', 'one'])
    expect(next.headers).toMatchObject(AGES)
    expect(next.body.next_cursor).toBeNull()
  })

  it('may be one of a value: priorities of tasks', async () => {
    const { body: task } = await api.call('POST', '/tasks', {
      key,
      body: { title: 'former', instructions: 'Count.', priority: 'P1', parent_session_id: 'former value' },
    })
    expect(task.priority).toBe('high')
    const old = await api.call('GET', '/tasks?parent_session_id=former+value&priority=p1', { key })
    const now = await api.call('GET', '/tasks?parent_session_id=former+value&priority=high', { key })
    expect(old.headers).toMatchObject(AGES)
    expect(now.headers).not.toHaveProperty('deprecation')
    expect(old.body).toEqual(now.body)
    expect(now.body.items).toMatchObject([{ id: task.id, priority: 'high' }])
    expect((await api.call('GET', '/tasks?priority=P4', { key })).body.errors).toMatchObject([
      { pointer: '?priority', reason: 'must be one of low, normal, high, urgent' },
    ])
  })

  it('is refused beside the present one', async () => {
    const { body } = await api.call('GET', '/tasks?parent_session=a&parent_session_id=a', { key })
    expect(body).toMatchObject({
      status: 400,
      errors: [{ pointer: '?parent_session', reason: 'is the former name of parent_session_id; give one of them' }],
    })
  })

  it('is deprecated in the reference, as are the former names of ids', async () => {
    const { paths, components } = (await api.app.inject('/openapi.json')).json()
    const former = paths['/tasks'].get.parameters.filter(({ deprecated }: { deprecated?: boolean }) => deprecated === true)
    expect(former.map(({ name }: { name: string }) => name)).toEqual(['parent_session', 'subagent_session'])
    expect(components.schemas.Question.properties).toMatchObject({ id: { format: 'uuid' }, question_id: { deprecated: true, description: 'Use `id`.' } })
  })
})

describe('the reference', () => {
  it('has a lean view with the same operations and schemas, without prose and examples', async () => {
    const full = (await api.app.inject('/openapi.json')).json()
    const answer = await api.app.inject('/openapi.json?view=lean')
    const lean = answer.json()
    expect(Object.keys(lean.paths)).toEqual(Object.keys(full.paths))
    expect(Object.keys(lean.components.schemas)).toEqual(Object.keys(full.components.schemas))
    expect(lean.components.schemas.Task.required).toEqual(full.components.schemas.Task.required)
    // A field that has the name of what is left out.
    expect(lean.components.schemas.Task.properties.description).toEqual({ type: ['string', 'null'] })
    expect(answer.body).not.toMatch(/"summary":"|"examples":\[/)
    expect(answer.body.length).toBeLessThan(JSON.stringify(full).length * 0.65)
    expect((await api.app.inject('/openapi.json?view=fat')).json()).toMatchObject({ code: 'validation_failed', status: 400 })
  })

  // It grows with every endpoint: a description that says nothing new costs each reader.
  it('is at most 300,000 bytes as YAML', async () => {
    expect(Buffer.byteLength((await api.app.inject('/openapi.yaml')).body)).toBeLessThanOrEqual(300_000)
  })
})
