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

  it('200: a name of the greatest length, and what no name can be, are no obstacle to its pages', async () => {
    const names = ['報'.repeat(127), '𐍈'.repeat(127)]
    for (const agentId of names) await spawnExternal(api.ctx, { agentId })
    const seen: string[] = []
    let cursor = ''
    do {
      const { status, body } = await api.call('GET', `/agents?limit=1${cursor && `&cursor=${cursor}`}`, { key })
      expect(status).toBe(200)
      seen.push(...body.items.map(({ agent_id }: { agent_id: string }) => agent_id))
      cursor = body.next_cursor
    } while (cursor !== null)
    expect(seen).toHaveLength(4)
    expect(seen).toEqual(expect.arrayContaining(names))
    const { body } = await api.call('GET', '/agents?limit=1', { key })
    const forged = await api.call('GET', `/agents?limit=1&cursor=${body.next_cursor.slice(0, 16)}AA`, { key })
    expect([forged.status, forged.body.code]).toEqual([400, 'cursor_invalid'])
  })

  it('403: without subtasks:read', async () => {
    expect((await api.call('GET', '/agents', { key: await api.key(['tasks:read']) })).status).toBe(403)
  })
})
