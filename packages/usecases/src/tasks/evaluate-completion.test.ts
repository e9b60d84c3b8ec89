import { transaction } from '@muster/db'
import { type EvaluationDetail, type EvaluationSettings, evaluate, type Task } from '@muster/domain'
import { allEvents, claimOne, completed, drain, drainOutbox, type Harness, invariants, makeTask, settleOne, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  assignTask,
  authenticate,
  buildPrompt,
  type Ctx,
  checkIn,
  checkpointRun,
  completeTask,
  dispatchTask,
  getTask,
  injectSession,
  listTaskUpdates,
  reviewTask,
  reviseTask,
  updateProject,
} from '../index.ts'
import { decideReview } from './review-task.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await setRules({})
  await drain(harness.ctx)
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

const setRules = (evaluation: EvaluationSettings) => updateProject(harness.ctx, harness.ctx.actor.projectId, { settings: { evaluation } })
const reflection = (...lines: string[]) => `<npl-block type="reflection">\n${lines.join('\n')}\n</npl-block>`
const GOOD = '<npl-block type="check-in">\n- ✅ It compiles.\n</npl-block>'
const POOR = reflection('🐛 It does not compile.')
const UNSURE = `${GOOD}\n${reflection('📝 It is not documented.')}`

interface StoredEvaluation {
  id: string
  session_id: string | null
  score: number | null
  recommendation: string
  criteria_revision: number
  output: string | null
  output_body_id: string | null
  detail: EvaluationDetail
}

async function evaluationOf(task: Task): Promise<StoredEvaluation> {
  const rows = await harness.admin<StoredEvaluation[]>`
    select * from evaluations where task_id = ${task.id} and origin = 'completion' order by id desc`
  if (rows[0] === undefined) throw new Error('it was not evaluated')
  return rows[0]
}

/** A task that a session holds and has been told of. */
async function held(fields: Parameters<typeof makeTask>[1] = {}): Promise<{ task: Task; own: Ctx }> {
  const made = await makeTask(harness.ctx, fields)
  const { task, credential } = await assignTask(harness.ctx, made.id, `holder-of-${made.id}`)
  const own = harness.as(await authenticate(harness.deps, credential))
  await injectSession(own, `holder-of-${made.id}`, { ack: 'auto', messages: [] })
  return { task, own }
}

describe('what a task is completed with', () => {
  it('is evaluated and kept, with the outputs that it asked for', async () => {
    const { task, own } = await held({ required_outputs: ['count', 'report'], acceptance_criteria: ['It compiles'] })
    await completeTask(own, task.id, { outputs: { count: 3, report: GOOD }, summary: 'All of it.' })
    const stored = await evaluationOf(task)
    expect(stored).toMatchObject({ score: 1, recommendation: 'approve', criteria_revision: 1, session_id: `holder-of-${task.id}` })
    expect(stored.output).toBe(`All of it.\n\ncount:\n3\n\nreport:\n${GOOD}`)
    expect(stored.detail.criteria.map(({ id, verdict, method }) => [id, verdict, method])).toEqual([
      [task.criteria[0]?.id, 'met', 'check_in'],
      ['output:count', 'met', 'schema'],
      ['output:report', 'met', 'schema'],
    ])
    await drainOutbox(harness.deps)
    expect(await allEvents(harness.ctx, stored.id)).toMatchObject([{ type: 'evaluation.created', data: { origin: 'completion', task_id: task.id } }])
  })

  it('is kept apart where it is long', async () => {
    const { task, own } = await held()
    await completeTask(own, task.id, { outputs: { report: 'ä'.repeat(40_000) } })
    const stored = await evaluationOf(task)
    expect(stored.output).toBeNull()
    expect(await harness.admin`select octet_length(bytes)::int as bytes from bodies where id = ${stored.output_body_id}`).toEqual([{ bytes: 80_008 }])
  })

  it('is not evaluated where it is refused', async () => {
    const { task, own } = await held({ required_outputs: ['count'] })
    await expect(completeTask(own, task.id, { outputs: {} })).rejects.toMatchObject({ code: 'outputs_missing' })
    await expect(evaluationOf(task)).rejects.toThrow('it was not evaluated')
  })

  it('is read together with what its holder has said since it got the task, and with nothing that others said', async () => {
    const { task, own } = await held({ acceptance_criteria: ['It compiles', 'It is documented'] })
    const line = (text: string) => `<npl-block type="check-in" task-id="${task.id}">\n- ${text}\n</npl-block>`
    await checkIn(own, task.id, { content: line('✅ It is documented') })
    const { credential } = await assignTask(harness.ctx, task.id, 'second')
    const second = harness.as(await authenticate(harness.deps, credential))
    await checkIn(second, task.id, { content: line('✅ It compiles') })
    await completeTask(second, task.id, { outputs: {}, summary: 'Done.' })
    expect((await evaluationOf(task)).detail.criteria.map(({ verdict }) => verdict)).toEqual(['met', 'not_addressed'])
  })

  it('counts as a check-in', async () => {
    const { task, own } = await held({ acceptance_criteria: ['It compiles', 'It is documented'] })
    const summary = `<npl-block type="check-in" task-id="${task.id}">\n- ✅ It compiles\n</npl-block>`
    await completeTask(own, task.id, { outputs: {}, summary })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'completed', criteria: [{ state: 'met' }, { state: 'open' }] })
  })

  it.each<[string, (own: Ctx, task: Task) => Promise<unknown>, number]>([
    ['it was told', async () => {}, 1],
    ['it was told since', (own, task) => injectSession(own, `holder-of-${task.id}`, { ack: 'auto', messages: [] }), 2],
    [
      'it has spoken of since',
      (own, task) => checkIn(own, task.id, { content: `<npl-block type="check-in" task-id="${task.id}" revision="2">\n- ❓ It compiles\n</npl-block>` }),
      2,
    ],
  ])('is held against the criteria of the newest revision that its holder knows: %s', async (_, learn, revision) => {
    const { task, own } = await held({ acceptance_criteria: ['It compiles'] })
    await reviseTask(harness.ctx, task.id, { acceptance_criteria: ['It compiles', 'It is documented'] }, [1])
    await learn(own, task)
    await completeTask(own, task.id, { outputs: {} })
    expect(await evaluationOf(task)).toMatchObject({ criteria_revision: revision })
  })

  it('is held against what the task asks for now where nobody holds it', async () => {
    const task = await makeTask(harness.ctx, { acceptance_criteria: ['It compiles'] })
    await reviseTask(harness.ctx, task.id, { title: 'Count twice' }, [1])
    await completeTask(harness.ctx, task.id, { outputs: {} })
    expect(await evaluationOf(task)).toMatchObject({ criteria_revision: 2, session_id: null })
  })
})

