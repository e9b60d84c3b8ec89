import { randomUUID } from 'node:crypto'
import { testDatabase } from '@muster/testing'
import { authenticate, cancelSubtask, claimSubtask, rememberEpisodes } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drainEvents, spawnExternal, startApi, type TestApi } from '../../testing/api.ts'

let api: TestApi
let key: string
beforeAll(async () => {
  api = await startApi(await testDatabase())
  key = await api.key(['memory:read', 'memory:write'])
})
afterAll(() => api.close())

const learn = (body: object, as = key, headers: Record<string, string> = {}) => api.call('POST', '/memory/facts', { key: as, body, headers })
const search = (query: string, as = key) => api.call('GET', `/memory/search?${query}`, { key: as })
const get = (path: string, as = key) => api.call('GET', `/memory/${path}`, { key: as })
const remove = (path: string, as = key) => api.call('DELETE', `/memory/${path}`, { key: as })
const problem = (pointer: string, reason: unknown = expect.any(String)) => ({
  status: 400,
  code: 'validation_failed',
  errors: [expect.objectContaining({ pointer, reason })],
})

/** A subtask that was cancelled before it began: an episode of few words. */
async function episode(task: string): Promise<string> {
  const { id } = await spawnExternal(api.ctx, { task })
  await cancelSubtask(api.ctx, id)
  await drainEvents(api)
  await rememberEpisodes(api.deps)
  return id
}

/** The credential of a subtask that runs. */
let agents = 0
async function credential(): Promise<{ id: string; credential: string }> {
  await spawnExternal(api.ctx, { agentId: `worker-${++agents}` })
  const claim = await claimSubtask(api.ctx, { runner: 'external', workerId: 'outside', leaseSeconds: 60 })
  if (claim === null) throw new Error('nothing to claim')
  await authenticate(api.deps, claim.credential)
  return { id: claim.subtask.id, credential: claim.credential }
}

describe('POST /memory/facts', () => {
  describe('201', () => {
    it('keeps the fact, says where it is, and has every search find it', async () => {
      const answer = await learn({ content: '  The heron nests in the reeds. ', tags: ['birds', 'birds'] })
      expect(answer).toMatchObject({
        status: 201,
        headers: { location: `/memory/facts/${answer.body.id}` },
        body: { content: 'The heron nests in the reeds.', tags: ['birds'], agent_id: null, source_subtask_id: null, author: { kind: 'key' } },
      })
      expect((await search('q=heron')).body.items).toMatchObject([{ kind: 'fact', id: answer.body.id }])
    })

    it('names the subtask and the agent that it comes from, by the credential', async () => {
      const own = await credential()
      const { body } = await learn({ content: 'The bittern booms.', source_subtask_id: randomUUID() }, own.credential)
      expect(body).toMatchObject({ agent_id: expect.stringMatching(/^worker-\d+$/), source_subtask_id: own.id, author: { kind: 'subtask', id: own.id } })
    })

    it('answers a repetition with what it kept first', async () => {
      const headers = { 'idempotency-key': 'one fact' }
      const [first, second] = [await learn({ content: 'Once.' }, key, headers), await learn({ content: 'Once.' }, key, headers)]
      expect([second.headers['idempotent-replayed'], second.body]).toEqual(['true', first.body])
    })

    it('takes as much as is allowed', async () => {
      const tags = Array.from({ length: 20 }, (_, place) => `${10 + place}${'𝄞'.repeat(62)}`)
      expect((await learn({ content: '𝄞'.repeat(100_000), tags })).status).toBe(201)
      expect((await learn({ content: 'x'.repeat(100_000) })).status).toBe(201)
    })
  })

  it.each([
    [{}, '/content', 'is required'],
    [{ content: ' ' }, '/content', 'must not be empty'],
    [{ content: 'x'.repeat(100_001) }, '/content', expect.stringContaining('at most 100000')],
    [{ content: 'a\0b' }, '/content', expect.stringContaining('U+0000')],
    [{ content: 'x', tags: Array(21).fill('x') }, '/tags', 'must have at most 20 items'],
    [{ content: 'x', tags: ['x'.repeat(65)] }, '/tags/0', expect.stringContaining('at most 64')],
    [{ content: 'x', source_subtask_id: 'x' }, '/source_subtask_id', expect.any(String)],
    [{ content: 'x', source_subtask_id: randomUUID() }, '/source_subtask_id', 'is no subtask of this project'],
  ])('400: refuses %#', async (body, pointer, reason) => {
    expect((await learn(body)).body).toMatchObject(problem(pointer, reason))
  })
})

