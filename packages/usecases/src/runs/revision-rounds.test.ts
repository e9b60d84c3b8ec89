import { type AttemptEnd, DomainError, subtaskSessionId, type Task } from '@muster/domain'
import {
  allEvents,
  claimAll,
  claimOne,
  completed,
  drain,
  drainOutbox,
  type Harness,
  holdRow,
  invariants,
  makeTask,
  readSubtaskRow,
  settleOne,
  spawnMany,
  startHarness,
  waitUntilBlocked,
} from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  assignTask,
  authenticate,
  buildPrompt,
  type ClaimedRun,
  cancelSubtask,
  cancelTask,
  claimInbox,
  claimSubtask,
  completeLease,
  completeTask,
  dispatchTask,
  failTask,
  getSubtask,
  getTask,
  listTaskUpdates,
  noteTask,
  reviewTask,
  reviseTask,
  settleRuns,
} from '../index.ts'
import type { TaskDispatch } from '../tasks/dispatch-task.ts'

let harness: Harness
let agents = 0

beforeAll(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await drain(harness.ctx)
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

const reflection = (...lines: string[]) => `Here it is.\n<npl-block type="reflection">\n${lines.join('\n')}\n</npl-block>`
const POOR = completed(reflection('🐛 It does not compile.'))
const GOOD = completed(reflection('✅ It compiles.'))
const CANCELLED: AttemptEnd = { kind: 'cancelled', partialResult: null }

interface Chain {
  task: Task
  session: string
  run: ClaimedRun
}

/** A dispatched brief, alone in its lane, whose first round runs. */
async function chain(maxRevisions: number, fields: Parameters<typeof makeTask>[1] = {}, input: Partial<TaskDispatch> = {}): Promise<Chain> {
  agents += 1
  const session = `asked-by-${agents}`
  const task = await makeTask(harness.ctx, { parent_session_id: session, ...fields })
  await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own', agentId: `chain-${agents}`, maxRevisions, ...input }))
  const run = await claimOne(harness.ctx)
  await buildPrompt(harness.deps, run)
  return { task, session, run }
}

/** The same, where the first result was poor and the second round runs. */
async function secondRound(maxRevisions = 3, fields: Parameters<typeof makeTask>[1] = {}): Promise<Chain & { first: ClaimedRun }> {
  const { run: first, ...made } = await chain(maxRevisions, fields)
  await settleOne(harness.ctx, first, POOR)
  const run = await claimOne(harness.ctx)
  await buildPrompt(harness.deps, run)
  return { ...made, first, run }
}

interface Round {
  id: string
  status: string
  revision_of: string | null
  revision_round: number
}

function roundsOf(task: Task): Promise<Round[]> {
  return harness.admin<Round[]>`select id, status, revision_of, revision_round from subtasks where task_id = ${task.id} order by revision_round`
}

/** The subtasks that the session which asked has heard of. */
async function heardOf(session: string): Promise<(string | null)[]> {
  return (await claimInbox(harness.ctx, session, { limit: 10, ack: 'auto' })).items.map((item) => item.subtaskId)
}

describe('a poor result', () => {
  it('is followed by another round, asked for as the one before it, which holds the task', async () => {
    const { task, session, run } = await chain(2, {}, { metadata: { a: 1 }, priority: 'low', maxAttempts: 3, timeoutSeconds: 77, model: 'some' })
    await settleOne(harness.ctx, run, POOR)
    const [first, second] = (await roundsOf(task)) as [Round, Round]
    expect(first).toMatchObject({ id: run.id, status: 'completed', revision_round: 0 })
    expect(second).toMatchObject({ status: 'pending', revision_of: run.id, revision_round: 1 })
    expect(await getSubtask(harness.ctx, second.id)).toMatchObject({
      agentId: run.agentId,
      parentSessionId: session,
      priority: 'low',
      maxAttempts: 3,
      timeoutSeconds: 77,
      model: 'some',
      metadata: { a: 1 },
      revisionOf: run.id,
      revisionRound: 1,
      maxRevisions: 2,
      attempt: 0,
      taskRevision: 1,
    })
    // The slot that its predecessor left.
    expect(await readSubtaskRow(harness.admin, second.id)).toMatchObject({ slot: true })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({
      status: 'in_progress',
      subagentSessionId: subtaskSessionId(second.id),
      completionOutputs: null,
    })
    expect(await heardOf(session)).toEqual([])
  })

  it('is announced: the end says by which round it is revised, and the task what was asked for', async () => {
    const { task, run, first } = await secondRound()
    await drainOutbox(harness.deps)
    const [evaluation] = await harness.admin`select id, score from evaluations where subtask_id = ${first.id}`
    expect((await allEvents(harness.ctx, first.id)).at(-1)).toMatchObject({
      type: 'subtask.completed',
      data: { revised_by: run.id, evaluation: { id: evaluation?.id, score: evaluation?.score, recommendation: 'request_revision' } },
    })
    expect((await allEvents(harness.ctx, run.id))[0]).toMatchObject({
      type: 'subtask.created',
      data: { revision_of: first.id, revision_round: 1, task_id: task.id },
      actor: { kind: 'system', id: 'evaluation' },
    })
    const events = await allEvents(harness.ctx, task.id)
    expect(events.find(({ type }) => type === 'task.revision_requested')).toMatchObject({
      data: { status: 'in_progress', subtask_id: run.id, revision_of: first.id, revision_round: 1, max_revisions: 3, evaluation_id: evaluation?.id },
    })
    expect(events.filter(({ type }) => type === 'task.assigned').map(({ data }) => data.subtask_id)).toEqual([first.id, run.id])
  })

  it('tells the next round what is to be revised, and what there was', async () => {
    const { task, run: first } = await chain(2, { acceptance_criteria: ['It compiles', 'It is documented'] })
    const [compiles] = task.criteria as [Task['criteria'][0]]
    const checkIn = `<npl-block type="check-in" task-id="${task.id}">\n- 🐛 ${compiles.text} (${compiles.id})\n</npl-block>`
    await noteTask(harness.ctx, task.id, 'Mind the gap.')
    await settleOne(harness.ctx, first, completed(`This is all I have.\n${checkIn}`))
    const brief = await buildPrompt(harness.deps, await claimOne(harness.ctx))
    expect(brief.text).toContain(`You go on from your earlier subtask ${first.id}, which ended completed (completed).`)
    expect(brief.text).toContain('This is all I have.')
    expect(brief.text).toMatch(/\[Task Update: Revision Requested\][\s\S]*Criteria that it does not meet:\n- It compiles/)
    expect(brief.text).toMatch(/Criteria that it does not address:\n- It is documented/)
    expect(brief.text).toContain('Mind the gap.')
    expect((await listTaskUpdates(harness.ctx, task.id, { limit: 10 })).items).toMatchObject([
      { updateType: 'note' },
      { updateType: 'revision_request', status: 'delivered', sender: { kind: 'system', id: 'evaluation' } },
    ])
  })

  it('of each round is revised by the next, which is told of all requests, until one is good: that one completes the task', async () => {
    const { task, session, run } = await chain(10)
    let last = run
    for (let round = 1; round <= 3; round += 1) {
      await settleOne(harness.ctx, last, completed(reflection(`🐛 Flaw ${round}.`)))
      last = await claimOne(harness.ctx)
      const { text } = await buildPrompt(harness.deps, last)
      expect(text.match(/\[Task Update: Revision Requested\]/g)).toHaveLength(round)
    }
    await settleOne(harness.ctx, last, completed(reflection('✅ All of it.'), { report: 'good' }))
    expect((await roundsOf(task)).map((round) => [round.status, round.revision_round])).toEqual([0, 1, 2, 3].map((round) => ['completed', round]))
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'completed', completionOutputs: { report: 'good' } })
    expect(await heardOf(session)).toEqual([last.id])
  })

  it.each([
    ['none', 'completed'],
    ['auto', 'revision_requested'],
    ['manual', 'in_review'],
  ] as const)('of the last round completes the task as it would have without rounds (review: %s)', async (review, status) => {
    const { task, session, run } = await secondRound(1, { review })
    await settleOne(harness.ctx, run, POOR)
    expect(await roundsOf(task)).toHaveLength(2)
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status })
    expect(await heardOf(session)).toEqual([run.id])
  })

  it('is not sent back unless that was asked for', async () => {
    const { task, session, run } = await chain(0)
    await settleOne(harness.ctx, run, POOR)
    expect(await roundsOf(task)).toHaveLength(1)
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'completed' })
    expect(await heardOf(session)).toEqual([run.id])
  })

  it('starts another round although as many wait in the lane as may', async () => {
    const { task, run } = await chain(1)
    await spawnMany(harness.ctx, 5, { agentId: run.agentId })
    await expect(spawnMany(harness.ctx, 1, { agentId: run.agentId })).rejects.toMatchObject({ code: 'pending_limit_reached' })
    await settleOne(harness.ctx, run, POOR)
    const [, second] = (await roundsOf(task)) as [Round, Round]
    // Others have waited longer.
    expect(await readSubtaskRow(harness.admin, second.id)).toMatchObject({ status: 'pending', slot: false, job_id: null })
    await drain(harness.ctx)
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'completed' })
  })

  it('of many chains at once starts the next round of each', async () => {
    const chains = await Promise.all(Array.from({ length: 9 }, () => makeTask(harness.ctx)))
    await Promise.all(chains.map((task, place) => dispatchTask(harness.ctx, task.id, () => ({ runner: 'own', agentId: `many-${place % 3}`, maxRevisions: 2 }))))
    for (const round of [0, 1, 2]) {
      const runs = await claimAll(harness.ctx)
      expect(runs).toHaveLength(9)
      await settleRuns(
        harness.ctx,
        harness.ctx.actor.projectId,
        runs.map(({ id, attempt }) => ({ subtaskId: id, attempt, end: round === 2 ? GOOD : POOR })),
      )
      expect(await invariants(harness.admin)).toEqual([])
    }
    for (const task of chains) expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'completed' })
  })
})

