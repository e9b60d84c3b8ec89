import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BRIEF, startTasksApi, type TasksApi, UNKNOWN } from '../../testing/tasks.ts'

let api: TasksApi['api']
let send: TasksApi['send']
let make: TasksApi['make']

beforeAll(async () => {
  ;({ api, send, make } = await startTasksApi(await testDatabase()))
})
afterAll(() => api.close())

describe('POST /tasks', () => {
  it('201: answers with the task, its place and its revision', async () => {
    const created = await send('POST', '/tasks', { ...BRIEF, priority: 'p0', metadata: { a: [1] } })
    expect(created).toMatchObject({
      status: 201,
      headers: { location: `/tasks/${created.body.id}`, etag: '"1"' },
      body: { status: 'pending', revision: 1, priority: 'urgent', acceptance_criteria: [{ text: 'All steps work', source: 'acceptance', state: 'open' }] },
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

describe('a field that a brief does not have', () => {
  it.each([
    [{ acceptance_criterias: ['It passes'] }, '/acceptance_criterias', 'did you mean `acceptance_criteria`?'],
    [{ acceptanceCriteria: ['It passes'] }, '/acceptanceCriteria', 'did you mean `acceptance_criteria`?'],
    [{ success_criteria: { criterias: ['It passes'] } }, '/success_criteria/criterias', 'did you mean `criteria`?'],
    [{ constraints: { rule: ['Use TLS'], rules: ['Use TLS'] } }, '/constraints/rule', 'did you mean `rules`?'],
    [{ required_outputs: [{ name: 'a', desciption: 'b' }] }, '/required_outputs/0/desciption', 'did you mean `description`?'],
  ])('is refused with the name that was meant: %j', async (fields, pointer, hint) => {
    for (const path of ['/tasks', '/tasks/validate']) {
      const { status, body } = await send('POST', path, { ...BRIEF, ...fields })
      expect(status).toBe(400)
      expect(body.errors).toContainEqual(expect.objectContaining({ pointer, reason: expect.stringContaining(hint) }))
    }
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
        warnings: [],
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
    await make({ title: 'About walruses', parent_session_id: 'list', priority: 'low', expected_deliverables: ['A picture of a walrus'] })
    const { body } = await send('GET', '/tasks?q=walruses&parent_session_id=list&priority=p3&status=pending')
    expect(body).toMatchObject({
      items: [{ title: 'About walruses', has_enhanced_context: true, deliverables_count: 1, success_criteria_count: 0, subagent_session_id: null }],
      next_cursor: null,
    })
    expect((await send('GET', '/tasks?subagent_session_id=nobody')).body.items).toEqual([])
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
