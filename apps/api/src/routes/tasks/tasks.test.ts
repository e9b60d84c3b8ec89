import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../testing.ts'

describe('a task', () => {
  let api: TestApi
  let key: string

  beforeAll(async () => {
    api = await startApi(await testDatabase())
    key = await api.key(['tasks:read', 'tasks:write'])
  })
  afterAll(() => api.close())

  it('is created, read, revised, assigned and completed', async () => {
    const body = { title: 'Write the guide', instructions: 'Write it. Keep it short.', acceptance_criteria: ['All steps work'], required_outputs: ['guide'] }
    const created = await api.call('POST', '/tasks', { key, body })
    expect(created).toMatchObject({ status: 201, body: { status: 'pending', revision: 1, acceptance_criteria: [{ text: 'All steps work', state: 'open' }] } })
    const path = `/tasks/${created.body.id}`
    expect(created.headers).toMatchObject({ location: path, etag: '"1"' })

    const read = await api.call('GET', path, { key })
    expect(read.body).toEqual(created.body)
    const revised = await api.call('PATCH', path, { key, headers: { 'if-match': '"1"' }, body: { instructions: 'Write it. Keep it long.' } })
    expect(revised).toMatchObject({ status: 200, body: { revision: 2, task: { revision: 2 }, diff: { instructions: [{}, {}, {}] } } })

    const assigned = await api.call('POST', `${path}/assign`, { key, body: { subagent_session_id: 'writer-1' } })
    expect(assigned.body.task).toMatchObject({ status: 'assigned', subagent_session_id: 'writer-1' })
    const own = assigned.body.subagent_credential
    expect((await api.call('GET', path, { key: own })).status).toBe(200)

    const refused = await api.call('POST', `${path}/complete`, { key: own, body: { outputs: { guide: null } } })
    expect(refused.body).toMatchObject({ status: 422, code: 'outputs_missing', errors: [{ pointer: '/outputs/guide', reason: 'is missing' }] })
    const completed = await api.call('POST', `${path}/complete`, { key: own, body: { outputs: { guide: 'text' }, summary: 'Done.' } })
    expect(completed.body).toMatchObject({ status: 'completed', summary: 'Done.', completion_outputs: { guide: 'text' } })
    expect((await api.call('GET', path, { key: own })).status).toBe(401)
  })
})
