import type { JudgeAnswer, UsageAdded, UsageGrouping } from '@muster/domain'
import { advanceClock, claimOne, completed, type Harness, makeTask, resetClock, scriptedJudge, spawn, startHarness } from '@muster/testing'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { NewSubtask } from '../index.ts'
import { type ClaimedRun, type Ctx, checkpointRun, createEvaluation, dispatchTask, getUsage, judgeEvaluation, settleRuns } from '../index.ts'

let harness: Harness
let ctx: Ctx

const PRICES = { m: { input: 1, output: 10, cached_input: 0.5 } }
const DAY = '1 day'

beforeEach(async () => {
  harness ??= await startHarness({ settings: { MODEL_PRICES: JSON.stringify(PRICES) } })
  await resetClock(harness.admin)
  ctx = await harness.projectCtx()
})
afterAll(() => harness.close())

const claim = () => claimOne(ctx, { runners: ['external'] })
const end = (run: ClaimedRun, usage: Partial<UsageAdded>, kind: 'completed' | 'errored' = 'completed', result = 'There are 3 files.') =>
  settleRuns(ctx, run.projectId, [
    {
      subtaskId: run.id,
      attempt: run.attempt,
      usage,
      end: kind === 'completed' ? completed(result) : { kind, error: 'x', retryable: true, partialResult: null },
    },
  ])

async function ran(usage: Partial<UsageAdded>, own: Partial<NewSubtask> = {}): Promise<ClaimedRun> {
  await spawn(ctx, { runner: 'external', ...own })
  const run = await claim()
  await end(run, usage)
  return run
}

async function checkpoint(run: ClaimedRun, usage: Partial<UsageAdded>): Promise<void> {
  await checkpointRun(ctx, run.projectId, {
    ...run,
    ...{ subtaskId: run.id, workerId: 'w', steps: [], usage, acknowledgedIds: [], takesUpdates: false, afterStepSeq: null, renewsLease: false },
    repeatUnacknowledged: false,
  })
}

const by = async (grouping: UsageGrouping) => (await getUsage(ctx, { by: grouping })).groups
const total = async () => (await getUsage(ctx, { by: 'day' })).total