describe('a chain', () => {
  it.each<[string, (chain: Chain) => Promise<unknown>, object]>([
    ['a good result', ({ run }) => settleOne(harness.ctx, run, GOOD), { status: 'completed' }],
    ['a result that says nothing', ({ run }) => settleOne(harness.ctx, run), { status: 'completed' }],
    [
      'an error',
      ({ run }) => settleOne(harness.ctx, run, { kind: 'errored', error: 'No disk.', retryable: false, partialResult: null }),
      { status: 'pending', lastError: 'No disk.' },
    ],
    ['running out of time', ({ run }) => settleOne(harness.ctx, run, { kind: 'timed_out', partialResult: 'half' }), { status: 'pending' }],
    [
      'being blocked',
      ({ run }) => settleOne(harness.ctx, run, { kind: 'blocked', reason: 'no key', partialResult: null }),
      { status: 'pending', lastError: 'no key' },
    ],
    [
      'a DELETE',
      async ({ run }) => {
        await cancelSubtask(harness.ctx, run.id)
        await settleOne(harness.ctx, run, CANCELLED)
      },
      { status: 'pending' },
    ],
    [
      'a DELETE that comes before a poor result',
      async ({ run }) => {
        await cancelSubtask(harness.ctx, run.id)
        await settleOne(harness.ctx, run, POOR)
      },
      { status: 'completed' },
    ],
    [
      'the task being cancelled',
      async ({ task, run }) => {
        await cancelTask(harness.ctx, task.id, 'enough')
        await settleOne(harness.ctx, run, POOR)
      },
      { status: 'cancelled' },
    ],
    [
      'the task being given up',
      async ({ task, run }) => {
        await failTask(harness.ctx, task.id, 'enough')
        await settleOne(harness.ctx, run, POOR)
      },
      { status: 'failed' },
    ],
    [
      'the task being completed by hand',
      async ({ task, run }) => {
        await completeTask(harness.ctx, task.id, { outputs: {} })
        await settleOne(harness.ctx, run, POOR)
      },
      { status: 'completed' },
    ],
    [
      'the task being given to a session',
      async ({ task, run }) => {
        await assignTask(harness.ctx, task.id, 'somebody')
        await settleOne(harness.ctx, run, POOR)
      },
      { status: 'assigned', subagentSessionId: 'somebody' },
    ],
    [
      'its run completing the task by itself',
      async ({ task, run }) => {
        await completeTask(harness.as(await authenticate(harness.deps, run.credential)), task.id, { outputs: {} })
        await settleOne(harness.ctx, run, POOR)
      },
      { status: 'completed' },
    ],
  ])('ends with %s, of which the session that asked hears once', async (_, end, expected) => {
    const made = await secondRound()
    await end(made)
    expect(await getTask(harness.ctx, made.task.id)).toMatchObject(expected)
    expect(await roundsOf(made.task)).toHaveLength(2)
    expect(await heardOf(made.session)).toEqual([made.run.id])
  })

  it.each<[string, (task: Task, id: string) => Promise<unknown>, object]>([
    ['a DELETE', (_, id) => cancelSubtask(harness.ctx, id), { status: 'pending' }],
    ['the task being cancelled', (task) => cancelTask(harness.ctx, task.id, 'enough'), { status: 'cancelled' }],
    ['the task being given up', (task) => failTask(harness.ctx, task.id, 'enough'), { status: 'failed' }],
    ['the task being given to a session', (task) => assignTask(harness.ctx, task.id, 'somebody'), { status: 'assigned' }],
  ])('ends with %s while its round waits, of which the session that asked hears once', async (_, end, expected) => {
    const { task, session, run } = await chain(3)
    await settleOne(harness.ctx, run, POOR)
    const [, second] = (await roundsOf(task)) as [Round, Round]
    await end(task, second.id)
    expect(await getTask(harness.ctx, task.id)).toMatchObject(expected)
    expect(await getSubtask(harness.ctx, second.id)).toMatchObject({ status: 'cancelled' })
    expect(await heardOf(session)).toEqual([second.id])
  })

  it('goes on where a round is lost with its worker, and ends with it where it is lost for good', async () => {
    const { task, session, run } = await secondRound()
    await settleOne(harness.ctx, run, { kind: 'lost', ranMs: 0, lostMs: 0 })
    const again = await claimOne(harness.ctx)
    expect(again).toMatchObject({ id: run.id, attempt: 2 })
    const brief = await buildPrompt(harness.deps, again)
    expect(brief.text).toContain('You go on from your earlier subtask')
    expect(brief.text).toContain('[Task Update: Revision Requested]')
    await settleOne(harness.ctx, again, { kind: 'lost', ranMs: 0, lostMs: 0 })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'pending', lastError: expect.stringContaining('lost') })
    expect(await heardOf(session)).toEqual([run.id])
  })

  it('can be dispatched anew after it ended without the task, with as many rounds as are asked for then', async () => {
    const { task, run } = await secondRound(1)
    await settleOne(harness.ctx, run, { kind: 'errored', error: 'No disk.', retryable: false, partialResult: null })
    const again = await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own', maxRevisions: 1 }))
    expect(again).toMatchObject({ revisionOf: null, revisionRound: 0, maxRevisions: 1 })
    await settleOne(harness.ctx, await claimOne(harness.ctx), POOR)
    expect((await roundsOf(task)).map((round) => round.revision_round).toSorted()).toEqual([0, 0, 1, 1])
  })

  it('is worked off by outside workers like any other', async () => {
    const { task, session } = await (async () => {
      const made = await makeTask(harness.ctx, { parent_session_id: 'outside-boss' })
      await dispatchTask(harness.ctx, made.id, () => ({ runner: 'external', agentId: 'outside', maxRevisions: 1 }))
      return { task: made, session: 'outside-boss' }
    })()
    const claim = async () => {
      const claimed = await claimSubtask(harness.ctx, { runner: 'external', workerId: 'outside', leaseSeconds: 60 })
      if (claimed === null) throw new Error('nothing was claimed')
      return claimed
    }
    const first = await claim()
    await completeLease(harness.ctx, first.subtask.id, { leaseToken: first.lease.token, result: reflection('🐛 Broken.') })
    const second = await claim()
    expect(second.subtask).toMatchObject({ revisionOf: first.subtask.id, revisionRound: 1 })
    expect(second.brief.text).toContain('🐛 bug: Broken.')
    await completeLease(harness.ctx, second.subtask.id, { leaseToken: second.lease.token, result: reflection('✅ Mended.') })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'completed' })
    expect(await heardOf(session)).toEqual([second.subtask.id])
  })

  it('goes on with the brief as it is by then', async () => {
    const { task, run } = await chain(1)
    await reviseTask(harness.ctx, task.id, { instructions: 'Count all files.' }, [1])
    await settleOne(harness.ctx, run, POOR)
    const next = await claimOne(harness.ctx)
    expect(next).toMatchObject({ taskRevision: 2 })
    expect(await buildPrompt(harness.deps, next)).toMatchObject({ revision: 2, task: 'Count the files\n\nCount all files.' })
    expect((await listTaskUpdates(harness.ctx, task.id, { limit: 10 })).items.map(({ status }) => status)).toEqual(['superseded', 'delivered'])
  })

  it('ends with what a person says of the task, who has the last word', async () => {
    const { task, run } = await secondRound(1, { review: 'manual' })
    await settleOne(harness.ctx, run, GOOD)
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'in_review' })
    await reviewTask(harness.ctx, task.id, { decision: 'request_revision', note: 'Not yet.' })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'revision_requested', subagentSessionId: null })
    expect(await roundsOf(task)).toHaveLength(2)
  })
})

