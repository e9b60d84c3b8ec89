import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkIn, type EvaluationsApi, POOR, reflection, startEvaluationsApi } from '../../testing/evaluations.ts'

let own: EvaluationsApi

beforeAll(async () => {
  own = await startEvaluationsApi(await testDatabase())
})
afterAll(() => own.api.close())

const stats = async (query: Record<string, string> = {}, key = own.key) =>
  (await own.api.call('GET', `/evaluations/stats?${new URLSearchParams(query)}`, { key })).body

describe('GET /evaluations/stats', () => {
  it('200: is empty where there is nothing, over the last 30 days', async () => {
    const { from, to, ...rest } = await stats()
    expect(Date.parse(to) - Date.parse(from)).toBe(30 * 86_400_000)
    expect(rest).toEqual({
      by: 'day',
      outputs: 0,
      scored: 0,
      average_score: null,
      recommendations: { approve: 0, review: 0, request_revision: 0 },
      groups: [],
      is_cut: false,
    })
  })

  it('200: counts by day and by criterion', async () => {
    await own.evaluate({ output: reflection('✅') })
    await own.evaluate({ output: POOR })
    await own.evaluate({ output: 'No blocks.' })
    await own.evaluate({ output: checkIn(['- ✅ Links work']), acceptance_criteria: ['Links work', 'Pictures load'] })
    const tally = { outputs: 4, scored: 3, average_score: expect.closeTo(2.225 / 3, 9), recommendations: { approve: 1, review: 2, request_revision: 1 } }
    const byDay = await stats()
    expect(byDay).toMatchObject({ ...tally, groups: [{ ...tally, key: byDay.to.slice(0, 10), verdicts: null }] })
    expect(await stats({ by: 'criterion' })).toMatchObject({
      ...tally,
      groups: [
        { key: 'Links work', outputs: 1, average_score: 0.675, verdicts: { met: 1, unmet: 0, unclear: 0, not_addressed: 0 } },
        { key: 'Pictures load', outputs: 1, average_score: 0.675, verdicts: { met: 0, unmet: 0, unclear: 0, not_addressed: 1 } },
      ],
    })
    expect(await stats({ by: 'subagent' })).toMatchObject({ ...tally, groups: [{ ...tally, key: null }] })
    expect(await stats({ to: '2020-01-01T00:00:00+01:00' })).toMatchObject({ outputs: 0, from: '2019-12-01T23:00:00.000Z', to: '2019-12-31T23:00:00.000Z' })
  })

  it('200: counts nothing of another project', async () => {
    expect(await stats({}, await own.api.key(['evaluations:read'], await own.api.stranger()))).toMatchObject({ outputs: 0, groups: [] })
  })

  it.each([
    [{ by: 'week' }, '?by', 'must be one of day, subagent, criterion'],
    [{ from: 'yesterday' }, '?from', expect.stringContaining('RFC 3339')],
    [{ to: '2026-02-30T00:00:00Z' }, '?to', expect.stringContaining('RFC 3339')],
    [{ from: '2026-03-02T00:00:00Z', to: '2026-03-02T00:00:00Z' }, '?from', expect.stringContaining('must be before to')],
    [{ from: '2024-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }, '?from', expect.stringContaining('at most 366 days')],
  ])('400: refuses %#', async (query, pointer, reason) => {
    expect(await stats(query as Record<string, string>)).toMatchObject({ status: 400, code: 'validation_failed', errors: [{ pointer, reason }] })
  })
})
