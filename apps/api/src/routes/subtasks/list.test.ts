import { testDatabase } from '@muster/testing'
import { cancelSubtask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spawnExternal, startApi, type TestApi } from '../../testing/api.ts'
import { startEvaluationsApi } from '../../testing/evaluations.ts'

describe('GET /subtasks', () => {
  let api: TestApi
  let key: string
  const ids: string[] = []

  beforeAll(async () => {
    api = await startApi(await testDatabase(), { SUBTASK_MAX_PENDING: '1000' })
    key = await api.key(['subtasks:read'])
    for (const session of ['a', 'b', 'a', 'b', 'a']) ids.unshift((await spawnExternal(api.ctx, { parentSessionId: session, agentId: `agent-${session}` })).id)
    await cancelSubtask(api.ctx, ids[0] ?? '')
  })
  afterAll(() => api.close())

  const list = async (query: string) => (await api.call('GET', `/subtasks?${query}`, { key })).body
  const idsOf = (page: { items: { id: string }[] }) => page.items.map(({ id }) => id)

  describe('200', () => {
    it('lists the newest first', async () => {
      const page = await list('')
      expect(idsOf(page)).toEqual(ids)
      expect(page.next_cursor).toBeNull()
    })

    it('pages without a gap and without a repetition', async () => {
      const first = await list('limit=2')
      const second = await list(`limit=2&cursor=${first.next_cursor}`)
      const third = await list(`limit=2&cursor=${second.next_cursor}`)
      expect([first, second, third].flatMap(idsOf)).toEqual(ids)
      expect(third.next_cursor).toBeNull()
    })

    it('filters', async () => {
      expect(idsOf(await list('status=cancelled'))).toEqual([ids[0]])
      expect(idsOf(await list('parent_session_id=b'))).toEqual([ids[1], ids[3]])
      expect(idsOf(await list('agent_id=agent-a&status=pending'))).toEqual([ids[2], ids[4]])
      expect(idsOf(await list('task_id=01990000-0000-7000-8000-000000000000'))).toEqual([])
    })

    it('shortens a result and outputs above 2,000 characters, and says where the whole is', async () => {
      const own = await startEvaluationsApi(await testDatabase())
      try {
        const listed = async (result: string) => {
          const id = await own.complete(result)
          const { items } = (await own.send('GET', '/subtasks')).body
          const whole = (await own.send('GET', `/subtasks/${id}`)).body
          expect(whole.result).toBe(result)
          expect(whole).not.toHaveProperty('shortened')
          return { item: items.find((each: { id: string }) => each.id === id), whole_at: `GET /subtasks/${id}` }
        }
        const exact = '🌳'.repeat(2_000)
        expect((await listed(exact)).item).toMatchObject({ result: exact, shortened: [] })
        for (const long of [`${exact}!`, `${exact}${'é'.repeat(40_000)}`]) {
          const { item, whole_at } = await listed(long)
          const bytes = Buffer.byteLength(long)
          expect(item).toMatchObject({ result: null, shortened: [{ field: 'result', beginning: exact, bytes, whole_at }] })
        }
      } finally {
        await own.api.close()
      }
    })

    it('shows nothing of another project', async () => {
      const strange = await api.key(['subtasks:read'], await api.stranger())
      expect((await api.call('GET', '/subtasks', { key: strange })).body).toEqual({ items: [], next_cursor: null })
    })
  })

  describe('400', () => {
    it.each([
      ['limit=0', '?limit', 'must be at least 1'],
      ['limit=201', '?limit', 'must be at most 200'],
      ['limit=ten', '?limit', 'must be a whole number of at most 15 decimal digits'],
      ['status=done', '?status', 'must be one of pending, running, waiting, completed, failed, cancelled'],
      ['task_id=1', '?task_id', 'must be a UUID'],
      ['agent-id=a', '?agent-id', expect.stringContaining('is not a parameter of this request; did you mean `agent_id`? it takes status, parent_session_id')],
    ])('refuses ?%s', async (query, pointer, reason) => {
      const problem = await list(query)
      expect(problem).toMatchObject({ status: 400, code: 'validation_failed', errors: [{ pointer, reason }] })
    })

    it('quotes what was to be a number as it came', async () => {
      expect((await list('limit=ten')).errors).toMatchObject([{ value: 'ten' }])
    })

    it('refuses a cursor of other filters or of another list', async () => {
      const { next_cursor: cursor } = await list('agent_id=agent-a&limit=1')
      expect((await list(`agent_id=agent-a&limit=2&cursor=${cursor}`)).items).toHaveLength(2)
      for (const query of ['', 'agent_id=agent-b&', 'agent_id=agent-a&status=pending&'])
        expect(await list(`${query}cursor=${cursor}`)).toMatchObject({ status: 400, code: 'cursor_invalid' })
      expect((await api.call('GET', `/subtasks/${ids[0]}/updates?cursor=${cursor}`, { key })).body).toMatchObject({ code: 'cursor_invalid' })
    })

    it('refuses a cursor that it did not hand out', async () => {
      expect(await list('cursor=nonsense')).toMatchObject({ status: 400, code: 'cursor_invalid' })
    })
  })
})
