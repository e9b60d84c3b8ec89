import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spawnExternal, startApi, type TestApi } from '../../testing/api.ts'

const ASKED = { prompt: 'Which port?', schema: { type: 'integer' } }

describe('questions', () => {
  let api: TestApi
  let key: string

  beforeAll(async () => {
    api = await startApi(await testDatabase())
    key = await api.key(['subtasks:read', 'subtasks:write', 'subtasks:claim', 'tasks:read', 'tasks:write'])
  })
  afterAll(() => api.close())

  async function claimed(agentId: string) {
    const { id } = await spawnExternal(api.ctx, { agentId })
    const claim = await api.call('POST', '/subtasks/claim', { key, body: { worker_id: 'w' } })
    expect(claim.body.subtask.id).toBe(id)
    return { id, credential: claim.body.credential as string, token: claim.body.lease.token as string }
  }

  it('201: a run asks with its own credential, sees its question, waits for the answer and cannot answer it', async () => {
    const run = await claimed('asks')
    const asked = await api.call('POST', `/subtasks/${run.id}/questions`, { key: run.credential, body: ASKED })
    expect(asked.status).toBe(201)
    const path = `/questions/${asked.body.question_id}`
    expect(asked.headers.location).toBe(path)
    expect(asked.body).toMatchObject({ kind: 'question', subtask_id: run.id, status: 'open', on_expiry: 'continue', answer: null, answered_by: null })
    const waiting = api.call('GET', `${path}?wait_seconds=30`, { key: run.credential })
    expect((await api.call('POST', `${path}/answer`, { key: run.credential, body: { answer: 1 } })).status).toBe(403)
    expect((await api.call('POST', `${path}/answer`, { key, body: { answer: 5432 } })).body).toMatchObject({ status: 'answered', answered_by: { kind: 'key' } })
    expect((await waiting).body).toMatchObject({ status: 'answered', answer: { answer: 5432 } })
    expect((await api.call('GET', '/questions?status=answered', { key: run.credential })).body.items).toMatchObject([{ subtask_id: run.id }])
    const heartbeat = await api.call('POST', `/subtasks/${run.id}/heartbeat`, { key, body: { lease_token: run.token } })
    expect(heartbeat.body.updates).toMatchObject([{ content: expect.stringContaining('Answer: 5432') }])
  })

  it('404: a run sees and withdraws nothing that another run asked', async () => {
    const [one, other] = [await claimed('one'), await claimed('other')]
    const { body } = await api.call('POST', `/subtasks/${one.id}/questions`, { key: one.credential, body: ASKED })
    expect((await api.call('GET', `/questions/${body.question_id}`, { key: other.credential })).status).toBe(404)
    expect((await api.call('POST', `/questions/${body.question_id}/withdraw`, { key: other.credential })).status).toBe(404)
    expect((await api.call('POST', `/subtasks/${one.id}/questions`, { key: other.credential, body: ASKED })).status).toBe(404)
    expect((await api.call('GET', '/questions', { key: other.credential })).body.items).toEqual([])
    expect((await api.call('POST', `/questions/${body.question_id}/withdraw`, { key: one.credential })).body.status).toBe('withdrawn')
  })

  it('201 with the lease token; 412 with another; 403 with neither it nor the right to write', async () => {
    const run = await claimed('outside')
    const reader = await api.key(['subtasks:read'])
    const ask = (body: object) => api.call('POST', `/subtasks/${run.id}/questions`, { key: reader, body: { ...ASKED, ...body } })
    expect((await ask({ lease_token: run.token })).status).toBe(201)
    expect((await ask({ lease_token: 'mst_lease_x' })).body).toMatchObject({ status: 412, code: 'lease_lost' })
    expect((await ask({})).body).toMatchObject({ status: 403, required_scope: 'subtasks:write' })
  })

  it.each([
    [{ prompt: '' }, '/prompt'],
    [{ prompt: 'x', kind: 'approval' }, '/arguments'],
    [{ prompt: 'x', on_expiry: 'default' }, '/default'],
    [{ prompt: 'x', schema: { type: 'no such type' } }, '/schema'],
    [{ prompt: 'x', options: [{ id: 'a', label: 'A' }], default: { option_id: 'b' } }, '/default/option_id'],
    [{ prompt: 'x', expires_in_seconds: 0 }, '/expires_in_seconds'],
  ])('400: %o', async (body, pointer) => {
    const task = await api.call('POST', '/tasks', { key, body: { title: 'Ask', instructions: 'Ask something.' } })
    const answer = await api.call('POST', `/tasks/${task.body.id}/questions`, { key, body })
    expect(answer.body).toMatchObject({ status: 400, errors: [{ pointer }] })
  })
})
