import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { couldNotRun, type ReviewMode } from '@muster/domain'
import { createChecker, startGuard } from '@muster/runners'
import { allEvents, claimOne, completed, drainOutbox, type Harness, invariants, makeTask, scriptedJudge, settleOne, startHarness } from '@muster/testing'
import {
  buildPrompt,
  type CheckWorker,
  type ClaimedRun,
  claimChecks,
  claimInbox,
  claimSubtask,
  completeLease,
  completeTask,
  createTask,
  dispatchTask,
  endAbandonedChecks,
  getTask,
  type HeldCheck,
  holdChecks,
  judgeEvaluation,
  listEvaluations,
  listTaskChecks,
  placeOf,
  requestChecks,
  reviewTask,
  reviseTask,
  runCheck,
  settleRuns,
  taskWorkspacePath,
  updateProject,
} from '@muster/usecases'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Checking, findFolder, startChecking } from './checking.ts'
import { createDeps } from './deps.ts'
import { startWorker } from './worker.ts'

/** Passes once the file `answer` is there, and counts its executions. */
const HAS_ANSWER = ['/bin/sh', '-c', 'echo x >> executed; [ -f answer ] || { echo "Error: there is no answer"; exit 4; }']
/** A program that writes the file once it is told that the check failed. */
const LEARNING = ['/bin/sh', '-c', 'if grep -q "there is no answer"; then echo 42 > answer; fi; echo "All done."']

let harness: Harness
let place: string
let agents = 0
const guard = startGuard({ log: { debug: () => {}, warn: () => {} } })
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin' }

beforeAll(async () => {
  harness = await startHarness({
    settings: {
      CHECKS: JSON.stringify({ 'has-answer': { argv: HAS_ANSWER, timeout_seconds: 20 }, waits: { argv: ['/bin/sh', '-c', 'echo x >> executed; sleep 60'] } }),
      COMMAND_RUNNERS: JSON.stringify({ own: { argv: ['own'] }, learning: { argv: LEARNING } }),
      CHECK_CONCURRENCY: '3',
    },
  })
  place = placeOf(harness.deps.settings.DATA_DIR, harness.deps.newId)
})

let checking: Checking | undefined
afterEach(async () => {
  await checking?.stop()
  checking = undefined
  await work()
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
  expect(await harness.admin`select from check_runs where ended_at is null`).toHaveLength(0)
})

afterAll(async () => {
  await guard.close()
  await harness.close()
})

const NEVER = new AbortController().signal
const checker = () => createChecker(harness.deps.settings.CHECKS, { guard, environment })
const worker = (): CheckWorker => ({ workerId: harness.deps.newId(), place })
const folderOf = (id: string) => taskWorkspacePath(harness.deps, id)
const means = () => ({ checker: checker(), findFolder: async ({ id }: { id: string }) => folderOf(id) })
const take = (limit = 10) => claimChecks(harness.deps, worker(), limit)

/** Executes what waits, one after the other, and answers how each ended. */
async function work(): Promise<string[]> {
  const ends: string[] = []
  for (;;) {
    const [held] = await take(1)
    if (held === undefined) return ends
    ends.push(await runCheck(harness.deps, means(), held, NEVER))
  }
}

interface Made {
  id: string
  session: string
  run: ClaimedRun
}

/** A dispatched task with a criterion that a check decides, whose run works. */
async function dispatched(own: { review?: ReviewMode; maxRevisions?: number; criteria?: (string | { text: string; check?: string })[] } = {}): Promise<Made> {
  const { review = 'auto', maxRevisions = 0, criteria = [{ text: 'There is an answer', check: 'has-answer' }] } = own
  agents += 1
  const session = `checked-${agents}`
  const { id } = await makeTask(harness.ctx, { acceptance_criteria: criteria, review, parent_session_id: session })
  await dispatchTask(harness.ctx, id, () => ({ runner: 'own', agentId: session, maxRevisions }))
  return { id, session, run: await next() }
}

async function next(): Promise<ClaimedRun> {
  const run = await claimOne(harness.ctx)
  await buildPrompt(harness.deps, run)
  return run
}