describe('at the moment of a poor result', () => {
  const code = (work: Promise<unknown>) => work.then(() => 'done').catch((error: unknown) => (error instanceof DomainError ? error.code : error))

  it.each(['first', 'second'] as const)('a DELETE that comes %s ends the chain or finds the round ended', async (order) => {
    const { task, session, run } = await chain(3)
    const letGo = await holdRow(harness.admin, task.id, 'tasks')
    const acts = [() => code(cancelSubtask(harness.ctx, run.id)), () => code(settleOne(harness.ctx, run, POOR))]
    const begun: Promise<unknown>[] = []
    for (const act of order === 'first' ? acts : acts.toReversed()) {
      begun.push(act())
      await waitUntilBlocked(harness.admin, begun.length)
    }
    await letGo()
    const outcomes = await Promise.all(begun)
    const rounds = await roundsOf(task)
    if (order === 'first') {
      expect(outcomes).toEqual(['done', 'done'])
      expect(rounds).toHaveLength(1)
      expect(await heardOf(session)).toEqual([run.id])
    } else {
      expect(outcomes).toEqual(['done', 'not_cancellable'])
      expect(rounds).toHaveLength(2)
      expect(await heardOf(session)).toEqual([])
    }
  })

  it('two settlements of it start one round', async () => {
    const { task, run } = await chain(3)
    const letGo = await holdRow(harness.admin, task.id, 'tasks')
    const both = [settleOne(harness.ctx, run, POOR), settleOne(harness.ctx, run, POOR)]
    await waitUntilBlocked(harness.admin, 2)
    await letGo()
    expect(await Promise.all(both)).toEqual(['settled', 'settled'])
    expect(await roundsOf(task)).toHaveLength(2)
    expect(await harness.admin`select from evaluations where subtask_id = ${run.id}`).toHaveLength(1)
    expect((await listTaskUpdates(harness.ctx, task.id, { limit: 10 })).items).toHaveLength(1)
  })

  it('everything else that happens to its task and to its round never waits for ever, and leaves one that goes on or none', async () => {
    const chains = await Promise.all(Array.from({ length: 12 }, () => makeTask(harness.ctx)))
    await Promise.all(
      chains.map((task, place) => dispatchTask(harness.ctx, task.id, () => ({ runner: 'own', agentId: `noise-${place % 4}`, maxRevisions: 2 }))),
    )
    for (let round = 0; round < 3; round += 1) {
      const runs = await claimAll(harness.ctx)
      const noise = runs.flatMap(({ id, taskId }, place) => [
        noteTask(harness.ctx, taskId as string, 'note'),
        reviseTask(harness.ctx, taskId as string, { instructions: `Round ${round}, ${place}.` }, 'any'),
        place % 4 === 0 ? cancelSubtask(harness.ctx, id) : noteTask(harness.ctx, taskId as string, 'another'),
        place % 6 === 1 ? cancelTask(harness.ctx, taskId as string, 'enough') : place % 6 === 2 ? assignTask(harness.ctx, taskId as string, 'x') : null,
      ])
      const ends = runs.flatMap((run) => [settleOne(harness.ctx, run, POOR), settleOne(harness.ctx, run, POOR)])
      const outcomes = await Promise.allSettled<unknown>([...noise, ...ends])
      expect(outcomes.flatMap((each) => (each.status === 'rejected' && !(each.reason instanceof DomainError) ? [each.reason] : []))).toEqual([])
      expect(await invariants(harness.admin, { whileBusy: true })).toEqual([])
    }
  })
})
