import { evaluations, transaction } from '@muster/db'
import type { EvaluationDetail, EvaluationSettings, PersonVerdict, Task } from '@muster/domain'
import { allEvents, drainOutbox, type Harness, invariants, makeTask, scriptedJudge, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  assignTask,
  completeTask,
  getEvaluation,
  getEvaluationPayload,
  getEvaluationStats,
  getTask,
  getTaskPayload,
  judgeEvaluation,
  listEvaluations,
  listTaskUpdates,
  reviewTask,
  reviseTask,
  updateProject,
} from '../index.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})
afterEach(async () => {
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})
afterAll(() => harness.close())

const OUTPUT = '<npl-block type="check-in">\n- ✅ It compiles\n- ✅ It is documented\n</npl-block>'
const ids = ({ criteria }: Task) => criteria.map(({ id }) => id) as [string, string]
const said = (criterionId: string, verdict: PersonVerdict['verdict'], comment: string | null = null): PersonVerdict => ({ criterionId, verdict, comment })

/** A task in review whose agent says that both criteria are met. */
async function inReview(fields: Parameters<typeof makeTask>[1] = {}): Promise<Task> {
  const { id } = await makeTask(harness.ctx, { review: 'manual', acceptance_criteria: ['It compiles', 'It is documented'], ...fields })
  await assignTask(harness.ctx, id, `holder-of-${id}`)
  return await completeTask(harness.ctx, id, { outputs: {}, summary: OUTPUT })
}

async function storedOf(task: Task) {
  return await harness.admin<{ id: string; origin: string; review_of: string | null; recommendation: string; score: number; detail: EvaluationDetail }[]>`
    select id, origin, review_of, recommendation, score, detail from evaluations where task_id = ${task.id} order by id`
}
const verdictsOf = ({ detail }: { detail: EvaluationDetail }) => detail.criteria.map(({ verdict, method, evidence }) => [verdict, method, evidence])

