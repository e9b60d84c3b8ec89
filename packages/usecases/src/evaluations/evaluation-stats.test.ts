import { evaluations, type NewEvaluationRow, transaction } from '@muster/db'
import { DEFAULT_EVALUATION_RULES } from '@muster/domain'
import { advanceClock, type Harness, resetClock, startHarness } from '@muster/testing'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { type Ctx, getEvaluationStats } from '../index.ts'
import { evaluateOutput } from './evaluate-output.ts'

let harness: Harness
let ctx: Ctx

beforeEach(async () => {
  harness ??= await startHarness()
  await resetClock(harness.admin)
  ctx = await harness.projectCtx()
})
afterAll(() => harness.close())

const checkIn = (mark: string) => `<npl-block type="check-in">
- ${mark} Works
</npl-block>`
const GOOD = checkIn('✅')
const POOR = checkIn('🐛')
const CRITERION = { id: 'c1', text: 'Works', source: 'acceptance' as const, required: true }

/** Stores an evaluation of an output, as the result of a run of a sub-agent. */
async function store(output: string, subagentName: string | null = null, judgeOf: NewEvaluationRow | null = null): Promise<NewEvaluationRow> {
  const { projectId } = ctx.actor
  const subject = {
    projectId,
    origin: 'subtask' as const,
    taskId: null,
    subtaskId: judgeOf?.subtaskId ?? ctx.newId(),
    messageId: null,
    sessionId: null,
    subagentName,
  }
  const judged = judgeOf === null ? null : { judgeOf: judgeOf.id, judge: { model: 'm', inputTokens: 1, outputTokens: 1, costUsdMicros: 1 } }
  const judgeVerdicts = judgeOf === null ? [] : [{ criterionId: 'c1', verdict: 'unmet' as const, quote: 'x' }]
  const { row } = evaluateOutput(
    ctx.newId(),
    subject,
    { output, criteria: [CRITERION], criteriaRevision: 1, settings: DEFAULT_EVALUATION_RULES, judgeVerdicts },
    judged,
  )
  await transaction(ctx.db, projectId, (tx) => evaluations.insertEvaluations(tx, projectId, [row]))
  return row
}

const counts = (approve: number, review: number, request_revision: number) => ({ approve, review, request_revision })

describe('figures of evaluations', () => {
  it('are of days, of the last 30', async () => {
    await store(POOR)
    await advanceClock(harness.admin, '20 days')
    await store(GOOD)
    await store(POOR)
    await advanceClock(harness.admin, '15 days')
    await store(GOOD)
    const { total, groups } = await getEvaluationStats(ctx, { by: 'day' })
    expect(total).toEqual({ outputs: 3, scored: 3, averageScore: expect.closeTo(0.7, 9), recommendations: counts(2, 0, 1) })
    expect(groups.map(({ key, outputs }) => [key, outputs])).toEqual([
      [expect.stringMatching(/^\d{4}-\d\d-\d\d$/), 1],
      [expect.stringMatching(/^\d{4}-\d\d-\d\d$/), 2],
    ])
    const [newest, older] = groups.map(({ key }) => Date.parse(key as string))
    expect((newest as number) - (older as number)).toBe(15 * 86_400_000)
    const from = new Date(Date.parse(groups[0]?.key as string))
    expect(await getEvaluationStats(ctx, { by: 'day', from })).toMatchObject({ from, total: { outputs: 1 } })
    expect(await getEvaluationStats(ctx, { by: 'day', to: from })).toMatchObject({ to: from, total: { outputs: 2 } })
  })

  it('are of sub-agents, the one with the most outputs first', async () => {
    for (const [output, name] of [
      [GOOD, 'writer'],
      [POOR, 'writer'],
      [GOOD, 'reader'],
      ['No blocks.', null],
    ] as const)
      await store(output, name)
    expect((await getEvaluationStats(ctx, { by: 'subagent' })).groups).toMatchObject([
      { key: 'writer', outputs: 2, scored: 2, averageScore: 0.55 },
      { key: 'reader', outputs: 1, scored: 1, averageScore: 1 },
      { key: null, outputs: 1, scored: 1, averageScore: 0.35 },
    ])
  })

  it('count an output once, by what the judge made of it', async () => {
    const first = await store(GOOD, 'writer')
    await store(GOOD, 'writer')
    await store(GOOD, 'writer', first)
    expect(await getEvaluationStats(ctx, { by: 'subagent' })).toMatchObject({
      total: { outputs: 2, averageScore: 1, recommendations: counts(1, 1, 0) },
      groups: [{ outputs: 2, recommendations: counts(1, 1, 0) }],
    })
    expect((await getEvaluationStats(ctx, { by: 'criterion' })).groups).toEqual([
      expect.objectContaining({ key: 'Works', outputs: 2, verdicts: { met: 1, unmet: 1, unclear: 0, not_addressed: 0 } }),
    ])
  })
})