describe('with review: auto, a task', () => {
  it.each([
    ['is completed', GOOD, 'completed', ['task.in_review', 'task.completed']],
    ['goes back to its holder', POOR, 'revision_requested', ['task.in_review', 'task.revision_requested']],
    ['waits for somebody to decide', UNSURE, 'in_review', ['task.in_review']],
    ['waits for somebody to decide where nothing was said', 'Done.', 'in_review', ['task.in_review']],
  ])('%s as its evaluation says', async (_, summary, status, types) => {
    const { task, own } = await held({ review: 'auto' })
    expect(await completeTask(own, task.id, { outputs: { a: 1 }, summary })).toMatchObject({ status, completionOutputs: { a: 1 } })
    await drainOutbox(harness.deps)
    const events = (await allEvents(harness.ctx, task.id)).map(({ type }) => type)
    expect(events.filter((type) => ['task.in_review', 'task.completed', 'task.revision_requested'].includes(type))).toEqual(types)
  })

  it('that goes back tells its holder why, and can be handed in anew', async () => {
    const { task, own } = await held({ review: 'auto' })
    await completeTask(own, task.id, { outputs: {}, summary: POOR })
    const { items } = await injectSession(own, `holder-of-${task.id}`, { ack: 'auto', messages: [] })
    expect(items).toHaveLength(1)
    expect(items[0]?.text).toMatch(/^\[Task Update: Revision Requested\]\n[\s\S]*Sender: Muster \(evaluation\)\n[\s\S]*- 🐛 bug: It does not compile\./)
    expect(await completeTask(own, task.id, { outputs: {}, summary: GOOD })).toMatchObject({ status: 'completed' })
  })

  it('is completed by the result of its run, or left by it', async () => {
    for (const [result, status] of [
      [GOOD, 'completed'],
      [POOR, 'revision_requested'],
      ['Done.', 'in_review'],
    ] as const) {
      const task = await makeTask(harness.ctx, { review: 'auto' })
      await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own' }))
      const run = await claimOne(harness.ctx)
      await settleOne(harness.ctx, run, completed(`Here it is.\n${result}`))
      expect(await getTask(harness.ctx, task.id)).toMatchObject({ status })
      if (status === 'revision_requested') expect(await getTask(harness.ctx, task.id)).toMatchObject({ subagentSessionId: null })
    }
  })

  it('that its run hands in by itself goes back to that run, which is still at it', async () => {
    const task = await makeTask(harness.ctx, { review: 'auto' })
    await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own' }))
    const run = await claimOne(harness.ctx)
    await buildPrompt(harness.deps, run)
    const own = harness.as(await authenticate(harness.deps, run.credential))
    expect(await completeTask(own, task.id, { outputs: {}, summary: POOR })).toMatchObject({
      status: 'revision_requested',
      subagentSessionId: `subtask-${run.id}`,
    })
    const told = await checkpointRun(harness.deps, run.projectId, {
      ...run,
      subtaskId: run.id,
      workerId: 'worker-1',
      steps: [],
      usage: {},
      acknowledgedIds: [],
      takesUpdates: true,
      afterStepSeq: null,
      renewsLease: false,
      repeatUnacknowledged: false,
    })
    expect(told?.updates).toMatchObject([{ updateType: 'revision_request' }])
    expect(await completeTask(own, task.id, { outputs: {}, summary: GOOD })).toMatchObject({ status: 'completed' })
    await settleOne(harness.ctx, run)
  })

  it.each([
    ['evidence', 'in_review'],
    ['self_report', 'completed'],
  ] as const)('where a project trusts %s, is %s on the word of the agent alone', async (trust, status) => {
    await setRules({ trust })
    const { task, own } = await held({ review: 'auto', acceptance_criteria: ['It compiles'] })
    expect(await completeTask(own, task.id, { outputs: {}, summary: GOOD })).toMatchObject({ status })
    expect(await evaluationOf(task)).toMatchObject({ score: 1, recommendation: 'approve', detail: { trust } })
    const dispatched = await makeTask(harness.ctx, { review: 'auto', acceptance_criteria: ['It compiles'] })
    await dispatchTask(harness.ctx, dispatched.id, () => ({ runner: 'own' }))
    await settleOne(harness.ctx, await claimOne(harness.ctx), completed(GOOD))
    expect(await getTask(harness.ctx, dispatched.id)).toMatchObject({ status })
  })

  it('is completed by outputs that fit their schemas, where it has no other criteria', async () => {
    const { task, own } = await held({ review: 'auto', required_outputs: ['count'] })
    expect(await completeTask(own, task.id, { outputs: { count: 3 }, summary: GOOD })).toMatchObject({ status: 'completed' })
  })

  it('is not approved where a criterion has become required since', async () => {
    await setRules({ trust: 'self_report' })
    const criteria = ['It is documented']
    const { task, own } = await held({ review: 'auto', acceptance_criteria: ['It compiles'], success_criteria: { criteria, all_required: false } })
    await reviseTask(harness.ctx, task.id, { success_criteria: { criteria, all_required: true } }, [1])
    expect(await completeTask(own, task.id, { outputs: {}, summary: GOOD })).toMatchObject({ status: 'in_review' })
  })

  it('is not approved by criteria that its holder did not know', async () => {
    await setRules({ trust: 'self_report' })
    const { task, own } = await held({ review: 'auto', acceptance_criteria: ['It compiles'] })
    await reviseTask(harness.ctx, task.id, { acceptance_criteria: ['It compiles', 'It is documented'] }, [1])
    expect(await completeTask(own, task.id, { outputs: {}, summary: GOOD })).toMatchObject({ status: 'in_review' })
  })
})

