import { testDatabase } from '@muster/testing'
import { cancelSubtask, checkpointRun } from '@muster/usecases'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spawnExternal, startApi, type TestApi } from '../../testing/api.ts'

describe('GET /subtasks/{id}', () => {
  let api: TestApi
  let key: string
  /** Changes what another process may change. */
  let admin: postgres.Sql

  beforeAll(async () => {
    const database = await testDatabase()
    admin = postgres(database.adminUrl, { max: 1 })
    api = await startApi(database, { SUBTASK_MAX_PENDING: '1000' })
    key = await api.key(['subtasks:read', 'subtasks:claim'])
  })
  afterAll(async () => {
    await admin.end()
    await api.close()
  })

  const read = (id: string, tag?: unknown, query = '') =>
    api.call('GET', `/subtasks/${id}${query}`, { key, ...(tag === undefined ? {} : { headers: { 'if-none-match': String(tag) } }) })

  /** A subtask that ended, read before: the process may keep its document. */
  async function readEnded(): Promise<{ id: string; tag: string }> {
    const { id } = await spawnExternal(api.ctx)
    await cancelSubtask(api.ctx, id)
    const { headers } = await read(id)
    return { id, tag: String(headers.etag) }
  }

  describe('200', () => {
    it('shows the subtask', async () => {
      const { id } = await spawnExternal(api.ctx)
      const answer = await api.call('GET', `/subtasks/${id}`, { key })
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({ id, status: 'pending', final_outcome: null, duration_ms: null })
    })

    it('lists what each attempt has sent first, apart from the transcript, and nothing of an outside worker', async () => {
      await spawnExternal(api.ctx)
      const { id } = (await api.call('POST', '/subtasks/claim', { key, body: { worker_id: 'w' } })).body.subtask
      const prompts = async () => (await api.call('GET', `/subtasks/${id}/prompts`, { key })).body
      expect(await prompts()).toEqual({ items: [], next_cursor: null })
      const checkpoint = {
        ...{ subtaskId: id, attempt: 1, agentId: 'default', task: 'x', taskId: null, parentSessionId: null, workerId: 'w', steps: [], usage: {} },
        ...{ acknowledgedIds: [], takesUpdates: false, afterStepSeq: null, renewsLease: false, repeatUnacknowledged: false },
        prompt: { system: 'You are \0careful.', message: 'Count.', isContinued: false },
      }
      await checkpointRun(api.deps, api.ctx.actor.projectId, checkpoint)
      await checkpointRun(api.deps, api.ctx.actor.projectId, checkpoint)
      expect((await prompts()).items).toEqual([
        { attempt: 1, system: expect.stringMatching(/^You are .careful\.$/), message: 'Count.', is_continued: false, is_cut: false, at: expect.any(String) },
      ])
      expect((await api.call('GET', `/subtasks/${id}/steps`, { key })).body.items).toEqual([])
      expect((await api.call('GET', `/subtasks/${crypto.randomUUID()}/prompts`, { key })).status).toBe(404)
    })

    it('waits for the end and answers when it has come', async () => {
      const { id } = await spawnExternal(api.ctx)
      const waiting = api.call('GET', `/subtasks/${id}?wait_seconds=60`, { key })
      await expect.poll(() => api.deps.endWaiters.size()).toBeGreaterThan(0)
      await cancelSubtask(api.ctx, id)
      expect((await waiting).body.status).toBe('cancelled')
      expect(api.deps.endWaiters.size()).toBe(0)
    })

    it('answers at once when it has ended already', async () => {
      const { id } = await spawnExternal(api.ctx)
      await cancelSubtask(api.ctx, id)
      expect((await api.call('GET', `/subtasks/${id}?wait_seconds=60`, { key })).body.final_outcome).toBe('cancelled')
    })

    it('answers with the state it has when the time is up', async () => {
      const { id } = await spawnExternal(api.ctx)
      expect((await api.call('GET', `/subtasks/${id}?wait_seconds=1`, { key })).body.status).toBe('pending')
    })
  })

  describe('200, with an ETag', () => {
    it('is the same while the subtask is, and another one after every change of its status', async () => {
      const { id } = await spawnExternal(api.ctx)
      const pending = await read(id)
      expect(pending.headers.etag).toMatch(/^"[\w-]{22}"$/)
      expect((await read(id)).headers.etag).toBe(pending.headers.etag)
      await cancelSubtask(api.ctx, id)
      const ended = await read(id, pending.headers.etag)
      expect(ended).toMatchObject({ status: 200, body: { status: 'cancelled' } })
      expect(ended.headers.etag).not.toBe(pending.headers.etag)
    })

    it('is sent with the document of a subtask that ended, which is equal at every read', async () => {
      const { id, tag } = await readEnded()
      const [first, second] = [await read(id), await read(id)]
      expect(first.body).toMatchObject({ id, status: 'cancelled' })
      expect(second.text).toBe(first.text)
      expect([first.headers.etag, second.headers.etag]).toEqual([tag, tag])
      expect(second.headers['content-type']).toBe('application/json; charset=utf-8')
    })

    it('shows what another process changes after the end', async () => {
      const { id, tag } = await readEnded()
      await admin`update subtasks set summary = 'Changed.' where id = ${id}`
      const answer = await read(id, tag)
      expect(answer).toMatchObject({ status: 200, body: { summary: 'Changed.' } })
      expect(answer.headers.etag).not.toBe(tag)
    })

    it('shows a result that was evaluated after the end, and again by a judge', async () => {
      const { id } = await readEnded()
      await admin`update subtasks set status = 'completed', final_outcome = 'completed' where id = ${id}`
      const tags = [(await read(id)).headers.etag]
      for (const score of [0.5, 0.25]) {
        const isJudged = score === 0.25
        const [{ id: evaluationId } = {}] = await admin<{ id: string }[]>`
          insert into evaluations (project_id, id, origin, subtask_id, score, recommendation, detail, is_judged, judge_of)
          select project_id, gen_random_uuid(), 'subtask', id, ${score}, 'review', '{}', ${isJudged}, ${isJudged ? admin`gen_random_uuid()` : null} from subtasks where id = ${id}
          returning id`
        const answer = await read(id, tags.at(-1))
        expect(answer).toMatchObject({ status: 200, body: { evaluation: { id: evaluationId, score } } })
        tags.push(answer.headers.etag)
      }
      expect(new Set(tags).size).toBe(3)
    })
  })

  describe('304', () => {
    it.each([
      ['the tag', (tag: string) => tag],
      ['a weak tag, as a proxy that compresses makes it', (tag: string) => `W/${tag}`],
      ['a list with the tag', (tag: string) => `"other", W/"another",${tag}`],
      ['*', () => '*'],
    ])('answers %s without a body', async (_, header) => {
      const { id, tag } = await readEnded()
      const answer = await read(id, header(tag))
      expect(answer).toMatchObject({ status: 304, text: '', headers: { etag: tag } })
      expect(answer.headers['content-type']).toBeUndefined()
    })

    it('is not the answer to another tag, or to one without quotes', async () => {
      const { id, tag } = await readEnded()
      for (const header of ['"other"', tag.slice(1, -1), '']) expect((await read(id, header)).status).toBe(200)
    })

    it('is the answer when a wait ends without a change', async () => {
      const { id } = await spawnExternal(api.ctx)
      const { headers } = await read(id)
      expect((await read(id, headers.etag, '?wait_seconds=1')).status).toBe(304)
    })
  })

  describe('400', () => {
    it.each([['wait_seconds=61'], ['wait_seconds=soon'], ['wait_seconds=1&wait_seconds=2'], ['wait=1']])('refuses ?%s', async (query) => {
      const { id } = await spawnExternal(api.ctx)
      const answer = await api.call('GET', `/subtasks/${id}?${query}`, { key })
      expect(answer.status).toBe(400)
      expect(answer.body.errors[0].pointer).toMatch(/^\?wait/)
    })
  })

  describe('404', () => {
    it('is the answer as soon as a subtask that was read before is deleted', async () => {
      const { id, tag } = await readEnded()
      await admin`delete from subtasks where id = ${id}`
      expect((await read(id, tag)).status).toBe(404)
    })

    it('hides a document that was read before from another project', async () => {
      const { id, tag } = await readEnded()
      const strange = await api.key(['admin'], await api.stranger())
      expect((await api.call('GET', `/subtasks/${id}`, { key: strange, headers: { 'if-none-match': tag } })).status).toBe(404)
    })

    it('tells what is another project’s and what does not exist apart by nothing', async () => {
      const { id } = await spawnExternal(api.ctx)
      const strange = await api.key(['admin'], await api.stranger())
      const missing = await api.call('GET', '/subtasks/01990000-0000-7000-8000-000000000000', { key: strange })
      const hidden = await api.call('GET', `/subtasks/${id}`, { key: strange })
      expect(hidden.status).toBe(404)
      const { request_id: _, instance: __, ...body } = hidden.body
      expect(missing.body).toMatchObject(body)
    })
  })
})