const end = (run: ClaimedRun, result = 'Done.') => settleOne({ ...harness.ctx, place }, run, completed(result))
const report = (line: string) => `Done.\n<npl-block type="check-in">\n- ${line}\n</npl-block>`
const answer = (id: string) => writeFile(join(folderOf(id), 'answer'), '42')
const checksOf = async (id: string) => (await listTaskChecks(harness.ctx, id, { limit: 50 })).items
const statusOf = async (id: string) => (await getTask(harness.ctx, id)).status
const executions = async (id: string) =>
  (await import('node:fs/promises')).readFile(join(folderOf(id), 'executed'), 'utf8').then(
    (text) => text.length / 2,
    () => 0,
  )
const heardOf = async (session: string) => (await claimInbox(harness.ctx, session, { limit: 10, ack: 'auto' })).items

async function verdictsOf(id: string) {
  const [latest] = await harness.admin<{ recommendation: string; detail: { criteria: { verdict: string; method: string; evidence: string }[] } }[]>`
    select recommendation, detail from evaluations where task_id = ${id} order by id desc limit 1`
  return latest
}

describe('a run of a program, from brief to proof', () => {
  it('is sent back with what its check printed, and completes the task once it passes', async () => {
    const { settings } = harness.deps
    const deps = createDeps({ settings: { ...settings, DATABASE_URL: harness.database.appUrl }, environment, log: harness.log })
    const running = await startWorker(deps)
    const session = 'whole-chain'
    const { id } = await makeTask(harness.ctx, {
      acceptance_criteria: [{ text: 'There is an answer', check: 'has-answer' }],
      review: 'auto',
      parent_session_id: session,
    })
    const first = await dispatchTask(harness.ctx, id, () => ({ runner: 'learning', agentId: session, maxRevisions: 2 }))
    await vi.waitFor(async () => expect(await statusOf(id)).toBe('completed'), { timeout: 20_000, interval: 50 })
    await running.stop()
    const checks = await checksOf(id)
    expect(checks.map(({ status, exitCode, tries }) => ({ status, exitCode, tries }))).toEqual([
      { status: 'met', exitCode: 0, tries: 1 },
      { status: 'unmet', exitCode: 4, tries: 1 },
    ])
    expect(checks[1]).toMatchObject({ subtaskId: first.id, output: 'Error: there is no answer', reason: 'The program exited with code 4.' })
    expect(await verdictsOf(id)).toMatchObject({ recommendation: 'approve', detail: { criteria: [{ verdict: 'met', method: 'check' }] } })
    expect((await getTask(harness.ctx, id)).criteria).toMatchObject([{ state: 'met', check: 'has-answer' }])
    // Of the chain, the session that asked hears once.
    expect(await heardOf(session)).toMatchObject([{ subtaskId: checks[0]?.subtaskId, recommendation: 'approve' }])
    expect(await executions(id)).toBe(2)
  }, 30_000)
})

