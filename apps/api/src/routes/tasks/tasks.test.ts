import { createHash } from 'node:crypto'
import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTasksApi, type TasksApi, UNKNOWN } from '../../testing/tasks.ts'

let api: TasksApi['api']
let key: TasksApi['key']
let send: TasksApi['send']
let make: TasksApi['make']
let patch: TasksApi['patch']

beforeAll(async () => {
  ;({ api, key, send, make, patch } = await startTasksApi(await testDatabase()))
})
afterAll(() => api.close())

describe('POST /tasks/{id}/assign', () => {
  it('200: hands out a credential, once', async () => {
    const path = await make()
    const headers = { 'idempotency-key': 'assign' }
    const first = await send('POST', `${path}/assign`, { subagent_session_id: 'writer' }, headers)
    expect(first).toMatchObject({
      status: 200,
      body: { task: { status: 'assigned', subagent_session_id: 'writer' }, subagent_credential: expect.stringMatching(/^mst_asg_/) },
    })
    expect((await send('POST', `${path}/assign`, { subagent_session_id: 'writer' }, headers)).body).toEqual({ ...first.body, subagent_credential: null })
  })

  it('200: with resend, the next injection hands over the whole brief again, once for each key', async () => {
    const sessions = await api.key(['sessions:write'])
    const path = await make()
    const kinds = async () =>
      (await api.call('POST', '/sessions/forgetful/injections', { key: sessions, body: {} })).body.items.map((item: { kind: string }) => item.kind)
    await send('POST', `${path}/assign`, { subagent_session_id: 'forgetful' })
    expect(await kinds()).toEqual(['assignment'])
    await send('POST', `${path}/assign`, { subagent_session_id: 'forgetful' })
    expect(await kinds()).toEqual([])
    const resend = () => send('POST', `${path}/assign`, { subagent_session_id: 'forgetful', resend: true }, { 'idempotency-key': 'resend' })
    expect(await resend()).toMatchObject({ status: 200, body: { task: { status: 'in_progress' }, subagent_credential: expect.stringMatching(/^mst_asg_/) } })
    expect(await kinds()).toEqual(['assignment'])
    expect((await resend()).body).toMatchObject({ subagent_credential: null })
    expect(await kinds()).toEqual([])
  })

  it('409: assigns nothing that waits', async () => {
    const one = await make()
    const { body } = await send('POST', `${await make({ depends_on: [one.slice(7)] })}/assign`, { subagent_session_id: 's' })
    expect(body).toMatchObject({ status: 409, code: 'invalid_transition', blocked_by: [one.slice(7)] })
  })
})

describe('with the credential of an assignment', () => {
  it('its task is read, reported on, confirmed and completed, and nothing else', async () => {
    const path = await make({ background_context: 'The old guide is out of date, and nobody knows where it is kept.' })
    const credential = (await send('POST', `${path}/assign`, { subagent_session_id: 'writer' })).body.subagent_credential
    const own = (method: Parameters<TasksApi['send']>[0], to: string, body?: unknown, headers: Record<string, string> = {}) =>
      api.call(method, to, { key: credential, headers, ...(body === undefined ? {} : { body }) })
    const note = (await send('POST', `${path}/updates`, { content: 'Größe zählt.' })).body

    expect((await own('GET', path)).status).toBe(200)
    expect((await own('GET', `${path}/context`)).text).toContain('The old guide is out of date')
    expect((await own('GET', `/updates/${note.update_id}`)).body).toMatchObject({
      genuine: true,
      task_id: path.slice(7),
      subtask_id: null,
      revision: 1,
      sender: { kind: 'key' },
      content: 'Größe zählt.',
      content_sha256: createHash('sha256').update('Größe zählt.').digest('hex'),
    })
    expect((await own('GET', await make())).status).toBe(404)
    expect((await own('GET', '/subtasks')).status).toBe(403)
    expect((await own('PATCH', path, { title: 'x' }, { 'if-match': '"1"' })).body).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await own('POST', `${path}/complete`, { outputs: { guide: null } })).body).toMatchObject({
      status: 422,
      code: 'outputs_missing',
      errors: [{ pointer: '/outputs/guide', field: 'outputs.guide', reason: 'is missing' }],
    })
    expect((await own('POST', `${path}/complete`, { outputs: { guide: '   ' } })).body).toMatchObject({
      status: 422,
      code: 'outputs_missing',
      errors: [{ pointer: '/outputs/guide', reason: 'is empty: a text must contain at least one visible character' }],
    })
    expect((await own('POST', `${path}/complete`, { outputs: { guide: 'text' }, summary: 'Done.' })).body).toMatchObject({
      status: 'completed',
      summary: 'Done.',
      completion_outputs: { guide: 'text' },
    })
    expect((await own('GET', path)).status).toBe(401)
  })
})