describe('GET /memory/search', () => {
  it('200: shows facts and episodes alike, each with what it has', async () => {
    const fact = (await learn({ content: 'The osprey fishes.', tags: ['birds'] })).body
    const id = await episode('Look for the osprey.')
    const { items } = (await search('q=osprey')).body
    expect(items).toHaveLength(2)
    const own = { agent_id: fact.agent_id, source_subtask_id: null, created_at: fact.created_at, tags: ['birds'], content: fact.content }
    expect(items).toContainEqual({
      ...{ kind: 'fact', id: fact.id, score: expect.any(Number), truncated: false },
      ...{ task: null, outcome: null, summary: null, result: null },
      ...own,
    })
    expect(items).toContainEqual({
      ...{ kind: 'episode', id, score: expect.any(Number), truncated: false, content: null, tags: [], task: 'Look for the osprey.' },
      ...{ outcome: 'cancelled', summary: null, result: null, agent_id: 'default', source_subtask_id: id, created_at: expect.any(String) },
    })
  })

  it('200: filters, and shows the beginning of what is long', async () => {
    const { body } = await learn({ content: `The avocet ${'wades '.repeat(1_000)}` })
    const { items } = (await search('q=avocet&kind=fact&limit=1')).body
    expect(items).toMatchObject([{ id: body.id, truncated: true, content: expect.stringMatching(/^The avocet .*…$/) }])
    expect((await search('q=avocet&kind=episode')).body.items).toEqual([])
    expect((await search('q=avocet&agent_id=nobody')).body.items).toEqual([])
  })

  it('200: takes any text', async () => {
    for (const q of ["'", '&|!<->', '"', '日本語', '𝄞', ':*', '%', '-', 'or']) expect((await search(`q=${encodeURIComponent(q)}`)).status).toBe(200)
  })

  it('400: refuses what is no question', async () => {
    expect((await search('q=')).body).toMatchObject(problem('?q', 'must not be empty'))
    expect((await search('')).body).toMatchObject(problem('?q'))
    expect((await search(`q=${'x'.repeat(1_001)}`)).body).toMatchObject(problem('?q', expect.stringContaining('at most 1000')))
    expect((await search('q=x&kind=dream')).body).toMatchObject(problem('?kind'))
    expect((await search('q=x&limit=51')).body).toMatchObject(problem('?limit'))
  })
})

describe('GET and DELETE /memory/facts/{id}', () => {
  it('200: is what was kept', async () => {
    const { body } = await learn({ content: 'The dunlin runs.' })
    expect((await get(`facts/${body.id}`)).body).toEqual(body)
  })

  it('204: deletes it, however often; 404 from then on', async () => {
    const { body } = await learn({ content: 'The curlew calls.' })
    for (const _ of [1, 2]) expect((await remove(`facts/${body.id}`)).status).toBe(204)
    expect((await get(`facts/${body.id}`)).body).toMatchObject({ status: 404, code: 'not_found' })
    expect((await search('q=curlew')).body.items).toEqual([])
  })

  it("403: not with a subtask's own credential, which reads", async () => {
    const { body } = await learn({ content: 'The godwit flies.' })
    const own = await credential()
    expect((await get(`facts/${body.id}`, own.credential)).body).toEqual(body)
    expect((await remove(`facts/${body.id}`, own.credential)).body).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await get(`facts/${body.id}`)).status).toBe(200)
  })
})

describe('GET and DELETE /memory/episodes/{id}', () => {
  it('200: is the subtask that has ended', async () => {
    const id = await episode('Look for the ruff.')
    expect((await get(`episodes/${id}`)).body).toEqual({
      ...{ id, agent_id: 'default', task: 'Look for the ruff.', outcome: 'cancelled', summary: null, result: null, result_truncated: false },
      completed_at: expect.any(String),
    })
  })

  it('204: is forgotten, however often, while its subtask stays; 404 from then on', async () => {
    const id = await episode('Look for the stint.')
    for (const _ of [1, 2]) expect((await remove(`episodes/${id}`)).status).toBe(204)
    expect((await get(`episodes/${id}`)).body).toMatchObject({ status: 404, code: 'not_found' })
    expect((await search('q=stint')).body.items).toEqual([])
    expect((await api.call('GET', `/subtasks/${id}`, { key: await api.key(['subtasks:read']) })).body).toMatchObject({ id, status: 'cancelled' })
  })

  it('404: is none while it runs', async () => {
    const own = await credential()
    expect((await get(`episodes/${own.id}`)).status).toBe(404)
    expect((await remove(`episodes/${own.id}`)).status).toBe(404)
  })

  it("403: is not forgotten with a subtask's own credential", async () => {
    const id = await episode('Look for the snipe.')
    expect((await remove(`episodes/${id}`, (await credential()).credential)).body).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await get(`episodes/${id}`)).status).toBe(200)
  })
})