describe('a result with a check', () => {
  it('decides nothing before the check has ended, whatever the agent says', async () => {
    const { id, run } = await dispatched()
    await answer(id)
    await end(run, report('✅ There is an answer'))
    expect(await statusOf(id)).toBe('in_review')
    expect(await verdictsOf(id)).toMatchObject({ recommendation: 'review', detail: { criteria: [{ verdict: 'unclear', method: 'check' }] } })
    expect(await work()).toEqual(['met'])
    expect(await statusOf(id)).toBe('completed')
  })

  it('is refuted by it although the agent praises, and the next round is told, once', async () => {
    const { id, session, run } = await dispatched({ maxRevisions: 1 })
    await end(run, report('✅ There is an answer'))
    expect(await heardOf(session)).toEqual([])
    expect(await work()).toEqual(['unmet'])
    expect(await statusOf(id)).toBe('in_progress')
    const round = await claimOne(harness.ctx)
    const { text } = await buildPrompt(harness.deps, round)
    expect(round).toMatchObject({ revisionOf: run.id })
    expect(text).toContain('Checks that failed')
    expect(text).toContain('| Error: there is no answer')
    await drainOutbox(harness.deps)
    const events = (await allEvents(harness.ctx)).filter(({ data }) => data.subtask_id === run.id)
    expect(events.find(({ type }) => type === 'subtask.completed')?.data).toMatchObject({ awaits_checks: true })
    expect(events.filter(({ type }) => type === 'check.completed').map(({ subject, data }) => [subject, data])).toEqual([
      [{ kind: 'task', id }, expect.objectContaining({ check: 'has-answer', status: 'unmet', exit_code: 4, check_run_id: (await checksOf(id))[0]?.id })],
    ])
    expect(events.filter(({ type }) => type === 'evaluation.created').map(({ data }) => data.revised_by)).toEqual([undefined, round.id])
    // A repeated end of the first round starts no other.
    await end(run, 'Again.')
    expect(await harness.admin`select from subtasks where task_id = ${id}`).toHaveLength(2)
    await answer(id)
    await end(round)
    expect(await work()).toEqual(['met'])
    expect(await statusOf(id)).toBe('completed')
    expect((await heardOf(session)).map(({ subtaskId }) => subtaskId)).toEqual([round.id])
  })

  it('gets the next round from what is left of the budget of the project, and none where nothing is', async () => {
    const projectId = harness.ctx.actor.projectId
    const spend = (run: ClaimedRun, inputTokens: number) =>
      settleRuns({ ...harness.deps, place }, run.projectId, [{ subtaskId: run.id, attempt: run.attempt, usage: { inputTokens }, end: completed('Done.') }])
    await updateProject(harness.ctx, projectId, { settings: { limits: { budget: { total: { tokens: 1_000 } } } } })
    const { id, run } = await dispatched({ maxRevisions: 2 })
    await spend(run, 40)
    expect(await work()).toEqual(['unmet'])
    const round = await next()
    const budgetOf = async (subtaskId: string) =>
      (await harness.admin`select budget_max_tokens::int as tokens from subtasks where id = ${subtaskId}`)[0]?.tokens
    expect([await budgetOf(run.id), await budgetOf(round.id)]).toEqual([100, 60])
    await spend(round, 60)
    expect(await work()).toEqual(['unmet'])
    // A round remains, and no tokens.
    expect(await statusOf(id)).toBe('revision_requested')
    expect(await harness.admin`select from subtasks where task_id = ${id}`).toHaveLength(2)
    await updateProject(harness.ctx, projectId, { settings: { limits: {} } })
  })

  it('is proved by it although the agent doubts', async () => {
    const { id, run } = await dispatched({ maxRevisions: 1 })
    await answer(id)
    await end(run, report('🐛 There is an answer'))
    await work()
    expect(await statusOf(id)).toBe('completed')
  })

  it('without rounds is requested to be revised by review auto, and left to a person by review manual', async () => {
    for (const [review, status] of [
      ['auto', 'revision_requested'],
      ['manual', 'in_review'],
      ['none', 'completed'],
    ] as const) {
      const { id, session, run } = await dispatched({ review })
      await end(run)
      expect(await statusOf(id)).toBe('in_review')
      expect(await work()).toEqual(['unmet'])
      expect(await statusOf(id)).toBe(status)
      expect(await heardOf(session)).toMatchObject([{ subtaskId: run.id, recommendation: 'request_revision' }])
    }
  })

  it('of other criteria the word of the agent still needs evidence', async () => {
    const { id, run } = await dispatched({ criteria: [{ text: 'There is an answer', check: 'has-answer' }, 'The text is friendly'] })
    await answer(id)
    await end(run, report('✅ The text is friendly'))
    expect(await work()).toEqual(['met'])
    expect(await statusOf(id)).toBe('in_review')
    expect(await verdictsOf(id)).toMatchObject({ recommendation: 'approve' })
  })

  it('executes a program once for all criteria that name it', async () => {
    const criteria = ['There is an answer', 'The answer is a file'].map((text) => ({ text, check: 'has-answer' }))
    const { id, run } = await dispatched({ criteria })
    await answer(id)
    await end(run)
    expect(await work()).toEqual(['met'])
    expect(await executions(id)).toBe(1)
    expect((await checksOf(id)).map(({ status }) => status)).toEqual(['met', 'met'])
    expect(await statusOf(id)).toBe('completed')
  })

  it('stays in review where the folder is gone: that proves nothing', async () => {
    const { id, run } = await dispatched({ maxRevisions: 1 })
    await end(run)
    const [held] = await take()
    expect(await runCheck(harness.deps, { ...means(), findFolder: async () => null }, held as HeldCheck, NEVER)).toBe('could_not_run')
    expect(await statusOf(id)).toBe('in_review')
    expect(await checksOf(id)).toMatchObject([{ status: 'could_not_run', reason: 'The folder in which the run worked is gone.' }])
    expect(await verdictsOf(id)).toMatchObject({ recommendation: 'review', detail: { criteria: [{ verdict: 'unclear', method: 'check' }] } })
  })

  it('is not completed by its check if the brief has got another one since', async () => {
    const { id, run } = await dispatched()
    await answer(id)
    await end(run)
    const [criterion] = (await getTask(harness.ctx, id)).criteria
    await reviseTask(harness.ctx, id, { acceptance_criteria: [{ id: criterion?.id ?? '', text: 'There is an answer', check: 'waits' }] }, 'any')
    expect(await work()).toEqual(['met'])
    expect(await statusOf(id)).toBe('in_review')
  })

  it('is not completed by its check without an output that the brief asks for since', async () => {
    const { id, session, run } = await dispatched({ review: 'none' })
    await answer(id)
    await end(run)
    await reviseTask(harness.ctx, id, { required_outputs: ['report'] }, 'any')
    expect(await work()).toEqual(['met'])
    expect(await statusOf(id)).toBe('in_review')
    expect(await heardOf(session)).toMatchObject([{ subtaskId: run.id }])
  })

  it('leaves a task alone that a person has decided about meanwhile', async () => {
    const { id, session, run } = await dispatched({ maxRevisions: 1 })
    await end(run)
    await reviewTask(harness.ctx, id, { decision: 'approve' })
    expect(await work()).toEqual(['unmet'])
    expect(await statusOf(id)).toBe('completed')
    expect(await heardOf(session)).toMatchObject([{ subtaskId: run.id }])
  })

  it('asks the judge after the checks, and only if they do not send it back', async () => {
    const criteria = [{ text: 'There is an answer', check: 'has-answer' }, 'The text is friendly']
    await updateProject(harness.ctx, harness.ctx.actor.projectId, { settings: { evaluation: { judge: true } } })
    const { id, run } = await dispatched({ criteria })
    await answer(id)
    await end(run, report('✅ The text is friendly'))
    expect(await harness.deps.judgeJobs.take(1)).toEqual([])
    await work()
    const [job] = await harness.deps.judgeJobs.take(1)
    expect(await statusOf(id)).toBe('in_review')
    const asked: string[][] = []
    const judge = scriptedJudge(async (question) => {
      asked.push(question.criteria.map(({ text }) => text))
      const verdicts = question.criteria.map((criterion) => ({ criterionId: criterion.id, verdict: 'met' as const, quote: 'Done.' }))
      return { kind: 'judged', verdicts, model: 'm', usage: { inputTokens: 1, outputTokens: 1, costUsdMicros: 0 } }
    })
    expect(await judgeEvaluation(harness.deps, judge, job as never, NEVER)).toBe('judged')
    expect(asked).toEqual([['The text is friendly']])
    expect(await statusOf(id)).toBe('completed')
    expect((await verdictsOf(id))?.detail.criteria.map(({ method }) => method)).toEqual(['check', 'judge'])
    const other = await dispatched({ criteria, maxRevisions: 1 })
    await end(other.run)
    expect(await work()).toEqual(['unmet'])
    expect(await harness.deps.judgeJobs.take(1)).toEqual([])
    await updateProject(harness.ctx, harness.ctx.actor.projectId, { settings: { evaluation: {} } })
    await settleOne({ ...harness.ctx, place }, await next(), completed())
  })
})

