import { evaluations, type NewEvaluationRow, qualityFlags, transaction } from '@muster/db'
import {
  DEFAULT_EVALUATION_RULES,
  type EvaluatedCriterion,
  type JudgeVerdict,
  type PersonVerdict,
  type Quality,
  type ReviewDecision,
  withReview,
} from '@muster/domain'
import { advanceClock, type Harness, resetClock, startHarness } from '@muster/testing'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { type Ctx, getAgreementStats } from '../index.ts'
import { evaluateOutput } from './evaluate-output.ts'

let harness: Harness
let ctx: Ctx

beforeEach(async () => {
  harness ??= await startHarness()
  await resetClock(harness.admin)
  ctx = await harness.projectCtx()
})
afterAll(() => harness.close())

const CRITERIA: EvaluatedCriterion[] = ['Works', 'Is short'].map((text, at) => ({ id: `c${at}`, text, source: 'acceptance', required: true }))
const checkIn = (...marks: string[]) =>
  `It is all here.\n<npl-block type="check-in">\n${marks.map((mark, at) => `- ${mark} (c${at})`).join('\n')}\n</npl-block>`
const GOOD = checkIn('✅', '✅')
const POOR = checkIn('🐛', '🐛')

async function insert(row: NewEvaluationRow): Promise<NewEvaluationRow> {
  await transaction(ctx.db, ctx.actor.projectId, (tx) => evaluations.insertEvaluations(tx, ctx.actor.projectId, [row]))
  return row
}

/** An evaluation of what a run of a sub-agent hands in. */
async function store(output: string, subagentName: string | null = 'writer', criteria = CRITERIA): Promise<NewEvaluationRow> {
  const subject = { projectId: ctx.actor.projectId, origin: 'completion' as const, taskId: ctx.newId(), subtaskId: null, messageId: null, sessionId: 's' }
  return await insert(
    evaluateOutput(ctx.newId(), { ...subject, subagentName }, { output, criteria, criteriaRevision: 1, settings: DEFAULT_EVALUATION_RULES }).row,
  )
}

async function judge(of: NewEvaluationRow, output: string, judgeVerdicts: JudgeVerdict[], criteria = CRITERIA): Promise<NewEvaluationRow> {
  const judged = { judgeOf: of.id, judge: { model: 'm', inputTokens: 1, outputTokens: 1, costUsdMicros: 1 } }
  return await insert(
    evaluateOutput(ctx.newId(), of, { output, criteria, criteriaRevision: 1, settings: DEFAULT_EVALUATION_RULES, judgeVerdicts }, judged as never).row,
  )
}

async function review(of: NewEvaluationRow, decision: ReviewDecision, said: PersonVerdict[] = []): Promise<NewEvaluationRow> {
  const given = { ...of.detail, trust: 'evidence' as const, score: of.score, recommendation: of.recommendation, criteriaRevision: 1 }
  const brief = { criteria: CRITERIA.map((criterion) => ({ ...criterion, state: 'open' as const })), revision: 1 }
  const { criteria, recommendation } = withReview(given, DEFAULT_EVALUATION_RULES, brief, { decision, said })
  const detail = { ...of.detail, criteria, review: { note: 'As seen.', author: { kind: 'key', id: 'k1' } } }
  return await insert({ ...of, id: ctx.newId(), origin: 'review', recommendation, detail, reviewOf: of.id })
}

async function flag(of: NewEvaluationRow, quality: Quality): Promise<void> {
  const subject = { kind: 'task' as const, id: of.taskId as string }
  const given = { subject, quality, tags: [], trainingCandidate: false, evaluationId: of.id, author: { kind: 'key', id: 'k2' } }
  await transaction(ctx.db, ctx.actor.projectId, (tx) => qualityFlags.putFlag(tx, ctx.actor.projectId, given))
}

const stats = (window = {}) => getAgreementStats(ctx, window)
const pairs = (bothMet: number, onlyVerdictMet: number, onlyPersonMet: number, bothUnmet: number) => ({ bothMet, onlyVerdictMet, onlyPersonMet, bothUnmet })
const said = (criterionId: string, verdict: PersonVerdict['verdict'], comment: string | null = null): PersonVerdict => ({ criterionId, verdict, comment })