describe('while a judge is asked, a task with review: auto', () => {
  async function submitted(summary = GOOD) {
    await setRules({ judge: true })
    const { task, own } = await held({ review: 'auto', acceptance_criteria: ['It compiles'] })
    expect(await completeTask(own, task.id, { outputs: {}, summary })).toMatchObject({ status: 'in_review' })
    return { task, own, evaluationId: (await evaluationOf(task)).id }
  }
  const judged = (output: string) => evaluate({ output, criteria: [], criteriaRevision: 1 })
  const decide = (task: Task, evaluationId: string, evaluation: Parameters<typeof decideReview>[2]['evaluation']) =>
    transaction(harness.deps.db, task.projectId, (tx) =>
      decideReview(harness.deps, tx, { projectId: task.projectId, taskId: task.id, evaluationId, evaluation }),
    )
  /** With a judge that finds every criterion met. */
  const withCriteria = (task: Task, output: string) =>
    evaluate({
      output: `The log says: It compiles.\n${output}`,
      criteria: task.criteria,
      criteriaRevision: 1,
      judgeVerdicts: task.criteria.map(({ id }) => ({ criterionId: id, verdict: 'met', quote: 'It compiles.' })),
    })

  it('waits for its verdicts, which decide', async () => {
    const { task, evaluationId } = await submitted()
    expect(await harness.admin`select status from judgements where evaluation_id = ${evaluationId}`).toEqual([{ status: 'pending' }])
    expect(await decide(task, evaluationId, withCriteria(task, GOOD))).toBe('completed')
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'completed' })
    expect(await decide(task, evaluationId, withCriteria(task, GOOD))).toBe('left')
  })

  it('goes back where they are poor, and stays where they leave it open', async () => {
    const { task, evaluationId } = await submitted()
    expect(await decide(task, evaluationId, withCriteria(task, UNSURE))).toBe('left')
    expect(await decide(task, evaluationId, judged(POOR))).toBe('revision_requested')
    expect((await listTaskUpdates(harness.ctx, task.id, { limit: 10 })).items).toMatchObject([{ updateType: 'revision_request' }])
  })

  it('is left alone where somebody has decided, or where it was handed in anew', async () => {
    const { task, own, evaluationId } = await submitted()
    await reviewTask(harness.ctx, task.id, { decision: 'request_revision', note: 'No.' })
    expect(await decide(task, evaluationId, withCriteria(task, GOOD))).toBe('left')
    await completeTask(own, task.id, { outputs: {}, summary: GOOD })
    expect(await decide(task, evaluationId, withCriteria(task, GOOD))).toBe('left')
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'in_review' })
    expect(await decide(task, (await evaluationOf(task)).id, withCriteria(task, GOOD))).toBe('completed')
  })

  it('is left to somebody where an output or a criterion was asked for since', async () => {
    for (const patch of [{ required_outputs: ['count'] }, { acceptance_criteria: ['It compiles', 'It is documented'] }]) {
      const { task, evaluationId } = await submitted()
      await reviseTask(harness.ctx, task.id, patch, [1])
      expect(await decide(task, evaluationId, withCriteria(task, GOOD))).toBe('left')
      expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'in_review' })
    }
  })

  it('is left alone by the verdicts on a run that it was taken from', async () => {
    await setRules({ judge: true })
    const task = await makeTask(harness.ctx, { review: 'auto', acceptance_criteria: ['It compiles'] })
    await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own' }))
    const run = await claimOne(harness.ctx)
    await assignTask(harness.ctx, task.id, 'somebody')
    await completeTask(harness.ctx, task.id, { outputs: {}, summary: GOOD })
    const submittedAs = await evaluationOf(task)
    await settleOne(harness.ctx, run, completed(`Here it is.\n${GOOD}`))
    const [ofRun] = await harness.admin<{ id: string }[]>`select id from evaluations where subtask_id = ${run.id}`
    expect(await decide(task, ofRun?.id as string, withCriteria(task, GOOD))).toBe('left')
    expect(await decide(task, submittedAs.id, withCriteria(task, GOOD))).toBe('completed')
  })

  it('that a run handed in by its result goes back to nobody: the run is over', async () => {
    await setRules({ judge: true })
    const task = await makeTask(harness.ctx, { review: 'auto', acceptance_criteria: ['It compiles'] })
    await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own' }))
    const run = await claimOne(harness.ctx)
    await settleOne(harness.ctx, run, completed(`Here it is.\n${GOOD}`))
    const [ofRun] = await harness.admin<{ id: string }[]>`select id from evaluations where subtask_id = ${run.id}`
    expect(await decide(task, ofRun?.id as string, judged(POOR))).toBe('revision_requested')
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'revision_requested', subagentSessionId: null })
  })

  it('that its run handed in by itself, and again by its result, is decided by the verdicts on the result', async () => {
    await setRules({ judge: true })
    const task = await makeTask(harness.ctx, { review: 'auto', acceptance_criteria: ['It compiles'] })
    await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own' }))
    const run = await claimOne(harness.ctx)
    await buildPrompt(harness.deps, run)
    const own = harness.as(await authenticate(harness.deps, run.credential))
    await completeTask(own, task.id, { outputs: {}, summary: POOR })
    const first = await evaluationOf(task)
    expect(await decide(task, first.id, withCriteria(task, POOR))).toBe('revision_requested')
    await injectSession(own, `subtask-${run.id}`, { ack: 'auto', messages: [] })
    await settleOne(harness.ctx, run, completed(`Here it is.\n${GOOD}`))
    const [ofResult] = await harness.admin<{ id: string }[]>`select id from evaluations where subtask_id = ${run.id}`
    expect(await decide(task, first.id, withCriteria(task, GOOD))).toBe('left')
    expect(await decide(task, ofResult?.id as string, withCriteria(task, GOOD))).toBe('completed')
  })

  it('is decided at once where there is nothing to ask it about', async () => {
    await setRules({ judge: true })
    const { task, own } = await held({ review: 'auto' })
    expect(await completeTask(own, task.id, { outputs: {}, summary: GOOD })).toMatchObject({ status: 'completed' })
  })
})
