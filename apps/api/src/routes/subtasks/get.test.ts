import { testDatabase } from '@muster/testing'
import { cancelSubtask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spawnExternal, startApi, type TestApi } from '../../testing/api.ts'

describe('GET /subtasks/{id}', () => {
  let api: TestApi
  let key: string

  beforeAll(async () => {
    api = await startApi(await testDatabase(), { SUBTASK_MAX_PENDING: '1000' })
    key = await api.key(['subtasks:read'])
  })
  afterAll(() => api.close())

  describe('200', () => {
    it('shows the subtask', async () => {
      const { id } = await spawnExternal(api.ctx)
      const answer = await api.call('GET', `/subtasks/${id}`, { key })
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({ id, status: 'pending', final_outcome: null, duration_ms: null })
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

  describe('400', () => {
    it.each([['wait_seconds=61'], ['wait_seconds=soon'], ['wait_seconds=1&wait_seconds=2'], ['wait=1']])('refuses ?%s', async (query) => {
      const { id } = await spawnExternal(api.ctx)
      const answer = await api.call('GET', `/subtasks/${id}?${query}`, { key })
      expect(answer.status).toBe(400)
      expect(answer.body.errors[0].pointer).toMatch(/^\?wait/)
    })
  })

  describe('404', () => {
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
