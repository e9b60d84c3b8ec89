import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spawnExternal, startApi, type TestApi } from '../../testing/api.ts'

describe('GET /agents', () => {
  let api: TestApi
  let key: string

  beforeAll(async () => {
    api = await startApi(await testDatabase(), { SUBTASK_MAX_CONCURRENT: '2', SUBTASK_MAX_PENDING: '7' })
    key = await api.key(['subtasks:read'])
    for (const agentId of ['reader', 'Ärztin & Söhne']) await spawnExternal(api.ctx, { agentId })
  })
  afterAll(() => api.close())

  it('200: lists them with their limits, page by page, whatever they are called', async () => {
    const first = await api.call('GET', '/agents?limit=1', { key })
    const second = await api.call('GET', `/agents?limit=1&cursor=${encodeURIComponent(first.body.next_cursor)}`, { key })
    const agents = [...first.body.items, ...second.body.items]
    expect(agents).toHaveLength(2)
    expect(agents).toContainEqual({ agent_id: 'Ärztin & Söhne', running: 0, pending: 1, running_max: 2, pending_max: 7 })
    expect(second.body.next_cursor).toBeNull()
  })

  it('403: without subtasks:read', async () => {
    expect((await api.call('GET', '/agents', { key: await api.key(['tasks:read']) })).status).toBe(403)
  })
})