describe('a result whose checks cannot decide', () => {
  it('keeps their verdicts where the judge fails, and waits for a person', async () => {
    const projectId = harness.ctx.actor.projectId
    await updateProject(harness.ctx, projectId, { settings: { evaluation: { judge: true } } })
    const { id, run } = await dispatched({ criteria: [{ text: 'There is an answer', check: 'has-answer' }, 'The text is friendly'] })
    await answer(id)
    await end(run)
    await work()
    const [job] = await harness.deps.judgeJobs.take(1)
    const usage = { inputTokens: 0, outputTokens: 0, costUsdMicros: 0 }
    const judge = scriptedJudge(async () => ({ kind: 'failed', error: 'no model', retryable: false, retryAfterMs: null, usage }))
    expect(await judgeEvaluation(harness.deps, judge, job as never, NEVER)).toBe('failed')
    expect(await statusOf(id)).toBe('in_review')
    expect((await verdictsOf(id))?.detail.criteria.map(({ method, verdict }) => [method, verdict])).toEqual([
      ['check', 'met'],
      ['check_in', 'not_addressed'],
    ])
    await updateProject(harness.ctx, projectId, { settings: { evaluation: {} } })
  })

  it('is left alone, and its folder too, once the task has been sent back and is worked on again', async () => {
    const { id, session, run } = await dispatched({ review: 'manual' })
    await end(run)
    await reviewTask(harness.ctx, id, { decision: 'request_revision', note: 'Again.' })
    await dispatchTask(harness.ctx, id, () => ({ runner: 'own', agentId: session }))
    const again = await next()
    expect(await work()).toEqual(['could_not_run'])
    expect(await executions(id)).toBe(0)
    expect(await getTask(harness.ctx, id)).toMatchObject({ status: 'in_progress', criteria: [{ state: 'open' }] })
    await answer(id)
    await end(again)
    expect(await work()).toEqual(['met'])
  })

  it('waits for a person where the run worked elsewhere: an empty folder proves nothing', async () => {
    const { id } = await makeTask(harness.ctx, { acceptance_criteria: [{ text: 'There is an answer', check: 'has-answer' }], review: 'auto' })
    await dispatchTask(harness.ctx, id, () => ({ runner: 'external', maxRevisions: 1 }))
    const claimed = await claimSubtask(harness.ctx, { workerId: 'outside', runner: 'external', leaseSeconds: 30 })
    await completeLease(harness.ctx, claimed?.subtask.id ?? '', { leaseToken: claimed?.lease.token ?? '', result: 'Done.' } as never)
    await mkdir(folderOf(id), { recursive: true })
    const real = {
      checker: checker(),
      findFolder: (task: { id: string; clientCwd: string | null }, isKnown: boolean) => findFolder(harness.deps, task, isKnown),
    }
    const [held] = (await take()) as [HeldCheck]
    expect(await runCheck(harness.deps, real, held, NEVER)).toBe('given_back')
    expect(await take()).toEqual([])
    await harness.admin`update check_runs set created_at = created_at - interval '1 minute', due_at = muster_now() - interval '1 second' where id = ${held.id}`
    const [again] = (await take()) as [HeldCheck]
    expect(again.tries).toBe(1)
    expect(await runCheck(harness.deps, real, again, NEVER)).toBe('could_not_run')
    expect(await statusOf(id)).toBe('in_review')
  })

  it('waits for a person where no worker takes them for an hour', async () => {
    const { id, run } = await dispatched({ maxRevisions: 1 })
    await end(run)
    expect(await endAbandonedChecks(harness.deps)).toBe(0)
    await harness.admin`update check_runs set due_at = due_at - interval '61 minutes' where task_id = ${id}`
    expect(await endAbandonedChecks(harness.deps)).toBe(1)
    expect(await endAbandonedChecks(harness.deps)).toBe(0)
    expect(await checksOf(id)).toMatchObject([{ status: 'could_not_run', reason: 'No worker with the folder of this task took it within an hour.' }])
    expect(await statusOf(id)).toBe('in_review')
  })
})

