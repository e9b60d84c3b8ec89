import type { AttemptEnd, BudgetLimits, UsageAdded } from '@muster/domain'
import { advanceClock, claimAll, claimOne, completed, drainOutbox, type Harness, invariants, makeTask, resetClock, spawn, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  answerQuestion,
  buildPrompt,
  type ClaimedRun,
  type Ctx,
  claimInbox,
  dispatchTask,
  expireQuestions,
  getSubtask,
  getTask,
  listQuestions,
  reviseTask,
  settleRuns,
  updateProject,
} from '../index.ts'

let harness: Harness
let ctx: Ctx

beforeEach(async () => {
  harness ??= await startHarness()
  await resetClock(harness.admin)
  ctx = await harness.projectCtx()
})
afterEach(async () => {
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin, { whileBusy: true })).toEqual([])
})
afterAll(() => harness.close())

const POOR = '<npl-block type="check-in">\n- 🐛 All is well\n</npl-block>'
const exceeded: AttemptEnd = { kind: 'budget_exceeded', error: 'The budget of tokens (max_tokens) is used up.', partialResult: 'half of it' }
const limit = (limits: BudgetLimits) => updateProject(ctx, ctx.actor.projectId, { settings: { limits } })
const claim = () => claimOne(ctx, { runners: ['external'] })
const end = (run: ClaimedRun, usage: Partial<UsageAdded>, attemptEnd: AttemptEnd = completed()) =>
  settleRuns(ctx, run.projectId, [{ subtaskId: run.id, attempt: run.attempt, usage, end: attemptEnd }])
const taskWith = (budget: { max_tokens?: number; max_cost_usd?: number }) =>
  makeTask(ctx, { acceptance_criteria: ['All is well'], parent_session_id: 'parent', budget })
const dispatch = (id: string, maxRevisions = 0, maxTokens?: number) =>
  dispatchTask(ctx, id, () => ({ runner: 'external', maxRevisions, budget: { maxTokens } }))
const asked = async () => (await listQuestions(ctx, { status: 'open', limit: 10 })).items

describe('the budget of a task', () => {
  it('is reserved whole by its run, which may ask for less, and is free again as far as the run did not use it', async () => {
    const { id } = await taskWith({ max_tokens: 100, max_cost_usd: 2 })
    expect((await dispatch(id)).budget).toMatchObject({ maxTokens: 100, maxCostUsdMicros: 2_000_000 })
    await end(await claim(), { inputTokens: 30, costUsdMicros: 500_000 }, { kind: 'errored', error: 'x', retryable: false, partialResult: null })
    expect((await dispatch(id, 0, 50)).budget).toMatchObject({ maxTokens: 50, maxCostUsdMicros: 1_500_000 })
    await end(await claim(), { inputTokens: 50, costUsdMicros: 1 }, { kind: 'errored', error: 'x', retryable: false, partialResult: null })
    expect((await dispatch(id)).budget).toMatchObject({ maxTokens: 20, maxCostUsdMicros: 1_499_999 })
    await end(await claim(), { inputTokens: 20, costUsdMicros: 1 }, { kind: 'errored', error: 'x', retryable: false, partialResult: null })
    await expect(dispatch(id)).rejects.toMatchObject({
      code: 'budget_exhausted',
      details: { budget: { scope: 'task', task_id: id, unit: 'tokens' }, limit: 100, used: 100, resets_at: null },
    })
  })

  it('can be raised by a change of the brief, which tells the holder nothing', async () => {
    const task = await taskWith({ max_tokens: 10 })
    const { task: revised, update } = await reviseTask(ctx, task.id, { budget: { max_tokens: 30 } }, 'any')
    expect(revised).toMatchObject({ budgetMaxTokens: 30, budgetMaxCostMicros: null, revision: 2 })
    expect(update).toBeNull()
    expect((await dispatch(task.id)).budget.maxTokens).toBe(30)
  })

  it.each([{ max_tokens: 0 }, { max_tokens: 1.5 }, { max_cost_usd: -1 }, { max_cost_usd: 2e9 }, { max_tokens: '5' as unknown as number }])(
    'is refused as %j',
    async (budget) => {
      await expect(taskWith(budget)).rejects.toMatchObject({ code: 'validation_failed', details: { errors: [{ field: `budget.${Object.keys(budget)[0]}` }] } })
    },
  )

  it('is shared by the revision rounds of a chain, and no round follows when nothing is left', async () => {
    const { id } = await taskWith({ max_tokens: 100 })
    await dispatch(id, 5)
    await end(await claim(), { inputTokens: 60 }, completed(POOR))
    const second = await claim()
    expect(second).toMatchObject({ revisionOf: expect.any(String), budgetMaxTokens: 40 })
    await end(second, { inputTokens: 40 }, completed(POOR))
    expect(await claimAll(ctx, { runners: ['external'] })).toEqual([])
    expect((await getTask(ctx, id)).status).not.toBe('in_progress')
  })

  it('is not shared where there is none: each round has what was requested', async () => {
    const { id } = await makeTask(ctx, { acceptance_criteria: ['All is well'] })
    await dispatch(id, 1, 100)
    await end(await claim(), { inputTokens: 90 }, completed(POOR))
    expect(await claim()).toMatchObject({ revisionOf: expect.any(String), budgetMaxTokens: 100 })
  })

  it('of a project is not exceeded by revision rounds', async () => {
    await limit({ budget: { total: { tokens: 100 } } })
    const { id } = await makeTask(ctx, { acceptance_criteria: ['All is well'] })
    await dispatch(id, 3, 70)
    await expect(spawn(ctx, { runner: 'external', budget: { maxTokens: 31 } })).rejects.toMatchObject({ code: 'budget_exhausted' })
    await end(await claim(), { inputTokens: 50 }, completed(POOR))
    await expect(spawn(ctx, { runner: 'external', budget: { maxTokens: 31 } })).rejects.toMatchObject({ details: { used: 50, reserved: 20 } })
  })
})

