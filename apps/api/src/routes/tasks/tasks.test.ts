import { createHash } from 'node:crypto'
import { testDatabase } from '@muster/testing'
import { createTsg } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Reply, startApi, type TestApi } from '../../testing.ts'

const UNKNOWN = '01990000-0000-7000-8000-000000000000'
const BRIEF = { title: 'Write the guide', instructions: 'Write it. Keep it short.', acceptance_criteria: ['All steps work'], required_outputs: ['guide'] }

let api: TestApi
let key: string

beforeAll(async () => {
  api = await startApi(await testDatabase())
  key = await api.key(['tasks:read', 'tasks:write'])
  await createTsg(api.ctx, { tsgId: 'ports', title: 'Port in use', content: 'x', patterns: ['EADDRINUSE'] })
})
afterAll(() => api.close())

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

const send = (method: Method, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  api.call(method, path, { key, headers, ...(body === undefined ? {} : { body }) })

async function make(body: Record<string, unknown> = {}): Promise<string> {
  return `/tasks/${(await send('POST', '/tasks', { ...BRIEF, ...body })).body.id}`
}

const patch = (path: string, revision: string, body: unknown) => send('PATCH', path, body, { 'if-match': revision })

describe('POST /tasks', () => {
  it('201: answers with the task, its place and its revision', async () => {
    const created = await send('POST', '/tasks', { ...BRIEF, priority: 'p0', metadata: { a: [1] } })
    expect(created).toMatchObject({
      status: 201,
      headers: { location: `/tasks/${created.body.id}`, etag: '"1"' },
      body: { status: 'pending', revision: 1, priority: 'P0', acceptance_criteria: [{ text: 'All steps work', source: 'acceptance', state: 'open' }] },
    })
    expect((await send('GET', `/tasks/${created.body.id}`)).body).toEqual(created.body)
  })

  it('201: takes a description alone, and the two long forms of criteria and constraints', async () => {
    const created = await send('POST', '/tasks', {
      description: 'Fix the login, which fails after two hours\nand after midnight',
      success_criteria: { criteria: ['All tests pass'], all_required: false },
      constraints: { rules: ['Do not change the schema'], enforcement_level: 'advisory' },
    })
    expect(created.body).toMatchObject({
      title: 'Fix the login, which fails after two hours',
      instructions: 'Fix the login, which fails after two hours\nand after midnight',
      acceptance_criteria: [
        { source: 'success', required: false },
        { source: 'constraint', required: false },
      ],
      task_context: { success_criteria: { all_required: false }, constraints: { enforcement_level: 'advisory' } },
      validation: { performed: true, warnings: [] },
    })
  })

  it('201: is answered again to the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once' }
    const first = await send('POST', '/tasks', BRIEF, headers)
    const second = await send('POST', '/tasks', BRIEF, headers)
    expect(second).toMatchObject({ status: 201, body: first.body, headers: { 'idempotent-replayed': 'true', etag: '"1"' } })
  })

  it('400: tells everything that is wrong at once, with the warnings', async () => {
    const { body } = await send('POST', '/tasks', {
      description: 'Fix bug',
      priority: 4,
      success_criteria: ['It works', 'x'.repeat(201)],
      required_outputs: ['a', 'a'],
      depends_on: ['nobody'],
      typo: 1,
    })
    expect(body).toMatchObject({ status: 400, code: 'validation_failed' })
    expect(body.errors.map((each: { pointer: string }) => each.pointer).sort()).toEqual([
      '/depends_on/0',
      '/description',
      '/priority',
      '/required_outputs/1',
      '/success_criteria/1',
      '/typo',
    ])
    expect(body.warnings).toContainEqual({ field: 'success_criteria[0]', message: expect.stringContaining('measurable'), timestamp: expect.any(String) })
  })

  it('400: knows only the guides and tasks that there are', async () => {
    expect((await send('POST', '/tasks', { ...BRIEF, tsgs: ['ports', 'none'], depends_on: [UNKNOWN] })).body.errors).toMatchObject([
      { pointer: '/tsgs/1', value: 'none' },
      { pointer: '/depends_on/0', value: UNKNOWN },
    ])
  })

  it('403: is not for a sub-agent', async () => {
    const { body } = await send('POST', `${await make()}/assign`, { subagent_session_id: 's' })
    expect((await api.call('POST', '/tasks', { key: body.subagent_credential, body: BRIEF })).body).toMatchObject({ status: 403, code: 'spawn_blocked' })
  })
})