describe('a check whose worker is lost', () => {
  const lose = (id: string) => harness.admin`update check_runs set lease_expires_at = muster_now() - interval '1 second' where id = ${id}`

  it('is executed once more by another one, and the late end of the first changes nothing', async () => {
    const { id, run } = await dispatched()
    await end(run)
    const [lost] = (await take()) as [HeldCheck]
    expect(await take()).toEqual([])
    await lose(lost.id)
    const [again] = (await take()) as [HeldCheck]
    expect(again).toMatchObject({ id: lost.id, tries: 2 })
    expect(await holdChecks(harness.deps, [lost, again])).toEqual([lost])
    await answer(id)
    expect(await runCheck(harness.deps, means(), lost, NEVER)).toBe('fenced')
    expect(await statusOf(id)).toBe('in_review')
    expect(await runCheck(harness.deps, means(), again, NEVER)).toBe('met')
    expect(await runCheck(harness.deps, means(), again, NEVER)).toBe('fenced')
    expect(await statusOf(id)).toBe('completed')
    expect(await harness.admin`select from evaluations where task_id = ${id}`).toHaveLength(2)
  })

  it('is not executed a third time: that proves nothing', async () => {
    const { id, run } = await dispatched()
    await end(run)
    for (const _ of [1, 2]) for (const held of await take()) await lose(held.id)
    const [third] = (await take()) as [HeldCheck]
    expect(await runCheck(harness.deps, means(), third, NEVER)).toBe('could_not_run')
    expect(await executions(id)).toBe(0)
    expect(await statusOf(id)).toBe('in_review')
  })

  it('ends once where two ends of it come at once', async () => {
    const { id, run } = await dispatched({ maxRevisions: 1 })
    await end(run)
    const [held] = (await take()) as [HeldCheck]
    const ends = await Promise.all([1, 2, 3].map(() => runCheck(harness.deps, means(), held, NEVER)))
    expect(ends.toSorted()).toEqual(['fenced', 'fenced', 'unmet'])
    expect(await harness.admin`select from subtasks where task_id = ${id}`).toHaveLength(2)
    await settleOne({ ...harness.ctx, place }, await next(), completed())
  })
})

