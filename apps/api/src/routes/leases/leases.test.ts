import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Reply, spawnExternal, startApi, type TestApi } from '../../testing/api.ts'

describe('outside workers', () => {
  let api: TestApi
  let key: string

  beforeAll(async () => {
    api = await startApi(await testDatabase(), { SUBTASK_MAX_PENDING: '1000', SUBTASK_MAX_CONCURRENT: '1000' })
    key = await api.key(['subtasks:claim', 'subtasks:read', 'subtasks:write', 'sessions:write'])
  })
  afterAll(() => api.close())

  const claim = (body: object = {}, headers: Record<string, string> = {}) =>
    api.call('POST', '/subtasks/claim', { key, body: { worker_id: 'w', ...body }, headers })
  const act = (id: string, verb: string, body: object) => api.call('POST', `/subtasks/${id}/${verb}`, { key, body })

  describe('POST /subtasks/claim', () => {
    it('204: there is nothing to do', async () => {
      const answer = await claim()
      expect(answer.status).toBe(204)
      expect(answer.text).toBe('')
    })

    it('200: hands out a subtask, its brief and a lease', async () => {
      const { id } = await spawnExternal(api.ctx, { task: 'Paint it black.' })
      const answer = await claim({ lease_seconds: 30 })
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({
        subtask: { id, status: 'running', attempt: 1, worker_id: 'w' },
        session_id: `subtask-${id}`,
        lease: { attempt: 1 },
        brief: { task: 'Paint it black.', text: expect.stringContaining('Paint it black.'), revision: null, feedback: null },
      })
    })

    it('200: waits for work to come', async () => {
      const waiting = claim({ wait_seconds: 60 })
      const { id } = await spawnExternal(api.ctx)
      expect((await waiting).body.subtask.id).toBe(id)
    })

    it('204: ends a wait when the server stops', async () => {
      const other = await startApi(await testDatabase(), { AUTH: 'open' })
      const waiting = other.call('POST', '/subtasks/claim', { body: { worker_id: 'w', wait_seconds: 60 }, headers: { host: 'localhost' } })
      await expect.poll(() => other.deps.runWaiters.size()).toBe(1)
      other.beginStop()
      expect((await waiting).status).toBe(204)
      await other.close()
    })

    it('gives a repeated claim the same subtask and new secrets', async () => {
      await spawnExternal(api.ctx)
      const headers = { 'idempotency-key': 'claim-1' }
      const first = await claim({}, headers)
      const second = await claim({}, headers)
      expect(second.body.subtask.id).toBe(first.body.subtask.id)
      expect(second.body.lease.token).not.toBe(first.body.lease.token)
      const { id } = first.body.subtask
      expect((await act(id, 'release', { lease_token: first.body.lease.token })).status).toBe(412)
      expect((await act(id, 'release', { lease_token: second.body.lease.token })).status).toBe(200)
      expect((await claim()).body.subtask.id).toBe(id)
    })

    it.each([['scout'], ['nobody']])('422: lets nobody take the work of %s from the workers of the server', async (runner) => {
      expect((await claim({ runner })).body).toMatchObject({ status: 422, code: 'runner_unavailable' })
    })

    it('400: says what a claim needs', async () => {
      const answer = await api.call('POST', '/subtasks/claim', { key, body: { lease_seconds: 601, wait_seconds: 61 } })
      expect(answer.body.errors.map((each: { pointer: string }) => each.pointer)).toEqual(['/worker_id', '/lease_seconds', '/wait_seconds'])
    })
  })

  describe('with a lease', () => {
    let held: Reply
    let id: string
    let lease: { lease_token: string }

    beforeEach(async () => {
      await spawnExternal(api.ctx, { parentSessionId: 'parent', requiredOutputs: [{ name: 'count', description: null, schema: null }] })
      held = await claim()
      id = held.body.subtask.id
      lease = { lease_token: held.body.lease.token }
    })

    it('heartbeat 200: renews it, brings updates until they are acknowledged, and takes steps and usage', async () => {
      await api.call('POST', `/subtasks/${id}/updates`, { key, body: { content: 'Faster.' } })
      const first = await act(id, 'heartbeat', {
        ...lease,
        steps: [{ kind: 'message', content: { text: 'half\0way' } }],
        usage: { input_tokens: 5, cost_usd: 0.25 },
      })
      expect(first.body).toMatchObject({ cancel_requested: false, updates: [{ content: 'Faster.' }] })
      expect(first.body.updates[0].text).toMatch(/^\[Task Update: Note\]\nSubtask: .* \([0-9a-f-]+\)\nUpdate id: [\s\S]*\n<(content-\w+)>\nFaster\.\n<\/\1>$/)
      const second = await act(id, 'heartbeat', lease)
      expect(second.body.updates).toHaveLength(1)
      const third = await act(id, 'heartbeat', { ...lease, ack_update_ids: [first.body.updates[0].update_id] })
      expect(third.body.updates).toEqual([])
      const steps = await api.call('GET', `/subtasks/${id}/steps`, { key })
      expect(steps.body.items).toContainEqual(expect.objectContaining({ kind: 'message', content: { text: 'half\uFFFDway' } }))
      const { usage } = (await api.call('GET', `/subtasks/${id}`, { key })).body
      expect(usage).toMatchObject({ input_tokens: 5, cost_usd: 0.25 })
    })

    it('heartbeat 200: tells of a wish to cancel, which release then fulfils', async () => {
      await api.call('DELETE', `/subtasks/${id}`, { key })
      expect((await act(id, 'heartbeat', lease)).body.cancel_requested).toBe(true)
      expect((await act(id, 'release', lease)).body.status).toBe('cancelled')
    })

    it('complete 200: ends it, and a repetition with its key answers the same', async () => {
      const options = { key, body: { ...lease, result: 'There are 3.', outputs: { count: 3 } }, headers: { 'idempotency-key': `complete-${id}` } }
      const first = await api.call('POST', `/subtasks/${id}/complete`, options)
      expect(first.body).toMatchObject({ status: 'completed', final_outcome: 'completed', result: 'There are 3.', outputs: { count: 3 } })
      expect(first.body.duration_ms).toBeGreaterThanOrEqual(0)
      const second = await api.call('POST', `/subtasks/${id}/complete`, options)
      expect(second.headers['idempotent-replayed']).toBe('true')
      expect(second.body).toEqual(first.body)
    })

    it('complete 200: returns a result without its outputs, and says why in the next brief', async () => {
      expect((await act(id, 'complete', { ...lease, result: 'There are 3.' })).body).toMatchObject({ status: 'pending', failures: 1 })
      const again = await claim()
      expect(again.body.brief.feedback).toContain('count')
      await act(id, 'fail', { lease_token: again.body.lease.token, error: 'enough', retryable: false })
    })

    it('complete 200: ends a result that only asks with the question as its error', async () => {
      const asked = await act(id, 'complete', { ...lease, result: "I'll start now. What folder do you mean?" })
      expect(asked.body).toMatchObject({ status: 'failed', final_outcome: 'incomplete_blocked', error: 'What folder do you mean?', failures: 0 })
    })

    it.each(['Working on it.', 'On it!', '\u200b'])('complete 200: returns what reports nothing: %j', async (result) => {
      expect((await act(id, 'complete', { ...lease, result })).body).toMatchObject({ status: 'pending', failures: 1 })
      const again = await claim()
      await act(id, 'fail', { lease_token: again.body.lease.token, error: 'enough', retryable: false })
    })

    it('complete 200: cuts a result of more than 1 MiB', async () => {
      const answer = await act(id, 'complete', { ...lease, result: 'é'.repeat(700_000), outputs: { count: 1 } })
      expect(answer.body).toMatchObject({ status: 'completed', result_truncated: true })
      expect(Buffer.byteLength(answer.body.result)).toBe(1_048_576)
    })

    it('complete 200: repairs what is not valid UTF-8', async () => {
      const raw = Buffer.from(JSON.stringify({ ...lease, result: 'a?b', outputs: { count: 1 } }))
      raw[raw.indexOf('?')] = 0xff
      const answer = await api.call('POST', `/subtasks/${id}/complete`, { key, raw })
      expect(answer.body.result).toBe('a\uFFFDb')
    })

    it('complete 200: takes a reason why it cannot go on instead of a result', async () => {
      const answer = await act(id, 'complete', { ...lease, blocked_reason: 'No access.' })
      expect(answer.body).toMatchObject({ status: 'failed', final_outcome: 'incomplete_blocked', error: 'No access.' })
    })

    it('complete 400: needs one or the other', async () => {
      expect((await act(id, 'complete', lease)).body.errors).toEqual([expect.objectContaining({ pointer: '/result', reason: 'is required' })])
    })

    it('fail 200: ends it when nothing is to be gained by another try', async () => {
      const answer = await act(id, 'fail', { ...lease, error: 'broken', retryable: false })
      expect(answer.body).toMatchObject({ status: 'failed', final_outcome: 'errored', error: 'broken' })
    })

    it('wait 200: waits for the answer to its question, and the next claim has it', async () => {
      const asked = await api.call('POST', `/subtasks/${id}/questions`, { key, body: { prompt: 'Which colour?', ...lease } })
      const question_id = asked.body.question_id as string
      const waiting = await act(id, 'wait', { ...lease, question_id, continuation: 'the walls are done' })
      expect(waiting.status).toBe(200)
      expect(waiting.body).toMatchObject({ status: 'waiting', waiting_for: question_id, worker_id: null, failures: 0 })
      expect((await claim()).status).toBe(204)
      expect((await api.call('GET', `/subtasks?status=waiting`, { key })).body.items).toMatchObject([{ id }])
      const boss = await api.key(['tasks:write'])
      expect((await api.call('POST', `/questions/${question_id}/answer`, { key: boss, body: { answer: 'Black.' } })).status).toBe(200)
      const again = (await claim({ wait_seconds: 60 })).body
      expect(again).toMatchObject({ subtask: { id, attempt: 2 }, brief: { continuation: { state: 'the walls are done' } } })
      expect(again.brief.continuation.updates).toContain('Answer: Black.')
      expect(again.brief.text).toContain('Answer: Black.')
      await act(id, 'complete', { lease_token: again.lease.token, result: 'It is black.' })
    })

    it('wait 404: waits for no question of another subtask', async () => {
      const other = await spawnExternal(api.ctx)
      let held = await claim()
      while (held.body.subtask.id !== other.id) held = await claim()
      const asked = await api.call('POST', `/subtasks/${other.id}/questions`, { key, body: { prompt: 'Which?', lease_token: held.body.lease.token } })
      expect((await act(id, 'wait', { ...lease, question_id: asked.body.question_id })).status).toBe(404)
      expect((await api.call('GET', `/subtasks/${id}`, { key })).body.status).toBe('running')
      await api.call('DELETE', `/subtasks/${other.id}`, { key })
      await act(other.id, 'release', { lease_token: held.body.lease.token })
    })

    it('wait 400: needs a question, and a continuation of at most 1 MiB', async () => {
      expect((await act(id, 'wait', lease)).body.errors).toMatchObject([{ pointer: '/question_id' }])
      const long = await act(id, 'wait', { ...lease, question_id: id, continuation: 'x'.repeat(1_048_577) })
      expect(long.body.errors).toMatchObject([{ pointer: '/continuation' }])
    })

    it('release 200: returns it without a failure', async () => {
      expect((await act(id, 'release', lease)).body).toMatchObject({ status: 'pending', failures: 0 })
      await api.call('DELETE', `/subtasks/${id}`, { key })
    })

    it.each([
      ['heartbeat', {}],
      ['complete', { result: 'x' }],
      ['fail', { error: 'x' }],
      ['release', {}],
    ])('%s 412: needs the current token', async (verb, body) => {
      const answer = await act(id, verb, { lease_token: 'mst_lease_wrong', ...body })
      expect(answer.status).toBe(412)
      expect(answer.body.code).toBe('lease_lost')
      expect((await api.call('GET', `/subtasks/${id}`, { key })).body.status).toBe('running')
    })
  })

  describe('POST /sessions/{id}/inbox/claim', () => {
    const inbox = (session: string, body?: object) =>
      api.call('POST', `/sessions/${encodeURIComponent(session)}/inbox/claim`, { key, ...(body === undefined ? {} : { body }) })

    const finish = async (session: string) => {
      await spawnExternal(api.ctx, { parentSessionId: session, priority: 'urgent' })
      const { body } = await claim()
      await act(body.subtask.id, 'complete', { lease_token: body.lease.token, result: `For ${session}.` })
    }

    it('200: hands each result over once, without a body too', async () => {
      const session = 'tab/with ümlaut'
      await finish(session)
      const first = await inbox(session)
      expect(first.body).toMatchObject({ claim_id: null, items: [{ status: 'completed', final_outcome: 'completed', result: `For ${session}.` }] })
      expect((await inbox(session)).body.items).toEqual([])
    })

    it('204: a manual claim is final once acknowledged, however often', async () => {
      await finish('manual')
      const { body } = await inbox('manual', { ack: 'manual' })
      expect(body.items).toHaveLength(1)
      for (const _ of [1, 2]) {
        expect((await api.call('POST', `/sessions/manual/inbox/claim/${body.claim_id}/ack`, { key })).status).toBe(204)
      }
    })

    it('404: acknowledges no claim of another session', async () => {
      await finish('mine')
      const { body } = await inbox('mine', { ack: 'manual' })
      expect((await api.call('POST', `/sessions/yours/inbox/claim/${body.claim_id}/ack`, { key })).status).toBe(404)
    })

    it('400: refuses what it does not know', async () => {
      expect((await inbox('s', { limit: 0, ack: 'never' })).body.errors).toHaveLength(2)
    })
  })
})