describe('POST /tasks/{id}/check-ins', () => {
  it('201: takes Markdown and JSON alike', async () => {
    const path = await make()
    await send('POST', `${path}/assign`, { subagent_session_id: 'writer' })
    const content = `Half way.\n<npl-block type="check-in" task-id="${path.slice(7)}" revision="1">\n- ✅ All steps work\nnext_steps:\n- Rest\n</npl-block>`
    const sent = await send('POST', `${path}/check-ins`, { content, session_id: 'writer' })
    expect(sent).toMatchObject({
      status: 201,
      body: { revision: 1, criteria: [{ text: 'All steps work', state: 'met' }], unmatched: [], next_steps: ['Rest'], acknowledged_update_ids: [] },
    })
    const markdown = await api.call('POST', `${path}/check-ins`, { key, raw: content, headers: { 'content-type': 'text/markdown' } })
    expect(markdown).toMatchObject({ status: 201, body: { criteria: sent.body.criteria } })
    expect((await send('GET', path)).body).toMatchObject({ status: 'in_progress', acceptance_criteria: [{ state: 'met' }], next_steps: ['Rest'] })
  })

  it('400: finds no check-in of this task', async () => {
    expect((await send('POST', `${await make()}/check-ins`, { content: 'All is well.' })).body).toMatchObject({
      status: 400,
      errors: [{ pointer: '/content' }],
    })
  })
})

describe('the inbox of the parent of an assigned task', () => {
  it('has one item of its end, however often the completion is sent', async () => {
    const sessions = await api.key(['sessions:write'])
    const path = await make({ parent_session_id: 'boss', required_outputs: [], acceptance_criteria: [] })
    await send('POST', `${path}/assign`, { subagent_session_id: 'counter' })
    const complete = () => send('POST', `${path}/complete`, { outputs: {}, summary: 'There are 3.' }, { 'idempotency-key': 'complete-once' })
    expect([(await complete()).status, (await complete()).status]).toEqual([200, 200])
    const { body } = await api.call('POST', '/sessions/boss/inbox/claim', { key: sessions, body: {} })
    expect(body.items).toMatchObject([
      { kind: 'task', subtask_id: null, task_id: path.slice(7), task: 'Write the guide', status: 'completed', final_outcome: null, summary: 'There are 3.' },
    ])
    expect((await api.call('POST', '/sessions/boss/injections', { key: sessions, body: {} })).body.items).toEqual([])
  })

  it('has an item of its review, which the next injection brings', async () => {
    const sessions = await api.key(['sessions:write'])
    const path = await make({ parent_session_id: 'reviewer', required_outputs: [], review: 'manual' })
    await send('POST', `${path}/assign`, { subagent_session_id: 'counter' })
    await send('POST', `${path}/complete`, { outputs: {}, summary: 'There are 3.' })
    const { body } = await api.call('POST', '/sessions/reviewer/injections', { key: sessions, body: {} })
    expect(body.items).toMatchObject([{ kind: 'inbox', task_id: path.slice(7) }])
    expect(body.text).toContain(`[Inbox: task ${path.slice(7)} waits for review]`)
  })
})