describe('POST /tasks/validate', () => {
  it('200: shows the brief as it would be stored, and stores nothing', async () => {
    const before = (await send('GET', '/stats')).body.total_tasks
    const { status, body } = await send('POST', '/tasks/validate', { ...BRIEF, acceptance_criteria: [' a ', '', 'a'], relevant_files: ['x.ts'] })
    expect([status, body]).toMatchObject([
      200,
      {
        cleaned: { title: 'Write the guide', acceptance_criteria: [{ text: 'a' }], task_context: { relevant_files: ['x.ts'] } },
        warnings: [{ field: 'relevant_files', message: expect.stringContaining('not checked by the server') }],
      },
    ])
    expect((await send('GET', '/stats')).body.total_tasks).toBe(before)
  })

  it('400: refuses what creating refuses', async () => {
    expect((await send('POST', '/tasks/validate', { description: 'Fix bug' })).body).toMatchObject({ status: 400, errors: [{ field: 'description' }] })
  })
})

describe('GET /tasks', () => {
  it('200: lists summaries, narrowed by filters and words', async () => {
    await make({ title: 'About walruses', parent_session_id: 'list', priority: 'P3', expected_deliverables: ['A picture of a walrus'] })
    const { body } = await send('GET', '/tasks?q=walruses&parent_session=list&priority=p3&status=pending')
    expect(body).toMatchObject({
      items: [{ title: 'About walruses', has_enhanced_context: true, deliverables_count: 1, success_criteria_count: 0, subagent_session_id: null }],
      next_cursor: null,
    })
    expect((await send('GET', '/tasks?subagent_session=nobody')).body.items).toEqual([])
  })

  it('400: refuses a cursor or filter that is none', async () => {
    expect((await send('GET', '/tasks?cursor=x')).body).toMatchObject({ code: 'cursor_invalid' })
    for (const query of ['status=open', 'priority=P4', 'q=']) expect((await send('GET', `/tasks?${query}`)).status).toBe(400)
  })
})

describe('GET /stats', () => {
  it('200: counts the tasks of the project', async () => {
    const stranger = await api.key(['tasks:read'], await api.stranger())
    expect((await api.call('GET', '/stats', { key: stranger })).body).toMatchObject({ total_tasks: 0, active_tasks: 0, tasks_by_status: { completed: 0 } })
    await make()
    expect((await send('GET', '/stats')).body.active_tasks).toBeGreaterThan(0)
  })
})