describe('agreement', () => {
  it('is of nothing where nobody has spoken', async () => {
    await store(GOOD)
    expect(await stats()).toMatchObject({
      all: { outputs: 0, ...pairs(0, 0, 0, 0), undecided: 0, agreement: { n: 0, observed: null, kappa: null, reason: 'too_few' } },
      bySubagent: [],
      byCriterion: [],
      byMethod: [],
      cases: [],
      isCut: false,
    })
  })

  it('is of recommendations with decisions and flags, by sub-agent', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      await review(await store(GOOD, 'writer'), 'approve')
      await flag(await store(POOR, 'writer'), turn === 0 ? 'good' : 'bad')
    }
    await review(await store(GOOD, 'reader'), 'request_revision')
    const { all, bySubagent, cases } = await stats()
    expect(all).toMatchObject({ outputs: 11, ...pairs(5, 1, 1, 4), undecided: 0, agreement: { n: 11, kappa: expect.closeTo(19 / 30, 4), reason: null } })
    expect(bySubagent.map(({ key, outputs, agreement }) => [key, outputs, agreement.n, agreement.reason])).toEqual([
      ['writer', 10, 10, null],
      ['reader', 1, 1, 'too_few'],
    ])
    expect(bySubagent[0]?.agreement).toMatchObject({ observed: 0.9, kappa: expect.closeTo(0.8, 9) })
    expect(cases.map(({ said, difference }) => [said.kind, said.value, difference])).toEqual([
      ['decision', 'request_revision', 1],
      ['flag', 'good', expect.closeTo(0.65, 9)],
    ])
  })

  it('counts a verdict that a review names by what it says, and the others by an approval only', async () => {
    await review(await store(GOOD), 'request_revision', [said('c0', 'unmet', 'It crashes.')])
    await review(await store(GOOD), 'approve', [said('c0', 'met')])
    await review(await store(GOOD), 'request_revision')
    expect((await stats()).byCriterion).toMatchObject([
      { key: 'Works', outputs: 3, ...pairs(1, 2, 0, 0), named: 2 },
      { key: 'Is short', outputs: 2, ...pairs(1, 1, 0, 0), named: 0 },
    ])
  })

  it('leaves out what one side does not decide', async () => {
    await review(await store(checkIn('✅', '❓')), 'approve', [said('c0', 'unclear')])
    const { all, byCriterion } = await stats()
    expect(all).toMatchObject({ outputs: 1, undecided: 1, ...pairs(0, 0, 0, 0) })
    expect(byCriterion.map(({ undecided, agreement }) => [undecided, agreement.n])).toEqual([
      [1, 0],
      [1, 0],
    ])
  })

  it('says nothing of optional criteria that nobody named', async () => {
    const optional = CRITERIA.map((criterion) => ({ ...criterion, required: false }))
    await flag(await store(GOOD, 'writer', optional), 'bad')
    expect(await stats()).toMatchObject({ byCriterion: [], all: pairs(0, 1, 0, 0) })
  })

  it('is of each method by itself, where a judge replaces the word of the agent too', async () => {
    const judged = await store(GOOD)
    await judge(judged, GOOD, [
      { criterionId: 'c0', verdict: 'unmet', quote: '' },
      { criterionId: 'c1', verdict: 'met', quote: 'It is all here.' },
    ])
    await review(judged, 'request_revision', [said('c0', 'unmet'), said('c1', 'unmet', 'Far too long.')])
    const { byMethod, byCriterion, cases } = await stats()
    expect(
      byMethod.map(({ key, outputs, bothMet, onlyVerdictMet, onlyPersonMet, bothUnmet }) => [key, outputs, bothMet, onlyVerdictMet, onlyPersonMet, bothUnmet]),
    ).toEqual([
      ['check_in', 1, 0, 2, 0, 0],
      ['judge', 1, 0, 1, 0, 1],
    ])
    expect(byCriterion.map(({ key, onlyVerdictMet, bothUnmet }) => [key, onlyVerdictMet, bothUnmet])).toEqual([
      ['Is short', 1, 0],
      ['Works', 0, 1],
    ])
    expect(cases).toMatchObject([
      {
        taskId: judged.taskId,
        criterion: { id: 'c1', text: 'Is short' },
        verdict: 'met',
        method: 'judge',
        said: { kind: 'verdict', value: 'unmet' },
        comment: 'Far too long.',
        saidBy: { kind: 'key', id: 'k1' },
        saidAt: expect.any(Date),
        difference: 1,
      },
    ])
  })

  it('is of verdicts of people with later flags, under their own method', async () => {
    const first = await store(GOOD)
    await flag(await review(first, 'approve', [said('c0', 'met')]), 'bad')
    const { byMethod, all } = await stats()
    expect(all).toMatchObject({ outputs: 1, ...pairs(1, 0, 0, 0) })
    expect(byMethod).toMatchObject([
      { key: 'check_in', ...pairs(2, 0, 0, 0) },
      { key: 'person', ...pairs(0, 1, 0, 0) },
    ])
  })

  it('counts an output once, by the newest flag, whichever of its evaluations was flagged', async () => {
    const first = await store(GOOD)
    await flag(await judge(first, GOOD, [{ criterionId: 'c0', verdict: 'met', quote: 'It is all here.' }]), 'bad')
    await transaction(ctx.db, ctx.actor.projectId, async (tx) => {
      const subject = { kind: 'subtask' as const, id: ctx.newId() }
      await advanceClock(harness.admin, '1 minute')
      const author = { kind: 'key', id: 'k3' }
      await qualityFlags.putFlag(tx, ctx.actor.projectId, { subject, quality: 'excellent', tags: [], trainingCandidate: true, evaluationId: first.id, author })
    })
    expect((await stats()).all).toMatchObject({ outputs: 1, ...pairs(1, 0, 0, 0) })
  })

  it('is of outputs first evaluated within the time', async () => {
    await review(await store(GOOD), 'request_revision')
    await advanceClock(harness.admin, '40 days')
    await review(await store(GOOD), 'approve')
    const { all, from } = await stats()
    expect(all).toMatchObject({ outputs: 1, ...pairs(1, 0, 0, 0) })
    expect((await stats({ from: new Date(from.getTime() - 20 * 86_400_000) })).all).toMatchObject({ outputs: 2, ...pairs(1, 1, 0, 0) })
    await expect(stats({ from, to: from })).rejects.toMatchObject({ code: 'validation_failed' })
  })

  it('shows 20 cases at most, the most different first', async () => {
    for (let turn = 0; turn < 12; turn += 1) {
      await flag(await store(POOR), 'good')
      await review(await store(GOOD), 'request_revision', [said('c0', 'unmet')])
    }
    const { cases } = await stats()
    expect(cases.map(({ said }) => said.kind)).toEqual([...Array<string>(12).fill('verdict'), ...Array<string>(8).fill('flag')])
  })

  it('is of nothing of another project', async () => {
    await review(await store(GOOD), 'approve')
    ctx = await harness.projectCtx('another')
    expect((await stats()).all.outputs).toBe(0)
  })
})
