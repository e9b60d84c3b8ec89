import { MODEL_PRICES_DATE } from '@muster/domain'
import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../testing/api.ts'

describe('GET /usage', () => {
  let api: TestApi
  let key: string

  beforeAll(async () => {
    api = await startApi(await testDatabase())
    key = await api.key(['admin'])
  })
  afterAll(() => api.close())

  const usage = (query = '') => api.call('GET', `/usage${query}`, { key })

  it('200: is empty where nothing has ended, over the last 30 days', async () => {
    const { since, until, ...rest } = (await usage()).body
    expect(Date.parse(until) - Date.parse(since)).toBe(30 * 86_400_000)
    expect(rest).toMatchObject({ by: 'day', runs: 0, cost_usd: 0, cost_source: null, groups: [], is_cut: false, prices_date: MODEL_PRICES_DATE })
  })

  it('200: prices the tokens that an outside worker reports with its model', async () => {
    await api.call('POST', '/subtasks', { key, body: { task: 'Count.', runner: 'external' } })
    const { subtask, lease } = (await api.call('POST', '/subtasks/claim', { key, body: { worker_id: 'w' } })).body
    const reported = { input_tokens: 1_000_000, cached_input_tokens: 400_000, output_tokens: 100_000, model: 'claude-sonnet-5-5' }
    const ended = await api.call('POST', `/subtasks/${subtask.id}/complete`, {
      key,
      body: { lease_token: lease.token, result: 'There are 3 files.', usage: reported },
    })
    expect(ended.status).toBe(200)
    expect((await usage('?by=model')).body.groups).toMatchObject([
      { key: 'claude-sonnet-5-5', runs: 1, attempts: 1, input_tokens: 1_000_000, cached_input_tokens: 400_000, cost_usd: 2.24, cost_source: 'priced' },
    ])
  })

  it('400: refuses an unknown grouping and a range that ends before it begins', async () => {
    expect((await usage('?by=colour')).body.errors).toEqual([expect.objectContaining({ field: 'by' })])
    expect((await usage('?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z')).body.errors).toEqual([expect.objectContaining({ pointer: '?since' })])
  })
})
