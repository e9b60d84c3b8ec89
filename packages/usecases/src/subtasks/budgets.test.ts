import { budgets, connect, transaction } from '@muster/db'
import type { BudgetLimits, DomainError, JudgeAnswer, JudgeQuestion } from '@muster/domain'
import { createRunJobs, type HeldJudgeJob } from '@muster/jobs'
import {
  advanceClock,
  claimAll,
  completed,
  type Harness,
  invariants,
  makeTask,
  resetClock,
  scriptedJudge,
  spawn,
  startHarness,
  storeSchedules,
} from '@muster/testing'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type ClaimedRun,
  type Ctx,
  cancelSubtask,
  createEvaluation,
  fireSchedules,
  judgeEvaluation,
  type NewSubtask,
  settleRuns,
  updateProject,
} from '../index.ts'

let harness: Harness
let ctx: Ctx

beforeEach(async () => {
  harness ??= await startHarness({ settings: { SUBTASK_MAX_PENDING: '200', SUBTASK_MAX_CONCURRENT: '200' } })
  await resetClock(harness.admin)
  ctx = await harness.projectCtx()
})
afterEach(async () => expect(await invariants(harness.admin, { runningPerAgent: 200, whileBusy: true })).toEqual([]))
afterAll(() => harness.close())

const limit = (limits: BudgetLimits) => updateProject(ctx, ctx.actor.projectId, { settings: { limits } })
const ask = (maxTokens?: number, own: Partial<NewSubtask> = {}) =>
  spawn(ctx, { runner: 'external', ...(maxTokens === undefined ? {} : { budget: { maxTokens } }), ...own })
const refusal = (maxTokens?: number, own: Partial<NewSubtask> = {}) =>
  ask(maxTokens, own).then(
    () => null,
    ({ code, details }: DomainError) => ({ code, ...details }),
  )
const claim = () => claimAll(ctx, { runners: ['external'] })
const end = (run: ClaimedRun, inputTokens: number, kind: 'completed' | 'errored' | 'lost' = 'completed') =>
  settleRuns(ctx, run.projectId, [
    {
      subtaskId: run.id,
      attempt: run.attempt,
      usage: { inputTokens },
      end: kind === 'completed' ? completed() : kind === 'lost' ? { kind, ranMs: 0, lostMs: 0 } : { kind, error: 'x', retryable: false, partialResult: null },
    },
  ])