describe('workers that execute checks', () => {
  it('each take their own, and of one task one at a time', async () => {
    const criteria = [
      { text: 'There is an answer', check: 'has-answer' },
      { text: 'It waits', check: 'waits' },
    ]
    const made = [await dispatched({ criteria }), await dispatched({ criteria })]
    for (const { run } of made) await end(run)
    const taken = (await Promise.all([take(), take(), take(), take()])).flat()
    expect(taken.map(({ taskId }) => taskId).toSorted()).toEqual(made.map(({ id }) => id).toSorted())
    for (const held of taken) await runCheck(harness.deps, means(), held, NEVER)
    for (const held of await take()) {
      expect(held.checkName).toBe('waits')
      const stub = { check: async () => couldNotRun('It was not started.') }
      await runCheck(harness.deps, { ...means(), checker: stub }, held, NEVER)
    }
  })

  it('leave those of another data folder to its workers', async () => {
    const { run } = await dispatched()
    await end(run)
    expect(await claimChecks(harness.deps, { workerId: harness.deps.newId(), place: harness.deps.newId() }, 10)).toEqual([])
    expect(await work()).toEqual(['unmet'])
  })

  it('begin none before an operator has decided about a restore', async () => {
    const { id, run } = await dispatched({ criteria: [{ text: 'It waits', check: 'waits' }] })
    await end(run)
    const restores = { isHeldNow: vi.fn(async () => true) }
    checking = startChecking(
      { ...harness.deps, workerId: harness.deps.newId(), place, checker: checker() },
      (what) => (error) => harness.log.error({ err: error }, what),
      restores,
    )
    await vi.waitFor(() => expect(restores.isHeldNow).toHaveBeenCalled())
    await checking.stop()
    expect(await checksOf(id)).toMatchObject([{ status: 'pending', tries: 0, workerId: null }])
    await harness.admin`update check_runs set check_name = 'has-answer' where task_id = ${id}`
  })

  it('stop them when they stop, and give them back as if they had not been tried', async () => {
    const { id, run } = await dispatched({ criteria: [{ text: 'It waits', check: 'waits' }] })
    await end(run)
    checking = startChecking(
      { ...harness.deps, workerId: harness.deps.newId(), place, checker: checker() },
      (what) => (error) => harness.log.error({ err: error }, what),
      { isHeldNow: async () => false },
    )
    await vi.waitFor(async () => expect(await executions(id)).toBe(1), { timeout: 10_000 })
    await checking.stop()
    expect(await checksOf(id)).toMatchObject([{ status: 'pending', tries: 0, workerId: null }])
    await harness.admin`update check_runs set check_name = 'has-answer' where task_id = ${id}`
  })
})