describe('a run that has used up the budget of its task', () => {
  async function waitingRun() {
    const task = await taskWith({ max_tokens: 100 })
    const { id } = await dispatch(task.id)
    await end(await claim(), { inputTokens: 105 }, exceeded)
    const [question, ...more] = await asked()
    expect(more).toEqual([])
    return { taskId: task.id, id, questionId: question?.id ?? '', question }
  }

  it('waits for an approval, without a permit, and tells its parent session', async () => {
    const { id, question, questionId } = await waitingRun()
    expect(await getSubtask(ctx, id)).toMatchObject({ status: 'waiting', waitingFor: questionId })
    expect(question).toMatchObject({ kind: 'approval', arguments: { max_tokens: 100 }, onExpiry: 'default', defaultAnswer: { decision: 'reject' } })
    expect(question?.prompt).toContain('half of it')
    expect((await claimInbox(ctx, 'parent', { limit: 10, ack: 'auto' })).items).toMatchObject([{ questionId, subtaskId: id }])
    const [row] = await harness.admin`select slot, job_id, worker_id from subtasks where id = ${id}`
    expect(row).toMatchObject({ slot: false, job_id: null })
  })

  it('goes on when it is approved, with as much again, and so has its task', async () => {
    const { id, taskId, questionId } = await waitingRun()
    await answerQuestion(ctx, questionId, { decision: 'approve' })
    const run = await claim()
    expect(run).toMatchObject({ id, attempt: 2, budgetMaxTokens: 200, inputTokens: 105 })
    expect((await getTask(ctx, taskId)).budgetMaxTokens).toBe(200)
    await end(run, { inputTokens: 5 })
    expect(await getSubtask(ctx, id)).toMatchObject({ status: 'completed', usage: { inputTokens: 110 } })
  })

  it('goes on from what its runner left', async () => {
    const task = await taskWith({ max_tokens: 100 })
    await dispatch(task.id)
    await end(await claim(), { inputTokens: 100 }, { ...exceeded, continuation: 'the conversation' })
    const [question] = await asked()
    await answerQuestion(ctx, question?.id ?? '', { decision: 'approve' })
    const { continuation } = await buildPrompt(ctx, await claim())
    expect(continuation).toMatchObject({ state: 'the conversation', updates: expect.stringContaining('approve') })
  })

  it('may be given another amount, which must be one', async () => {
    const { questionId } = await waitingRun()
    for (const edited_arguments of [{ max_tokens: 0 }, { tokens: 5 }, {}]) {
      await expect(answerQuestion(ctx, questionId, { decision: 'approve', edited_arguments })).rejects.toMatchObject({ code: 'validation_failed' })
    }
    await answerQuestion(ctx, questionId, { decision: 'approve', edited_arguments: { max_tokens: 7 } })
    expect(await claim()).toMatchObject({ budgetMaxTokens: 107 })
  })

  it('may be raised twice', async () => {
    const { id, questionId } = await waitingRun()
    await answerQuestion(ctx, questionId, { decision: 'approve' })
    await end(await claim(), { inputTokens: 95 }, exceeded)
    const [again] = await asked()
    expect(again).toMatchObject({ subtaskId: id, arguments: { max_tokens: 200 } })
  })

  it.each(['is rejected', 'gets no answer in a week'])('ends as budget_exceeded when it %s, and returns its task', async (how) => {
    const { id, taskId, questionId } = await waitingRun()
    if (how === 'is rejected') await answerQuestion(ctx, questionId, { decision: 'reject' })
    else {
      await advanceClock(harness.admin, '8 days')
      expect(await expireQuestions(ctx)).toBeGreaterThan(0)
    }
    expect(await getSubtask(ctx, id)).toMatchObject({
      status: 'failed',
      finalOutcome: 'budget_exceeded',
      error: 'The budget is used up, and it was not raised.',
    })
    expect(await getTask(ctx, taskId)).toMatchObject({ status: 'pending', lastError: 'The budget is used up, and it was not raised.' })
    expect(await asked()).toEqual([])
    const { items } = await claimInbox(ctx, 'parent', { limit: 10, ack: 'auto' })
    expect(items).toContainEqual(expect.objectContaining({ subtaskId: id }))
  })

  it('is answered once by two people at once', async () => {
    const { id, questionId } = await waitingRun()
    const other = { ...ctx, actor: { ...ctx.actor, id: ctx.newId() } }
    const answers = await Promise.allSettled([
      answerQuestion(ctx, questionId, { decision: 'approve' }),
      answerQuestion(other, questionId, { decision: 'reject' }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const { status, budget } = await getSubtask(ctx, id)
    expect(['pending', 'failed']).toContain(status)
    expect(budget.maxTokens).toBe(status === 'pending' ? 200 : 100)
  })
})

describe('a run that has used up its budget', () => {
  it('waits where its project has a budget, and is raised only as far as that has room', async () => {
    await limit({ budget: { total: { tokens: 150 } } })
    const { id } = await spawn(ctx, { runner: 'external', budget: { maxTokens: 100 } })
    await end(await claim(), { inputTokens: 100 }, exceeded)
    const [question] = await asked()
    const questionId = question?.id ?? ''
    await expect(answerQuestion(ctx, questionId, { decision: 'approve' })).rejects.toMatchObject({
      code: 'budget_exhausted',
      details: { limit: 150, used: 0, reserved: 100, requested: 100 },
    })
    expect(await getSubtask(ctx, id)).toMatchObject({ status: 'waiting', budget: { maxTokens: 100 } })
    await answerQuestion(ctx, questionId, { decision: 'approve', edited_arguments: { max_tokens: 50 } })
    expect(await claim()).toMatchObject({ id, budgetMaxTokens: 150 })
  })

  it('ends as budget_exceeded where only it has one, and where it has used up its steps', async () => {
    const { id } = await spawn(ctx, { runner: 'external', budget: { maxTokens: 10 } })
    await end(await claim(), { inputTokens: 10 }, exceeded)
    expect(await getSubtask(ctx, id)).toMatchObject({ status: 'failed', finalOutcome: 'budget_exceeded', result: 'half of it' })
    const task = await taskWith({ max_tokens: 100 })
    const run = await dispatch(task.id)
    await end(await claim(), { inputTokens: 5 }, exceeded)
    expect(await getSubtask(ctx, run.id)).toMatchObject({ status: 'failed', finalOutcome: 'budget_exceeded' })
  })
})
