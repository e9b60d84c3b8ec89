import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spawnExternal, startApi, type TestApi } from '../../testing/api.ts'

describe('DELETE /subtasks/{id}', () => {
  let api: TestApi
  let key: string

  beforeAll(async () => {
    api = await startApi(await testDatabase())
    key = await api.key(['subtasks:write', 'subtasks:claim'])
  })
  afterAll(() => api.close())

  it('200: cancels what is pending', async () => {
    const { id } = await spawnExternal(api.ctx)
    const answer = await api.call('DELETE', `/subtasks/${id}`, { key })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ status: 'cancelled', final_outcome: 'cancelled' })
  })

  it('202: tells what is running to stop, as often as it is asked', async () => {
    const { id } = await spawnExternal(api.ctx)
    await api.call('POST', '/subtasks/claim', { key, body: { worker_id: 'w' } })
    const first = await api.call('DELETE', `/subtasks/${id}`, { key })
    expect(first.status).toBe(202)
    expect(first.headers.location).toBe(`/subtasks/${id}`)
    expect(first.body.cancel_requested_at).toMatch(/Z$/)
    const second = await api.call('DELETE', `/subtasks/${id}`, { key })
    expect(second.body.cancel_requested_at).toBe(first.body.cancel_requested_at)
  })

  it('409: leaves alone what has ended', async () => {
    const { id } = await spawnExternal(api.ctx)
    await api.call('DELETE', `/subtasks/${id}`, { key })
    const answer = await api.call('DELETE', `/subtasks/${id}`, { key })
    expect(answer.status).toBe(409)
    expect(answer.body.code).toBe('not_cancellable')
  })
})