describe('PATCH /tasks/{id}', () => {
  it('200: answers with the next revision, what changed, and the update', async () => {
    const path = await make()
    const { status, headers, body } = await patch(path, '"1"', {
      instructions: 'Write it. Keep it long.',
      acceptance_criteria: ['All steps work', 'It is long'],
    })
    expect([status, headers.etag]).toEqual([200, '"2"'])
    expect(body).toMatchObject({
      revision: 2,
      task: { revision: 2 },
      diff: { instructions: [{ op: 'keep', text: 'Write it. ' }, { op: 'remove' }, { op: 'add' }], acceptance_criteria: [{ op: 'keep' }, { op: 'add' }] },
    })
    expect((await send('GET', `${path}/revisions`)).body.items).toMatchObject([
      { revision: 2, diff: body.diff, author: { kind: 'key' } },
      { revision: 1, diff: null },
    ])
    expect((await send('GET', `${path}/updates`)).body.items).toMatchObject([{ update_id: body.update_id, update_type: 'instructions', status: 'superseded' }])
  })

  it.each(['"1"', 'W/"1"', '1', '"7", "1"', '*'])('200: takes %s for the first revision', async (revision) => {
    expect((await patch(await make(), revision, { title: 'Other' })).status).toBe(200)
  })

  it('200: changes nothing where nothing changes', async () => {
    expect((await patch(await make(), '"1"', { title: BRIEF.title })).body).toMatchObject({ revision: 1, update_id: null, diff: {} })
  })

  it('400: refuses an If-Match that is none, and a field that cannot be changed', async () => {
    const path = await make()
    expect((await patch(path, 'one', {})).body).toMatchObject({ status: 400, errors: [{ pointer: 'If-Match:' }] })
    expect((await patch(path, '"1"', { status: 'completed' })).body).toMatchObject({ status: 400, errors: [{ pointer: '/status' }] })
    expect((await patch(path, '"1"', { title: '', priority: 'x' })).body.errors).toMatchObject([{ pointer: '/title' }, { pointer: '/priority' }])
  })

  it('404: knows no such task, with or without If-Match', async () => {
    expect((await send('PATCH', `/tasks/${UNKNOWN}`, { title: 'x' })).status).toBe(404)
    expect((await patch(`/tasks/${UNKNOWN}`, '"1"', { title: 'x' })).status).toBe(404)
  })

  it('409: changes nothing that has ended', async () => {
    const path = await make()
    await send('POST', `${path}/cancel`, { reason: 'x' })
    for (const body of [
      await patch(path, '"1"', { title: 'x' }),
      await send('PATCH', path, { title: 'x' }),
      await send('POST', `${path}/updates`, { content: 'x' }),
      await send('POST', `${path}/assign`, { subagent_session_id: 's' }),
      await send('POST', `${path}/complete`, { outputs: {} }),
      await send('POST', `${path}/review`, { decision: 'approve' }),
      await send('POST', `${path}/fail`, { reason: 'x' }),
      await send('POST', `${path}/cancel`, { reason: 'x' }),
      await send('PUT', `${path}/tsgs/ports`),
      await send('DELETE', `${path}/tsgs/ports`),
      await send('POST', `${path}/check-ins`, { content: '<npl-block type="check-in">\n</npl-block>' }),
    ])
      expect(body.body).toMatchObject({ status: 409, code: 'invalid_transition' })
  })

  it('412: tells the current revision to who has an old one, also of two at once', async () => {
    const path = await make()
    const answers = await Promise.all([patch(path, '"1"', { title: 'One' }), patch(path, '"1"', { title: 'Two' })])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
    expect(answers.find(({ status }) => status === 412)?.body).toMatchObject({ code: 'revision_stale', revision: 2 })
  })

  it('422: refuses a circle, with the path', async () => {
    const one = await make()
    const two = await make({ depends_on: [one.slice(7)] })
    expect((await patch(one, '"1"', { depends_on: [two.slice(7)] })).body).toMatchObject({
      status: 422,
      code: 'dependency_cycle',
      path: [one.slice(7), two.slice(7), one.slice(7)],
    })
  })

  it('428: wants to know which revision was changed', async () => {
    expect((await send('PATCH', await make(), { title: 'x' })).body).toMatchObject({ status: 428, code: 'revision_required', revision: 1 })
  })
})

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
    const own = (method: Method, to: string, body?: unknown, headers: Record<string, string> = {}) =>
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
    expect((await send('GET', path)).body).toMatchObject({ status: 'in_progress', acceptance_criteria: [{ state: 'met' }] })
  })

  it('400: finds no check-in of this task', async () => {
    expect((await send('POST', `${await make()}/check-ins`, { content: 'All is well.' })).body).toMatchObject({
      status: 400,
      errors: [{ pointer: '/content' }],
    })
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
