import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../testing/api.ts'

let api: TestApi
let key: string
let reader: string

beforeAll(async () => {
  api = await startApi(await testDatabase(), { CHECKS: '{"unit-tests": {"argv": ["true"]}, "lint": {"argv": ["true"]}}' })
  key = await api.key(['tasks:read', 'tasks:write'])
  reader = await api.key(['tasks:read'])
})
afterAll(() => api.close())

const CHECKED = { text: 'All tests pass', check: 'unit-tests' }
const make = (acceptance_criteria: unknown[], more: Record<string, unknown> = {}) =>
  api.call('POST', '/tasks', { key, body: { title: 'Write the guide', instructions: 'Write the guide of the project.', acceptance_criteria, ...more } })

describe('a criterion with a check', () => {
  it('201: is shown with it, and keeps it when something else is revised', async () => {
    const made = await make([CHECKED, 'It is short'], { constraints: [{ text: 'Must not break the linter', check: 'lint' }] })
    const expected = [{ text: 'All tests pass', check: 'unit-tests' }, { text: 'It is short' }, { text: 'Must not break the linter', check: 'lint' }]
    expect([made.status, made.body.acceptance_criteria]).toMatchObject([201, expected])
    expect(made.body.acceptance_criteria[1]).not.toHaveProperty('check')
    const { body } = await api.call('PATCH', `/tasks/${made.body.id}`, { key, body: { title: 'Write it' }, headers: { 'if-match': '"1"' } })
    expect(body.task.acceptance_criteria).toEqual(made.body.acceptance_criteria)
  })

  it('200: gets another one, or none, by a revision that says which', async () => {
    const { id, acceptance_criteria } = (await make([CHECKED])).body
    const patch = async (revision: number, criterion: unknown) =>
      (await api.call('PATCH', `/tasks/${id}`, { key, body: { acceptance_criteria: [criterion] }, headers: { 'if-match': `"${revision}"` } })).body.task
    expect(await patch(1, { ...CHECKED, check: 'lint' })).toMatchObject({
      revision: 2,
      acceptance_criteria: [{ id: acceptance_criteria[0].id, check: 'lint' }],
    })
    // The text alone leaves everything as it is.
    expect(await patch(2, CHECKED.text)).toMatchObject({ revision: 2, acceptance_criteria: [{ check: 'lint' }] })
    const without = await patch(2, { text: CHECKED.text, check: null })
    expect(without).toMatchObject({ revision: 3, acceptance_criteria: [{ id: acceptance_criteria[0].id }] })
    expect(without.acceptance_criteria[0]).not.toHaveProperty('check')
  })

  it('400: is refused with the known names', async () => {
    const { status, body } = await make(['First', { ...CHECKED, check: 'unit-test' }])
    expect([status, body]).toMatchObject([
      400,
      {
        code: 'validation_failed',
        errors: [{ pointer: '/acceptance_criteria/1/check', reason: 'Is not a known check. Known: unit-tests, lint', value: 'unit-test' }],
      },
    ])
  })
})

describe('POST /tasks/{id}/checks', () => {
  it('202: requests the checks of all criteria, once', async () => {
    const { id } = (await make([CHECKED, { text: 'The linter is quiet', check: 'lint' }])).body
    const first = await api.call('POST', `/tasks/${id}/checks`, { key })
    expect([first.status, first.body]).toMatchObject([
      202,
      {
        items: [{ task_id: id, check: 'unit-tests', status: 'pending', exit_code: null, tries: 0, evaluation_id: null }, { check: 'lint' }],
        next_cursor: null,
      },
    ])
    expect((await api.call('POST', `/tasks/${id}/checks`, { key })).body).toEqual(first.body)
  })

  it('409: for a task without checks, and one that has ended', async () => {
    const { id } = (await make(['It is short'])).body
    expect((await api.call('POST', `/tasks/${id}/checks`, { key })).body).toMatchObject({ status: 409, code: 'conflict' })
    const ended = (await make([CHECKED])).body
    await api.call('POST', `/tasks/${ended.id}/fail`, { key, body: { reason: 'Not needed.' } })
    expect((await api.call('POST', `/tasks/${ended.id}/checks`, { key })).body).toMatchObject({ status: 409, code: 'invalid_transition' })
  })
})

describe('GET /tasks/{id}/checks', () => {
  it('200: newest first, in pages', async () => {
    const { id } = (await make([CHECKED, { text: 'The linter is quiet', check: 'lint' }])).body
    await api.call('POST', `/tasks/${id}/checks`, { key })
    const { body } = await api.call('GET', `/tasks/${id}/checks?limit=1`, { key: reader })
    expect(body).toMatchObject({ items: [{ check: 'lint' }], next_cursor: expect.any(String) })
    const rest = await api.call('GET', `/tasks/${id}/checks?limit=1&cursor=${body.next_cursor}`, { key: reader })
    expect([rest.status, rest.body]).toMatchObject([200, { items: [{ check: 'unit-tests' }], next_cursor: null }])
  })

  it('200: empty for a task that none has been executed of', async () => {
    const { id } = (await make([CHECKED])).body
    expect((await api.call('GET', `/tasks/${id}/checks`, { key })).body).toEqual({ items: [], next_cursor: null })
  })
})