describe('a budget', () => {
  it.each([
    ['that ask for a tenth each', 10],
    ['that ask for nothing', undefined],
  ])('for ten lets exactly ten of 100 subtasks %s start, at once and in two processes', async (_, maxTokens) => {
    await limit({ budget: { day: { tokens: 100 } } })
    const processes: Ctx[] = [ctx, { ...ctx, runJobs: createRunJobs() }]
    const answers = await Promise.allSettled(
      Array.from({ length: 100 }, (__, nth) =>
        spawn(processes[nth % 2] as Ctx, {
          runner: 'external',
          agentId: `agent-${nth % 7}`,
          budget: { maxTokens },
          ...(nth % 5 === 0 ? { subagent: 'Explore', runner: 'own' } : {}),
        }),
      ),
    )
    const accepted = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    expect(accepted.map(({ budget }) => budget.maxTokens)).toEqual(Array.from({ length: 10 }, () => 10))
    for (const answer of answers.filter((each) => each.status === 'rejected')) {
      expect(answer.reason).toMatchObject({ code: 'budget_exhausted', details: { limit: 100, used: 0, reserved: 100, requested: 10 } })
    }
    const [stored] =
      await harness.admin`select count(*)::int as count, sum(budget_max_tokens)::int as reserved from subtasks where project_id = ${ctx.actor.projectId}`
    expect(stored).toEqual({ count: 10, reserved: 100 })
  })

  it('settles what was used with the end, and frees the rest', async () => {
    await limit({ budget: { day: { tokens: 100 } } })
    await ask(60)
    await ask(40)
    expect(await refusal(1)).toMatchObject({ code: 'budget_exhausted', used: 0, reserved: 100 })
    for (const run of await claim()) await end(run, 30)
    expect(await refusal(41)).toMatchObject({ used: 60, reserved: 0, requested: 41 })
    expect(await refusal(40)).toBeNull()
  })

  it('keeps the reservation of a subtask that is tried again, and frees that of one that fails or is cancelled', async () => {
    await limit({ budget: { day: { tokens: 10 } } })
    await ask(10)
    const [lost] = await claim()
    await end(lost as ClaimedRun, 3, 'lost')
    expect(await refusal(1)).toMatchObject({ used: 0, reserved: 10 })
    const [again] = await claim()
    await end(again as ClaimedRun, 2, 'errored')
    expect(await refusal(6)).toMatchObject({ used: 5, reserved: 0 })
    const { id } = await ask(5)
    expect(await refusal(1)).toMatchObject({ used: 5, reserved: 5 })
    await cancelSubtask(ctx, id)
    expect(await refusal(5)).toBeNull()
  })

  it('of a day begins anew with the next one, and carries reservations over; one in all does not', async () => {
    await limit({ budget: { day: { tokens: 10 }, total: { tokens: 15 } } })
    await ask(6)
    for (const run of await claim()) await end(run, 6)
    await ask(4)
    const full = await refusal(1)
    expect(full).toMatchObject({ used: 6, reserved: 4, budget: { scope: 'project', window: 'day', unit: 'tokens' } })
    expect(Date.parse((full as unknown as { resets_at: string }).resets_at) % 86_400_000).toBe(0)
    await advanceClock(harness.admin, '1 day')
    expect(await refusal(7)).toMatchObject({ used: 0, reserved: 4, budget: { window: 'day' } })
    expect(await refusal(6)).toMatchObject({ used: 6, reserved: 4, budget: { window: 'total' }, resets_at: null })
    expect(await refusal(5)).toBeNull()
    // The clock goes back after this test, and no budget has two of today.
    await limit({})
  })

  it('of all time remembers the days that are over, also when their rows are deleted', async () => {
    await limit({ budget: { total: { tokens: 100 } } })
    const { projectId } = ctx.actor
    await ask(30, { agentId: 'a' })
    await ask(20, { agentId: 'b' })
    const [first, second] = await claim()
    await end(first as ClaimedRun, 10)
    await advanceClock(harness.admin, '1 day')
    await end(second as ClaimedRun, 7)
    const sums = () => harness.admin`select agent_id, tokens::int from spent_totals where project_id = ${projectId} order by agent_id`
    // A day counts as over an hour after its end.
    await advanceClock(harness.admin, '25 hours')
    await ask(1, { agentId: 'a' })
    await expect.poll(sums).toEqual([
      { agent_id: 'a', tokens: 10 },
      { agent_id: 'b', tokens: 7 },
    ])
    expect(await refusal(83)).toMatchObject({ used: 17, reserved: 1 })
    // Two at once, and again: each day is added once.
    await advanceClock(harness.admin, '1 day')
    await Promise.all([1, 2, 3].map(() => transaction(ctx.db, projectId, (tx) => budgets.addSpentDays(tx, projectId))))
    await transaction(ctx.db, projectId, (tx) => budgets.addSpentDays(tx, projectId))
    expect(await refusal(83)).toMatchObject({ used: 17, reserved: 1 })
    await harness.admin`delete from subtasks where project_id = ${projectId} and completed_at is not null`
    expect(await refusal(83)).toMatchObject({ used: 17, reserved: 1 })
    expect(await refusal(82)).toBeNull()
    await limit({})
  })

  it('holds for each agent, and an agent may have one of its own', async () => {
    await limit({ budget: { per_agent: { day: { tokens: 10 } } }, agents: { rich: { budget: { day: { tokens: 20 } } } } })
    await ask(10, { agentId: 'poor' })
    expect(await refusal(1, { agentId: 'poor' })).toMatchObject({ budget: { scope: 'agent', agent_id: 'poor' }, limit: 10 })
    expect(await refusal(10, { agentId: 'other' })).toBeNull()
    expect(await refusal(20, { agentId: 'rich' })).toBeNull()
    expect(await refusal(1, { agentId: 'rich' })).toMatchObject({ limit: 20 })
  })

  it('in dollars counts what was reported, and the whole reservation where only tokens were', async () => {
    await limit({ budget: { day: { cost_usd: 1 } } })
    const dollars = (maxCostUsdMicros: number) => refusal(undefined, { budget: { maxCostUsdMicros } })
    expect(await dollars(400_000)).toBeNull()
    expect(await dollars(400_000)).toBeNull()
    const [first, second] = await claim()
    await settleRuns(ctx, ctx.actor.projectId, [
      { subtaskId: first?.id ?? '', attempt: 1, usage: { inputTokens: 5, costUsdMicros: 100_000 }, end: completed() },
      { subtaskId: second?.id ?? '', attempt: 1, usage: { inputTokens: 5 }, end: completed() },
    ])
    expect(await dollars(600_000)).toMatchObject({ limit: 1, used: 0.5, reserved: 0, requested: 0.6, budget: { unit: 'cost_usd' } })
    expect(await dollars(500_000)).toBeNull()
  })

  describe('and judgements', () => {
    const NEVER = new AbortController().signal
    const toJudge = () => createEvaluation(ctx, { output: 'Done.', acceptanceCriteria: ['Is done'], judge: true })
    const answering = (used: number, most: number) => {
      const usage = { inputTokens: used, outputTokens: 0, costUsdMicros: 0 }
      return scriptedJudge(async () => ({ kind: 'judged', verdicts: [], model: 'm', usage }), { tokens: most, costUsdMicros: null })
    }
    const takeJobs = async (count: number) => {
      const jobs = await ctx.judgeJobs.take(count)
      expect(jobs).toHaveLength(count)
      return jobs
    }

    it('counts what they have used', async () => {
      await limit({ budget: { day: { tokens: 10 } } })
      await toJudge()
      for (const job of await takeJobs(1)) await judgeEvaluation(ctx, answering(9, 10), job, NEVER)
      expect(await refusal(2)).toMatchObject({ used: 9, reserved: 0 })
      expect(await refusal(1)).toBeNull()
    })

    it('reserves the most that one may use while it is asked, and frees it with the answer', async () => {
      await limit({ budget: { day: { tokens: 10 } } })
      await toJudge()
      const [asked, answered] = [Promise.withResolvers<JudgeQuestion>(), Promise.withResolvers<JudgeAnswer>()]
      const judge = scriptedJudge(
        async (question) => {
          asked.resolve(question)
          return await answered.promise
        },
        { tokens: 7, costUsdMicros: 0 },
      )
      const [job] = await takeJobs(1)
      const judging = judgeEvaluation(ctx, judge, job as HeldJudgeJob, NEVER)
      expect((await asked.promise).answerTokensMax).toBe(8_192)
      expect(await refusal(4)).toMatchObject({ used: 0, reserved: 7 })
      answered.resolve({ kind: 'judged', verdicts: [], model: 'm', usage: { inputTokens: 2, outputTokens: 0, costUsdMicros: 0 } })
      expect(await judging).toBe('judged')
      expect(await refusal(9)).toMatchObject({ used: 2, reserved: 0 })
      expect(await refusal(8)).toBeNull()
    })

    it('lets only as many begin at once as there is room for', async () => {
      await limit({ budget: { day: { tokens: 10 } } })
      for (let made = 0; made < 8; made += 1) await toJudge()
      const gate = Promise.withResolvers<void>()
      let begun = 0
      const usage = { inputTokens: 3, outputTokens: 0, costUsdMicros: 0 }
      const judge = scriptedJudge(
        async () => {
          begun += 1
          await gate.promise
          return { kind: 'judged', verdicts: [], model: 'm', usage }
        },
        { tokens: 3, costUsdMicros: 0 },
      )
      const judging = (await takeJobs(8)).map((job) => judgeEvaluation(ctx, judge, { ...job, isLast: true }, NEVER))
      let ended = 0
      for (const each of judging) void each.then(() => (ended += 1))
      await expect.poll(() => ended).toBe(5)
      gate.resolve()
      expect((await Promise.all(judging)).toSorted()).toEqual(['failed', 'failed', 'failed', 'failed', 'failed', 'judged', 'judged', 'judged'])
      expect(begun).toBe(3)
    })

    it('lets none begin without room, and says why', async () => {
      await limit({ budget: { day: { tokens: 10 } } })
      const { id } = await ask(10)
      const { evaluation } = await toJudge()
      const [job] = await takeJobs(1)
      if (job === undefined) throw new Error('there is no job')
      expect(await judgeEvaluation(ctx, answering(1, 4), job, NEVER)).toBe('later')
      expect(await judgeEvaluation(ctx, answering(1, 4), { ...job, isLast: true }, NEVER)).toBe('failed')
      const [stored] = await harness.admin`select status, error, input_tokens as used from judgements where evaluation_id = ${evaluation.id}`
      const error = 'The project may use 10 tokens today: 0 tokens are used and 10 tokens reserved, and this judgement may need 4 tokens.'
      expect(stored).toEqual({ status: 'failed', error, used: 0 })
      await cancelSubtask(ctx, id)
      await toJudge()
      for (const next of await takeJobs(1)) expect(await judgeEvaluation(ctx, answering(1, 4), next, NEVER)).toBe('judged')
    })

    it('fails one at once that no free room would help', async () => {
      await limit({ budget: { day: { cost_usd: 1 } } })
      await toJudge()
      for (const job of await takeJobs(1)) expect(await judgeEvaluation(ctx, answering(1, 4), job, NEVER)).toBe('failed')
      const [unpriced] = await harness.admin`select error from judgements where project_id = ${ctx.actor.projectId}`
      expect(unpriced?.error).toMatch(/price of the model that judges is not known. Set it in MODEL_PRICES\.$/)
      await limit({ budget: { day: { tokens: 3 } } })
      await toJudge()
      for (const job of await takeJobs(1)) expect(await judgeEvaluation(ctx, answering(1, 4), job, NEVER)).toBe('failed')
    })

    it('holds what a try may have used whose worker was lost, until the next one begins', async () => {
      await limit({ budget: { day: { tokens: 10 } } })
      await toJudge()
      const [job] = await takeJobs(1)
      if (job === undefined) throw new Error('there is no job')
      const lost = scriptedJudge(async () => ({ kind: 'aborted' }), { tokens: 6, costUsdMicros: 0 })
      await judgeEvaluation(ctx, lost, job, NEVER)
      expect(await refusal(5)).toMatchObject({ reserved: 6 })
      const [again] = await takeJobs(1)
      expect(await judgeEvaluation(ctx, answering(10, 10), again as HeldJudgeJob, NEVER)).toBe('judged')
      expect(await refusal(1)).toMatchObject({ used: 10, reserved: 0 })
    })

    it('counts what failed tries have used before the last one', async () => {
      await limit({ budget: { day: { tokens: 10 } } })
      await toJudge()
      const usage = { inputTokens: 4, outputTokens: 0, costUsdMicros: 0 }
      const failing = scriptedJudge(async () => ({ kind: 'failed', error: 'x', retryable: true, retryAfterMs: null, usage }), { tokens: 4, costUsdMicros: 0 })
      for (const job of await takeJobs(1)) expect(await judgeEvaluation(ctx, failing, job, NEVER)).toBe('later')
      expect(await refusal(7)).toMatchObject({ reserved: 4 })
      await harness.admin`update pgboss.job set start_after = pgboss.job_now() where name = 'judge'`
      for (const job of await takeJobs(1)) expect(await judgeEvaluation(ctx, answering(1, 4), job, NEVER)).toBe('judged')
      expect(await refusal(6)).toMatchObject({ used: 5 })
    })

    it('of a task are reserved in the budget of the task', async () => {
      const task = await makeTask(ctx, { budget: { max_tokens: 10 } })
      await createEvaluation(ctx, { output: 'Done.', acceptanceCriteria: ['Is done'], judge: true, taskId: task.id })
      await createEvaluation(ctx, { output: 'Done.', acceptanceCriteria: ['Is done'], judge: true, taskId: task.id })
      const [first, second] = await takeJobs(2)
      let inside: string | null = null
      const usage = { inputTokens: 6, outputTokens: 0, costUsdMicros: 0 }
      const judge = scriptedJudge(
        async () => {
          inside = await judgeEvaluation(ctx, answering(1, 6), { ...(second as HeldJudgeJob), isLast: true }, NEVER)
          return { kind: 'judged', verdicts: [], model: 'm', usage }
        },
        { tokens: 6, costUsdMicros: 0 },
      )
      expect([await judgeEvaluation(ctx, judge, first as HeldJudgeJob, NEVER), inside]).toEqual(['judged', 'failed'])
    })
  })

  it('that is lowered kills nothing, and lets nothing new start', async () => {
    await ask(50)
    await limit({ budget: { total: { tokens: 10 } } })
    expect(await refusal(1)).toMatchObject({ limit: 10, reserved: 50 })
    await limit({ budget: { total: { tokens: 60 } } })
    expect(await refusal(10)).toBeNull()
    expect(await claim()).toHaveLength(2)
  })

  it('holds back the slot of a schedule until there is room', async () => {
    await limit({ budget: { day: { tokens: 10 } } })
    const { id } = await ask(10)
    const { projectId } = ctx.actor
    const [schedule] = await storeSchedules(harness.admin, [{ runner: 'external', projectId, timing: { kind: 'interval', seconds: 3_600, anchorAt: '' } }])
    const fire = () => fireSchedules(ctx, { except: [], signal: new AbortController().signal })
    const outcomes = () => harness.admin<{ outcome: string }[]>`select outcome from schedule_slots where schedule_id = ${schedule ?? ''}`
    await fire()
    expect(await outcomes()).toEqual([{ outcome: 'waiting' }])
    await cancelSubtask(ctx, id)
    await fire()
    expect(await outcomes()).toEqual([{ outcome: 'fired' }])
  })

  it('costs no statement where there is none', async () => {
    const pool = connect(harness.database.appUrl, { role: 'muster_app', connectionsMax: 1, applicationName: 'test' })
    const texts: string[] = []
    const options = pool.sql.options as { debug: unknown }
    options.debug = (_: number, text: string) => texts.push(text)
    await spawn({ ...ctx, db: pool }, { runner: 'external' })
    const without = texts.splice(0).filter((text) => /is_today|subtasks|muster_spawn_alone/.test(text))
    await limit({ budget: { day: { tokens: 10 } } })
    await spawn({ ...ctx, db: pool }, { runner: 'external' })
    await pool.close()
    expect(without.filter((text) => text.includes('is_today'))).toEqual([])
    // With a budget, its count is a statement.
    expect(texts.filter((text) => text.includes('is_today'))).toHaveLength(1)
    expect(without).toEqual([expect.stringContaining('muster_spawn_alone')])
  })
})
