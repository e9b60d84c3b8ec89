import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTasksApi, type TasksApi } from '../../testing/tasks.ts'

let api: TasksApi['api']
let make: TasksApi['make']
let key: string

beforeAll(async () => {
  ;({ api, make } = await startTasksApi(await testDatabase()))
  key = await api.key(['tasks:write', 'subtasks:read', 'subtasks:write'])
})
afterAll(() => api.close())

const dispatch = async (body: Record<string, unknown>) => await api.call('POST', `${await make()}/dispatch`, { key, body: { runner: 'external', ...body } })

describe('POST /tasks/{id}/dispatch', () => {
  it.each([
    [{}, 0],
    [{ max_revisions: 0 }, 0],
    [{ max_revisions: 10 }, 10],
  ])('202: says how often a poor result is sent back (%j)', async (more, maxRevisions) => {
    const { status, body } = await dispatch(more)
    expect([status, body]).toMatchObject([202, { max_revisions: maxRevisions, revision_of: null, revision_round: 0 }])
    expect((await api.call('GET', `/subtasks/${body.id}`, { key })).body).toMatchObject({ max_revisions: maxRevisions })
  })

  it.each([11, -1, 1.5, '2'])('400: that is from 0 to 10 (%j)', async (maxRevisions) => {
    const { status, body } = await dispatch({ max_revisions: maxRevisions })
    expect([status, body]).toMatchObject([400, { code: 'validation_failed', errors: [{ pointer: '/max_revisions' }] }])
  })
})