describe('checks on request', () => {
  it('evaluate a submission once more, and complete it when they pass', async () => {
    const { id, run } = await dispatched({ review: 'auto' })
    await end(run)
    const [held] = await take()
    await runCheck(harness.deps, { ...means(), findFolder: async () => null }, held as HeldCheck, NEVER)
    expect(await statusOf(id)).toBe('in_review')
    await answer(id)
    const requested = await requestChecks(harness.ctx, id)
    expect(requested).toMatchObject([{ status: 'pending', checkName: 'has-answer' }])
    // A second request finds them under way.
    expect(await requestChecks(harness.ctx, id)).toEqual(requested)
    expect(await work()).toEqual(['met'])
    expect(await statusOf(id)).toBe('completed')
    expect((await listEvaluations(harness.ctx, { taskId: id, limit: 10 })).items).toHaveLength(4)
  })

  it('that end as before are executed, and evaluate nothing again', async () => {
    const { id, run } = await dispatched({ review: 'manual' })
    await end(run)
    expect(await work()).toEqual(['unmet'])
    const evaluated = async () => (await listEvaluations(harness.ctx, { taskId: id, limit: 10 })).items.length
    expect(await evaluated()).toBe(2)
    await requestChecks(harness.ctx, id)
    expect(await evaluated()).toBe(2)
    expect(await work()).toEqual(['unmet'])
    expect([await evaluated(), await executions(id)]).toEqual([2, 2])
    await answer(id)
    await requestChecks(harness.ctx, id)
    expect(await work()).toEqual(['met'])
    expect(await evaluated()).toBe(4)
    expect(await verdictsOf(id)).toMatchObject({ recommendation: 'approve' })
    await requestChecks(harness.ctx, id)
    expect(await work()).toEqual(['met'])
    expect(await evaluated()).toBe(4)
    expect(await statusOf(id)).toBe('in_review')
  })

  it('show how the criteria of a task stand that nobody has submitted', async () => {
    const { id } = await makeTask(harness.ctx, { acceptance_criteria: [{ text: 'There is an answer', check: 'has-answer' }] })
    await mkdir(folderOf(id), { recursive: true })
    await requestChecks(harness.ctx, id)
    expect(await work()).toEqual(['unmet'])
    expect(await getTask(harness.ctx, id)).toMatchObject({ status: 'pending', criteria: [{ state: 'unmet' }] })
    await rm(folderOf(id), { recursive: true })
    await requestChecks(harness.ctx, id)
    const [held] = (await take()) as [HeldCheck]
    const nowhere = { ...means(), findFolder: async () => null }
    expect(await runCheck(harness.deps, nowhere, held, NEVER)).toBe('given_back')
    await harness.admin`update check_runs set created_at = created_at - interval '1 minute' where id = ${held.id}`
    await harness.admin`update check_runs set due_at = muster_now() - interval '1 second' where id = ${held.id}`
    const [again] = (await take()) as [HeldCheck]
    expect(await runCheck(harness.deps, nowhere, again, NEVER)).toBe('could_not_run')
    expect((await checksOf(id))[0]).toMatchObject({ reason: 'No worker has the folder of this task, or it is empty.' })
  })

  it('follow a completion by hand as well', async () => {
    const { id } = await makeTask(harness.ctx, { acceptance_criteria: [{ text: 'There is an answer', check: 'has-answer' }], review: 'auto' })
    expect(await completeTask(harness.ctx, id, { outputs: {}, summary: 'Done.' })).toMatchObject({ status: 'in_review' })
    await mkdir(folderOf(id), { recursive: true })
    await answer(id)
    expect(await work()).toEqual(['met'])
    expect(await statusOf(id)).toBe('completed')
  })

  it('are refused for a task whose criteria name none, and an unknown name is refused with those that there are', async () => {
    const { id } = await makeTask(harness.ctx, { acceptance_criteria: ['There is an answer'] })
    await expect(requestChecks(harness.ctx, id)).rejects.toMatchObject({ code: 'conflict' })
    const acceptance_criteria = ['First', { text: 'There is an answer', check: 'no-such' }]
    await expect(createTask(harness.ctx, { title: 'T', instructions: 'Look for the answer in the folder.', acceptance_criteria })).rejects.toMatchObject({
      code: 'validation_failed',
      details: {
        errors: [{ pointer: '/acceptance_criteria/1/check', field: 'acceptance_criteria[1].check', reason: 'Is not a known check. Known: has-answer, waits' }],
      },
    })
  })
})
