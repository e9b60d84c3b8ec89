import { testDatabase } from '@muster/testing'
import { assignTask, createTask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../testing/api.ts'

let api: TestApi
let key: string

beforeAll(async () => {
  api = await startApi(await testDatabase())
  key = await api.key(['sessions:write', 'tasks:write'])
})
afterAll(() => api.close())

const MESSAGE = { role: 'assistant', content: ' The server does not start.\n' }
const post = (session: string, body: object, headers: Record<string, string> = {}, as = key) =>
  api.call('POST', `/sessions/${session}/messages`, { key: as, body, headers })
const list = (session: string, query = '', as = key) => api.call('GET', `/sessions/${session}/messages${query}`, { key: as })
const problem = (pointer: string, reason: unknown) => ({ status: 400, code: 'validation_failed', errors: [expect.objectContaining({ pointer, reason })] })

async function assigned(session: string) {
  const { id } = await createTask(api.ctx, { title: 'Write the guide', instructions: 'Write it.', acceptance_criteria: ['All steps work'] })
  return { id, credential: (await assignTask(api.ctx, id, session)).credential }
}

describe('POST /sessions/{id}/messages', () => {
  describe('201', () => {
    it('stores what was said, as it was said', async () => {
      const answer = await post('one', MESSAGE)
      expect(answer).toMatchObject({ status: 201 })
      expect(answer.body).toEqual({
        ...MESSAGE,
        id: expect.any(String),
        session_id: 'one',
        content_bytes: 28,
        model: null,
        task_id: null,
        agent_name: null,
        usage: null,
        metadata: {},
        eval_score: null,
        eval_summary: null,
        quality_flag: null,
        training_candidate: false,
        created_at: expect.any(String),
      })
      expect((await list('one')).body).toEqual({ items: [answer.body], next_cursor: null })
    })

    it('takes a check-in about a task that the session holds', async () => {
      const { id, credential } = await assigned('holder')
      const content = `Done.\n<npl-block type="check-in" task-id="${id}" revision="1">\n- ✅ All steps work\n</npl-block>`
      const sent = await post('holder', { ...MESSAGE, content, task_id: id, agent_name: 'writer', model: 'm', usage: { input_tokens: 1 } }, {}, credential)
      expect(sent).toMatchObject({ status: 201, body: { task_id: id, agent_name: 'writer', model: 'm', usage: { input_tokens: 1 } } })
      expect((await api.call('GET', `/tasks/${id}`, { key: credential })).body).toMatchObject({
        status: 'in_progress',
        acceptance_criteria: [{ text: 'All steps work', state: 'met' }],
      })
    })

    it('takes megabytes, and does not send them back', async () => {
      const content = 'ä'.repeat(4 * 1_048_576 - 100)
      const headers = { 'idempotency-key': 'long' }
      const answer = await post('long', { ...MESSAGE, content }, headers)
      expect(answer).toMatchObject({ status: 201, body: { content: null, content_bytes: 8 * 1_048_576 - 200 } })
      const again = await post('long', { ...MESSAGE, content }, headers)
      expect(again.headers['idempotent-replayed']).toBe('true')
      expect(again.body).toEqual(answer.body)
      expect((await list('long')).body.items).toEqual([answer.body])
    })

    it('replaces what an agent wrote and nobody can store', async () => {
      const raw = Buffer.concat([Buffer.from('{"role": "tool", "content": "a\\u0000b\\ud800'), Buffer.from([0xff]), Buffer.from('"}')])
      const answer = await api.call('POST', '/sessions/broken/messages', { key, raw })
      expect(answer).toMatchObject({ status: 201, body: { content: 'a\uFFFDb\uFFFD\uFFFD' } })
    })
  })

  it.each([
    [{ content: 'x' }, '/role', 'is required'],
    [{ role: 'robot', content: 'x' }, '/role', 'must be one of user, assistant, system, tool'],
    [{ role: 'user' }, '/content', 'is required'],
    [{ role: 'user', content: ' \n\t' }, '/content', 'must not be empty'],
    [{ ...MESSAGE, task_id: 'x' }, '/task_id', expect.any(String)],
    [{ ...MESSAGE, model: 'x'.repeat(257) }, '/model', expect.stringContaining('at most 256')],
    [{ ...MESSAGE, agent_name: 'two\nlines' }, '/agent_name', 'must not contain control characters'],
    [{ ...MESSAGE, usage: { all: 'x'.repeat(16_384) } }, '/usage', expect.stringContaining('at most 16 KiB')],
    [{ ...MESSAGE, metadata: { all: 'x'.repeat(16_384) } }, '/metadata', expect.stringContaining('at most 16 KiB')],
    [{ ...MESSAGE, metadata: { nul: '\0' } }, '/metadata', expect.stringContaining('U+0000')],
  ])('400: refuses %#', async (body, pointer, reason) => {
    expect((await post('refused', body)).body).toMatchObject(problem(pointer, reason))
    expect((await list('refused')).body.items).toEqual([])
  })

  it("404: knows no task of others, and no other session with a sub-agent's own credential", async () => {
    const { credential } = await assigned('own')
    expect((await post('any', { ...MESSAGE, task_id: '01990000-0000-7000-8000-000000000000' })).body).toMatchObject({ status: 404, code: 'not_found' })
    expect((await post('not-own', MESSAGE, {}, credential)).body).toMatchObject({ status: 404, code: 'not_found' })
    expect((await post('own', MESSAGE, {}, credential)).status).toBe(201)
  })

  it('413: refuses more than 8 MiB', async () => {
    expect((await post('long', { ...MESSAGE, content: 'x'.repeat(8 * 1_048_576) })).body).toMatchObject({ status: 413, code: 'payload_too_large' })
  })

  it('422: takes no key for another message', async () => {
    const headers = { 'idempotency-key': 'one message' }
    await post('keyed', MESSAGE, headers)
    expect((await post('keyed', { ...MESSAGE, content: 'Other.' }, headers)).body).toMatchObject({ status: 422, code: 'idempotency_mismatch' })
  })
})

describe('GET /sessions/{id}/messages', () => {
  it('200: pages, newest first', async () => {
    for (const content of ['1', '2', '3']) await post('paged', { role: 'user', content })
    const first = (await list('paged', '?limit=2')).body
    expect(first.items.map(({ content }: { content: string }) => content)).toEqual(['3', '2'])
    expect((await list('paged', `?limit=2&cursor=${first.next_cursor}`)).body).toMatchObject({ items: [{ content: '1' }], next_cursor: null })
  })

  it('400: refuses cursors of others, and pages that are too large', async () => {
    expect((await list('paged', '?cursor=nonsense')).body).toMatchObject({ status: 400, code: 'cursor_invalid' })
    expect((await list('paged', '?limit=201')).body).toMatchObject(problem('?limit', expect.any(String)))
  })

  it("404: shows a sub-agent's own credential its own session alone", async () => {
    const { credential } = await assigned('own-list')
    await post('own-list', MESSAGE)
    expect((await list('own-list', '', credential)).body.items).toHaveLength(1)
    expect((await list('paged', '', credential)).body).toMatchObject({ status: 404, code: 'not_found' })
  })
})