describe('POST /tasks/{id}/review', () => {
  it('200: sends back, and approves', async () => {
    const path = await make({ review: 'manual', required_outputs: [] })
    await send('POST', `${path}/complete`, { outputs: {} })
    expect((await send('POST', `${path}/review`, { decision: 'request_revision', note: 'More.' })).body.status).toBe('revision_requested')
    expect((await send('POST', `${path}/complete`, { outputs: {} })).body.status).toBe('in_review')
    expect((await send('POST', `${path}/review`, { decision: 'approve' })).body).toMatchObject({ status: 'completed', completed_at: expect.any(String) })
  })

  it('200, 400: takes verdicts on criteria, which the assignee gets too, and no others', async () => {
    const path = await make({ review: 'manual', required_outputs: [], acceptance_criteria: ['Links work'] })
    const { acceptance_criteria: criteria } = (await send('POST', `${path}/complete`, { outputs: {} })).body
    const said = { criterion_id: criteria[0].id, verdict: 'unmet', comment: 'Two are dead.' }
    const refused = await send('POST', `${path}/review`, { decision: 'approve', criteria: [said, { ...said, criterion_id: UNKNOWN }] })
    expect(refused.body).toMatchObject({ status: 400, code: 'validation_failed', errors: [{ pointer: '/criteria/1/criterion_id' }] })
    const { body } = await send('POST', `${path}/review`, { decision: 'request_revision', note: 'More.', criteria: [said] })
    expect(body).toMatchObject({ status: 'revision_requested', acceptance_criteria: [{ state: 'unmet' }] })
    expect((await send('GET', `${path}/updates`)).body.items[0].content).toContain('unmet: Links work')
  })

  it('409, 422: approves neither what was not handed in nor what lacks an output by now', async () => {
    const path = await make({ review: 'manual', required_outputs: [] })
    expect((await send('POST', `${path}/review`, { decision: 'approve' })).body).toMatchObject({ status: 409, status_now: 'pending' })
    await send('POST', `${path}/complete`, { outputs: {} })
    await patch(path, '*', { required_outputs: ['more'] })
    expect((await send('POST', `${path}/review`, { decision: 'approve' })).body).toMatchObject({ status: 422, code: 'outputs_missing' })
  })
})

describe('POST /tasks/{id}/fail and /cancel', () => {
  it.each([
    ['fail', 'failed'],
    ['cancel', 'cancelled'],
  ])('200: %s ends it with the reason', async (verb, status) => {
    expect((await send('POST', `${await make()}/${verb}`, { reason: 'No budget.' })).body).toMatchObject({ status, last_error: 'No budget.' })
    expect((await send('POST', `${await make()}/${verb}`, {})).body).toMatchObject({ status: 400, errors: [{ pointer: '/reason' }] })
  })
})

describe('/tasks/{id}/tsgs/{tsg_id}', () => {
  it('200: links and unlinks, both as often as one likes', async () => {
    const path = await make()
    for (const _ of ['first', 'again'])
      expect((await send('PUT', `${path}/tsgs/ports`)).body).toMatchObject({ revision: 2, tsgs: [{ tsg_id: 'ports', title: 'Port in use' }] })
    for (const _ of ['first', 'again']) expect((await send('DELETE', `${path}/tsgs/ports`)).body).toMatchObject({ revision: 3, tsgs: [] })
    expect((await send('PUT', `${path}/tsgs/none`)).status).toBe(404)
    expect((await send('PUT', `${path}/tsgs/NONE`)).body).toMatchObject({ status: 400, errors: [{ pointer: '{tsg_id}' }] })
  })
})

describe('GET /tasks/{id}/context', () => {
  it('200: is plain text, empty for an empty context', async () => {
    const { headers, text } = await send('GET', `${await make()}/context`)
    expect([headers['content-type'], text]).toEqual(['text/plain; charset=utf-8', ''])
  })
})

describe('GET /updates/{update_id}', () => {
  it('404: is the answer for what did not come from here', async () => {
    expect((await send('GET', `/updates/${UNKNOWN}`)).status).toBe(404)
  })
})