describe('a review', () => {
  it('is kept as an evaluation of the submission: the decision, the verdicts of the person, and the others as they were', async () => {
    const task = await inReview()
    const [compiles, documented] = ids(task)
    await reviewTask(harness.ctx, task.id, {
      decision: 'request_revision',
      note: 'Not yet.',
      criteria: [said(documented.toUpperCase(), 'unmet', 'The README is empty.')],
    })
    const [first, review] = await storedOf(task)
    expect(first).toMatchObject({ origin: 'completion', review_of: null, recommendation: 'approve' })
    expect(review).toMatchObject({ origin: 'review', review_of: first?.id, recommendation: 'request_revision', score: 1 })
    expect(verdictsOf(review as NonNullable<typeof review>)).toEqual([
      ['met', 'check_in', 'It compiles'],
      ['unmet', 'person', 'The README is empty.'],
    ])
    expect(review?.detail).toMatchObject({ closedGates: ['required_criteria'], review: { note: 'Not yet.', author: { kind: 'open' } } })
    expect((await getTask(harness.ctx, task.id)).criteria.map(({ id, state }) => [id, state])).toEqual([
      [compiles, 'met'],
      [documented, 'unmet'],
    ])
    const { items } = await listTaskUpdates(harness.ctx, task.id, { limit: 20 })
    expect(items.find(({ updateType }) => updateType === 'revision_request')?.content).toBe(
      `Not yet.\n\nCriteria that are not met:\n- unmet: It is documented (${documented}): The README is empty.`,
    )
    await drainOutbox(harness.deps)
    expect(await allEvents(harness.ctx, review?.id)).toMatchObject([{ type: 'evaluation.created', data: { origin: 'review', review_of: first?.id } }])
  })

  it('has the last word against the agent that says less of itself', async () => {
    const task = await inReview()
    const [compiles] = ids(task)
    await reviewTask(harness.ctx, task.id, { decision: 'request_revision', criteria: [said(compiles, 'unclear')] })
    await completeTask(harness.ctx, task.id, { outputs: {}, summary: '<npl-block type="check-in">\n- 🐛 It compiles\n- ✅ It is documented\n</npl-block>' })
    await reviewTask(harness.ctx, task.id, { decision: 'approve', criteria: [said(compiles, 'met', 'I built it.')] })
    const stored = await storedOf(task)
    expect(stored.map(({ origin, recommendation }) => [origin, recommendation])).toEqual([
      ['completion', 'approve'],
      ['review', 'request_revision'],
      ['completion', 'request_revision'],
      ['review', 'approve'],
    ])
    expect(stored[3]?.review_of).toBe(stored[2]?.id)
    expect(verdictsOf(stored[3] as NonNullable<(typeof stored)[3]>)[0]).toEqual(['met', 'person', 'I built it.'])
    expect((await getTask(harness.ctx, task.id)).criteria.map(({ state }) => state)).toEqual(['met', 'met'])
  })

  it('is kept without verdicts too, and shows where evaluations are read', async () => {
    const task = await inReview()
    await reviewTask(harness.ctx, task.id, { decision: 'approve' })
    const { items } = await listEvaluations(harness.ctx, { taskId: task.id, limit: 20 })
    expect(items.map(({ origin, reviewOf, recommendation }) => [origin, reviewOf, recommendation])).toEqual([
      ['review', items[1]?.id, 'approve'],
      ['completion', null, 'approve'],
    ])
    const reviewId = items[0]?.id ?? ''
    expect((await getEvaluation(harness.ctx, reviewId)).detail.criteria.map(({ method }) => method)).toEqual(['check_in', 'check_in'])
    expect(await getEvaluationPayload(harness.ctx, reviewId)).toMatchObject({ output: OUTPUT, evaluationId: reviewId })
    expect(await getTaskPayload(harness.ctx, task.id)).toMatchObject({ output: OUTPUT, evaluationId: reviewId })
  })

  it('is not counted as another output, and has the last word on one', async () => {
    const ctx = await harness.projectCtx()
    const { id } = await makeTask(ctx, { review: 'manual', acceptance_criteria: ['It compiles'] })
    await assignTask(ctx, id, 'holder')
    const task = await completeTask(ctx, id, { outputs: {}, summary: '<npl-block type="check-in">\n- ✅ It compiles\n</npl-block>' })
    await reviewTask(ctx, id, { decision: 'request_revision', criteria: [said(ids(task)[0], 'unmet')] })
    const counts = { approve: 0, review: 0, request_revision: 1 }
    for (const by of ['day', 'subagent', 'criterion'] as const)
      expect(await getEvaluationStats(ctx, { by })).toMatchObject({ total: { outputs: 1, averageScore: 1, recommendations: counts }, groups: [{ outputs: 1 }] })
    expect((await getEvaluationStats(ctx, { by: 'criterion' })).groups[0]?.verdicts).toMatchObject({ met: 0, unmet: 1 })
  })

  it('is by the criteria of the current brief', async () => {
    const task = await inReview()
    const { task: revised } = await reviseTask(harness.ctx, task.id, { acceptance_criteria: ['It compiles', 'It is short'] }, 'any')
    await reviewTask(harness.ctx, task.id, { decision: 'request_revision', criteria: [said(ids(revised)[1], 'unmet')] })
    const review = (await storedOf(task)).at(-1) as Awaited<ReturnType<typeof storedOf>>[0]
    expect(review.detail.criteria.map(({ text, verdict, method }) => [text, verdict, method])).toEqual([
      ['It compiles', 'met', 'check_in'],
      ['It is short', 'unmet', 'person'],
    ])
  })

  it.each<[string, (task: Task) => PersonVerdict[], string]>([
    ['is not of the task', () => [said('0198c9b1-4c01-7000-8000-000000000001', 'met')], 'criteria[0].criterion_id is no criterion of the current brief'],
    ['is named twice', (task) => [said(ids(task)[0], 'met'), said(ids(task)[0], 'unmet')], 'criteria[1].criterion_id is named twice'],
  ])('changes nothing for a criterion that %s', async (_, criteria, message) => {
    const task = await inReview()
    await expect(reviewTask(harness.ctx, task.id, { decision: 'approve', criteria: criteria(task) })).rejects.toMatchObject({
      code: 'validation_failed',
      message: expect.stringContaining(message),
    })
    expect(await storedOf(task)).toHaveLength(1)
    expect((await getTask(harness.ctx, task.id)).status).toBe('in_review')
  })

  it('counts once of two at once', async () => {
    const task = await inReview()
    const both = await Promise.allSettled([
      reviewTask(harness.ctx, task.id, { decision: 'approve', criteria: [said(ids(task)[0], 'met')] }),
      reviewTask(harness.ctx, task.id, { decision: 'request_revision', criteria: [said(ids(task)[0], 'unmet')] }),
    ])
    expect(both.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { code: 'invalid_transition' } }])
    expect((await storedOf(task)).filter(({ origin }) => origin === 'review')).toHaveLength(1)
  })

  it('stays the last word when a judge answers after it', async () => {
    const rules = (evaluation: EvaluationSettings) => updateProject(harness.ctx, harness.ctx.actor.projectId, { settings: { evaluation } })
    await rules({ judge: true })
    const task = await inReview()
    await rules({})
    await reviewTask(harness.ctx, task.id, { decision: 'approve', criteria: [said(ids(task)[0], 'met')] })
    const [first] = await storedOf(task)
    const [job] = await harness.deps.judgeJobs.take(1)
    if (job === undefined) throw new Error('there is no judgement')
    const judge = scriptedJudge(async () => ({
      kind: 'judged',
      verdicts: [{ criterionId: ids(task)[0] as string, verdict: 'unmet', quote: '' }],
      model: 'm',
      usage: { inputTokens: 1, outputTokens: 1, costUsdMicros: 1 },
    }))
    expect(await judgeEvaluation(harness.deps, judge, job, new AbortController().signal)).toBe('judged')
    expect((await getTask(harness.ctx, task.id)).status).toBe('completed')
    const judged = (await storedOf(task)).at(-1)
    expect(judged).toMatchObject({ origin: 'completion', recommendation: 'review' })
    expect((await getTaskPayload(harness.ctx, task.id)).evaluationId).toBe((await storedOf(task)).find(({ review_of }) => review_of === first?.id)?.id)
  })

  it('is no submission', async () => {
    const task = await inReview()
    await reviewTask(harness.ctx, task.id, { decision: 'approve' })
    const { projectId } = harness.ctx.actor
    const [first] = await storedOf(task)
    expect(await transaction(harness.ctx.db, projectId, (tx) => evaluations.findSubmitted(tx, projectId, task.id, task.subagentSessionId))).toBe(first?.id)
  })
})
