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
    const { since, until, from, to, ...rest } = await stats()
    expect([from, to]).toEqual([since, until])
    expect(Date.parse(until) - Date.parse(since)).toBe(30 * 86_400_000)
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
    expect(byDay).toMatchObject({ ...tally, groups: [{ ...tally, key: byDay.until.slice(0, 10), verdicts: null }] })
    expect(await stats({ by: 'criterion' })).toMatchObject({
      ...tally,
      groups: [
        { key: 'Links work', outputs: 1, average_score: 0.675, verdicts: { met: 1, unmet: 0, unclear: 0, not_addressed: 0 } },
        { key: 'Pictures load', outputs: 1, average_score: 0.675, verdicts: { met: 0, unmet: 0, unclear: 0, not_addressed: 1 } },
      ],
    })
    expect(await stats({ by: 'subagent' })).toMatchObject({ ...tally, groups: [{ ...tally, key: null }] })
    expect(await stats({ until: '2020-01-01T00:00:00+01:00' })).toMatchObject({
      outputs: 0,
      since: '2019-12-01T23:00:00.000Z',
      until: '2019-12-31T23:00:00.000Z',
    })
  })

  it('200: counts nothing of another project', async () => {
    expect(await stats({}, await own.api.key(['evaluations:read'], await own.api.stranger()))).toMatchObject({ outputs: 0, groups: [] })
    expect(await stats({ by: 'agreement' }, await own.api.key(['evaluations:read'], await own.api.stranger()))).toMatchObject({ outputs: 0, cases: [] })
  })

  it('200: sets verdicts beside what people say in reviews and flags, and links the cases in which they differ', async () => {
    const door = await startEvaluationsApi(await testDatabase())
    const get = async () => (await door.send('GET', '/evaluations/stats?by=agreement')).body
    expect(await get()).toMatchObject({ by: 'agreement', outputs: 0, n: 0, observed_agreement: null, kappa: null, reason: 'too_few', cases: [], is_cut: false })
    const taskId = await door.task({ acceptance_criteria: ['Links work'], review: 'manual' })
    const { acceptance_criteria: criteria } = (await door.send('GET', `/tasks/${taskId}`)).body
    await door.send('POST', `/tasks/${taskId}/complete`, { outputs: {}, summary: checkIn(['- ✅ Links work']) })
    const said = { criterion_id: criteria[0].id, verdict: 'unmet', comment: 'Two are dead.' }
    await door.send('POST', `/tasks/${taskId}/review`, { decision: 'request_revision', note: 'Mend them.', criteria: [said] })
    const subtaskId = await door.complete(reflection('✅'))
    await door.send('POST', `/subtasks/${subtaskId}/quality-flag`, { quality: 'good' })
    const body = await get()
    const pairs = { both_met: 1, only_verdict_met: 1, only_person_met: 0, both_unmet: 0 }
    const group = { n: 1, kappa: null, reason: 'too_few', observed_agreement: 0, pairs: { ...pairs, both_met: 0 }, undecided: 0, named: 1 }
    expect(body).toMatchObject({ outputs: 2, n: 2, observed_agreement: 0.5, kappa: null, reason: 'too_few', pairs, named: 0 })
    expect(body.by_subagent).toMatchObject([{ key: null, n: 2 }])
    expect(body.by_criterion).toEqual([{ key: 'Links work', outputs: 1, ...group }])
    expect(body.by_method).toEqual([{ key: 'check_in', outputs: 1, ...group }])
    const [first, review] = (await door.send('GET', `/evaluations?task_id=${taskId}`)).body.items.reverse()
    expect(review).toMatchObject({ origin: 'review', review_of: first.evaluation_id, recommendation: 'request_revision' })
    expect(body.cases).toEqual([
      {
        evaluation_id: first.evaluation_id,
        task_id: taskId,
        subtask_id: null,
        subagent: null,
        criterion: { id: criteria[0].id, text: 'Links work' },
        verdict: 'met',
        method: 'check_in',
        score: 1,
        recommendation: 'approve',
        said: { kind: 'verdict', value: 'unmet', comment: 'Two are dead.', author: { kind: 'key', id: expect.any(String) }, at: review.created_at },
        difference: 1,
        links: {
          evaluation: `/evaluations/${first.evaluation_id}`,
          output: `/evaluations/${first.evaluation_id}/payload`,
          task: `/tasks/${taskId}`,
          subtask: null,
        },
      },
    ])
    expect((await door.send('GET', body.cases[0].links.output)).status).toBe(200)
    await door.api.close()
  })

  it.each([
    [{ by: 'week' }, '?by', 'must be one of day, subagent, criterion, agreement'],
    [{ since: 'yesterday' }, '?since', expect.stringContaining('RFC 3339')],
    [{ until: '2026-02-30T00:00:00Z' }, '?until', expect.stringContaining('RFC 3339')],
    [{ since: '2026-03-02T00:00:00Z', until: '2026-03-02T00:00:00Z' }, '?since', expect.stringContaining('must be before until')],
    [{ since: '2024-01-01T00:00:00Z', until: '2026-01-01T00:00:00Z' }, '?since', expect.stringContaining('at most 366 days')],
  ])('400: refuses %#', async (query, pointer, reason) => {
    expect(await stats(query as Record<string, string>)).toMatchObject({ status: 400, code: 'validation_failed', errors: [{ pointer, reason }] })
  })
})