describe('usage', () => {
  it('is nothing, and costs 0, where nothing has ended', async () => {
    await spawn(ctx, { runner: 'external' })
    await checkpoint(await claim(), { inputTokens: 100 })
    expect(await getUsage(ctx, { by: 'day' })).toMatchObject({ total: { runs: 0, attempts: 0, inputTokens: 0, costUsdMicros: 0 }, groups: [], isCut: false })
  })

  it('counts each attempt once, those that failed too, and what checkpoints stored with what the end adds', async () => {
    await spawn(ctx, { runner: 'external' })
    const first = await claim()
    await checkpoint(first, { inputTokens: 100, cachedInputTokens: 60, outputTokens: 10, model: 'm' })
    await end(first, { inputTokens: 5 }, 'errored')
    const second = await claim()
    await checkpoint(second, { inputTokens: 1_000, outputTokens: 100, costUsdMicros: 7, model: 'x' })
    await end(second, { outputTokens: 1 })
    expect(await total()).toMatchObject({ runs: 1, attempts: 2, inputTokens: 1_105, cachedInputTokens: 60, outputTokens: 111 })
    // The first at 45 + 30 + 100 by its price, the second as it was reported.
    expect(await total()).toMatchObject({ costUsdMicros: 182, costSource: 'mixed', unpricedRuns: 0 })
    expect(await by('model')).toMatchObject([
      { key: 'x', runs: 1, attempts: 1, inputTokens: 1_000, costSource: 'reported' },
      { key: 'm', runs: 0, attempts: 1, inputTokens: 105, costSource: 'priced' },
    ])
  })

  it('counts each revision round of a chain once, under its task', async () => {
    const task = await makeTask(ctx, { acceptance_criteria: ['All is well'] })
    await dispatchTask(ctx, task.id, () => ({ runner: 'external', maxRevisions: 1 }))
    await end(await claim(), { inputTokens: 10, model: 'm' }, 'completed', '<npl-block type="check-in">\n- 🐛 All is well\n</npl-block>')
    await end(await claim(), { inputTokens: 20, model: 'm' })
    expect(await by('task')).toMatchObject([{ key: task.id, runs: 2, attempts: 2, inputTokens: 30, costUsdMicros: 30 }])
  })

  it('says which models have no price, instead of counting them as 0', async () => {
    await ran({ inputTokens: 10, model: 'unheard-of' }, { agentId: 'a' })
    await ran({ inputTokens: 10, model: 'm' }, { agentId: 'b' })
    await ran({ inputTokens: 30 }, { agentId: 'a', model: 'asked-for' })
    await ran({}, { agentId: 'c' })
    expect(await by('agent')).toMatchObject([
      { key: 'a', costUsdMicros: null, costSource: null, unpricedRuns: 2, unpricedModels: ['asked-for', 'unheard-of'] },
      { key: 'b', costUsdMicros: 10, unpricedRuns: 0, unpricedModels: [] },
      { key: 'c', costUsdMicros: null, unpricedRuns: 0, unreportedRuns: 1 },
    ])
    expect(await total()).toMatchObject({ runs: 4, costUsdMicros: 10, unpricedRuns: 2, unreportedRuns: 1 })
  })

  it('includes judges, also those that failed', async () => {
    const task = await makeTask(ctx)
    const answers: JudgeAnswer[] = [
      { kind: 'judged', verdicts: [], model: 'openai:m', usage: { inputTokens: 100, outputTokens: 1, costUsdMicros: 0, model: 'm' } },
      { kind: 'failed', error: 'refused', retryable: false, retryAfterMs: null, usage: { inputTokens: 50, outputTokens: 0, costUsdMicros: 3, model: 'm' } },
    ]
    for (const answer of answers) {
      await createEvaluation(ctx, { output: 'Done.', acceptanceCriteria: ['Is done'], judge: true, taskId: task.id })
      const judge = scriptedJudge(async () => answer)
      for (const job of await ctx.judgeJobs.take(10)) await judgeEvaluation(ctx, judge, job, new AbortController().signal)
    }
    const counted = { runs: 0, attempts: 0, judgements: 2, inputTokens: 150, outputTokens: 1, costUsdMicros: 113 }
    expect(await by('runner')).toMatchObject([{ key: '(judge)', ...counted }])
    expect(await by('task')).toMatchObject([{ key: task.id, ...counted }])
    expect(await by('model')).toMatchObject([{ key: 'm', ...counted }])
  })

  it('is of the days on which subtasks ended, newest first, within the range', async () => {
    await ran({ inputTokens: 1, model: 'm' })
    await advanceClock(harness.admin, DAY)
    await ran({ inputTokens: 2, model: 'm' })
    await advanceClock(harness.admin, DAY)
    const { groups, until } = await getUsage(ctx, { by: 'day' })
    expect(groups.map(({ inputTokens }) => inputTokens)).toEqual([2, 1])
    expect(groups.map(({ key }) => key)).toEqual([1, 2].map((days) => new Date(until.getTime() - days * 86_400_000).toISOString().slice(0, 10)))
    const later = await getUsage(ctx, { by: 'day', since: new Date(until.getTime() - 1.5 * 86_400_000) })
    expect(later.total.inputTokens).toBe(2)
    const earlier = await getUsage(ctx, { by: 'day', until: new Date(until.getTime() - 1.5 * 86_400_000) })
    expect(earlier.total.inputTokens).toBe(1)
  })

  it('adds up the time that attempts ran', async () => {
    await spawn(ctx, { runner: 'external' })
    const run = await claim()
    await advanceClock(harness.admin, '90 seconds')
    await end(run, { inputTokens: 1 })
    const { durationMs } = await total()
    expect(durationMs).toBeGreaterThanOrEqual(90_000)
    await advanceClock(harness.admin, '-90 seconds')
  })

  it('is only of the own project', async () => {
    await ran({ inputTokens: 10, model: 'm' })
    const { projectId } = ctx.actor
    expect(await by('project')).toMatchObject([{ key: projectId, inputTokens: 10 }])
    ctx = await harness.projectCtx('stranger')
    expect(await getUsage(ctx, { by: 'agent' })).toMatchObject({ total: { runs: 0, inputTokens: 0 }, groups: [] })
  })

  it('refuses ranges that are empty or too long, and the credential of a subtask', async () => {
    const at = (days: number) => new Date(Date.parse('2026-01-01') + days * 86_400_000)
    await expect(getUsage(ctx, { by: 'day', since: at(1), until: at(1) })).rejects.toMatchObject({ code: 'validation_failed' })
    await expect(getUsage(ctx, { by: 'day', since: at(0), until: at(367) })).rejects.toMatchObject({ code: 'validation_failed' })
    const run = await spawn(ctx, { runner: 'external' })
    const lineage = { ...ctx.actor, lineage: { subtaskId: run.id, taskId: null, sessionId: `subtask-${run.id}` } } as unknown as Ctx['actor']
    await expect(getUsage({ ...ctx, actor: lineage }, { by: 'day' })).rejects.toMatchObject({ code: 'forbidden' })
  })
})
