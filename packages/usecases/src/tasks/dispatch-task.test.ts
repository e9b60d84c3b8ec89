import { DomainError, subtaskSessionId, type Task } from '@muster/domain'
import {
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
  spawn,
  startHarness,
  waitUntilBlocked,
} from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  assignTask,
  authenticate,
  buildPrompt,
  cancelSubtask,
  cancelTask,
  checkpointRun,
  claimSubtask,
  completeLease,
  completeTask,
  createTsg,
  dispatchTask,
  failLease,
  getSubtask,
  getTask,
  heartbeat,
  injectSession,
  listTaskUpdates,
  lookAtRuns,
  noteTask,
  postMessage,
  reviewTask,
  reviseTask,
} from '../index.ts'
import type { TaskDispatch } from './dispatch-task.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await drain(harness.ctx)
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

const dispatch = (task: Task, input: Partial<TaskDispatch> = {}) => dispatchTask(harness.ctx, task.id, () => ({ runner: 'own', ...input }))

async function codeOf(work: Promise<unknown>): Promise<string> {
  const outcome = await work.catch((error: unknown) => error)
  return outcome instanceof DomainError ? outcome.code : 'done'
}

/** A dispatched task whose subtask has been claimed and briefed. */
async function running(input: Partial<Parameters<typeof makeTask>[1]> = {}) {
  const task = await makeTask(harness.ctx, input)
  const subtask = await dispatch(task)
  const run = await claimOne(harness.ctx)
  const brief = await buildPrompt(harness.deps, run)
  const checkpoint = () =>
    checkpointRun(harness.deps, run.projectId, {
      subtaskId: run.id,
      attempt: run.attempt,
      agentId: run.agentId,
      task: run.task,
      taskId: run.taskId,
      parentSessionId: run.parentSessionId,
      workerId: 'worker-1',
      steps: [],
      usage: {},
      acknowledgedIds: [],
      takesUpdates: true,
      afterStepSeq: null,
      renewsLease: false,
      repeatUnacknowledged: false,
    })
  return { task, subtask, run, brief, checkpoint }
}

describe('dispatching a task', () => {
  it('runs its brief as a subtask, which holds it', async () => {
    const task = await makeTask(harness.ctx, { priority: 'high', parent_session_id: 'boss', required_outputs: ['count'] })
    const subtask = await dispatch(task)
    expect(subtask).toMatchObject({ taskId: task.id, taskRevision: 1, priority: 'high', parentSessionId: 'boss', status: 'pending' })
    // What processes of the version before read beside this one.
    expect(await harness.admin`select priority from tasks where id = ${task.id}`).toEqual([{ priority: 'P1' }])
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ priority: 'high', status: 'in_progress', subagentSessionId: subtaskSessionId(subtask.id) })
    const run = await claimOne(harness.ctx)
    const brief = await buildPrompt(harness.deps, run)
    expect(brief.text).toContain('You are executing a background subtask.')
    expect(brief.text).toContain(`[Task Assignment: ${task.title}]`)
    // Its runner takes the outputs in.
    for (const absent of ['mark_task_complete', 'type="result"']) expect(brief.text).not.toContain(absent)
    expect(brief).toMatchObject({ revision: 1, runsTask: true, requiredOutputs: [{ name: 'count' }] })
    expect(brief.criteria.map((criterion) => criterion.id)).toEqual(task.criteria.map((criterion) => criterion.id))
    await settleOne(harness.ctx, run, completed('There are 3 files.', { count: 3 }))
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'completed', completionOutputs: { count: 3 } })
  })

  it('is refused while it runs, after it ended, and while its agent is full, and then changes nothing', async () => {
    const { task, run } = await running()
    expect(await codeOf(dispatch(task))).toBe('invalid_transition')
    await settleOne(harness.ctx, run)
    expect(await codeOf(dispatch(task))).toBe('invalid_transition')
    const other = await makeTask(harness.ctx)
    for (let nth = 0; nth < 5; nth += 1) await spawn(harness.ctx, { agentId: 'full' })
    expect(await codeOf(dispatch(other, { agentId: 'full' }))).toBe('pending_limit_reached')
    expect(await getTask(harness.ctx, other.id)).toMatchObject({ status: 'pending', subagentSessionId: null })
  })

  it('takes it from the session that held it', async () => {
    const task = await makeTask(harness.ctx)
    await assignTask(harness.ctx, task.id, 'old-holder')
    await dispatch(task)
    await noteTask(harness.ctx, task.id, 'for the run')
    expect((await injectSession(harness.ctx, 'old-holder', { ack: 'auto', messages: [] })).items).toEqual([])
    expect((await buildPrompt(harness.deps, await claimOne(harness.ctx))).text).toContain('for the run')
  })

  it('starts it anew when its result was sent back, and tells the next run what was asked for', async () => {
    const { task, run } = await running({ review: 'manual' })
    await settleOne(harness.ctx, run)
    await reviewTask(harness.ctx, task.id, { decision: 'request_revision', note: 'Count the folders too.' })
    // Nobody is in the session of a run that has ended, and it takes nothing of the task any more.
    expect((await injectSession(harness.ctx, subtaskSessionId(run.id), { ack: 'auto', messages: [] })).items).toEqual([])
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'revision_requested', subagentSessionId: null })
    expect(await dispatch(task)).toMatchObject({ status: 'pending' })
    const again = await claimOne(harness.ctx)
    expect((await buildPrompt(harness.deps, again)).text).toContain('Count the folders too.')
    await settleOne(harness.ctx, again)
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'in_review' })
  })

  it('starts it anew when its result was sent back while the run was still at it, and never heard of it', async () => {
    const { task, run } = await running({ review: 'manual' })
    const own = harness.as(await authenticate(harness.deps, run.credential))
    await completeTask(own, task.id, { outputs: {} })
    await reviewTask(harness.ctx, task.id, { decision: 'request_revision', note: 'Count the folders too.' })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'revision_requested', subagentSessionId: subtaskSessionId(run.id) })
    await settleOne(harness.ctx, run)
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'revision_requested', subagentSessionId: null })
    expect((await injectSession(harness.ctx, subtaskSessionId(run.id), { ack: 'auto', messages: [] })).items).toEqual([])
    await dispatch(task)
    const again = await claimOne(harness.ctx)
    expect((await buildPrompt(harness.deps, again)).text).toContain('Count the folders too.')
    await settleOne(harness.ctx, again)
  })

  it('of one task many times at once starts it once', async () => {
    const task = await makeTask(harness.ctx)
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => codeOf(dispatch(task))))
    expect(outcomes.toSorted()).toEqual(['done', ...Array(9).fill('invalid_transition')])
    expect(await harness.admin`select from subtasks where task_id = ${task.id}`).toHaveLength(1)
  })
})

describe('a run of a task', () => {
  it('is told of every change between two steps, once and in order, and records which revision it was told', async () => {
    const { task, run, checkpoint } = await running()
    expect((await checkpoint())?.updates).toEqual([])
    const note = await noteTask(harness.ctx, task.id, 'Leave out the tests.')
    const revised = await reviseTask(harness.ctx, task.id, { instructions: 'Count all files.' }, [1])
    expect(await lookAtRuns(harness.deps, [{ subtaskId: run.id, attempt: run.attempt }])).toMatchObject([{ taskHasUpdates: true }])
    expect((await checkpoint())?.updates.map((update) => update.updateId)).toEqual([note.updateId, revised.update?.updateId])
    expect((await checkpoint())?.updates).toEqual([])
    expect(await lookAtRuns(harness.deps, [{ subtaskId: run.id, attempt: run.attempt }])).toMatchObject([{ taskHasUpdates: false }])
    expect((await listTaskUpdates(harness.ctx, task.id, { limit: 10 })).items.map((update) => [update.status, update.deliveredTo])).toEqual([
      ['delivered', subtaskSessionId(run.id)],
      ['delivered', subtaskSessionId(run.id)],
    ])
    await settleOne(harness.ctx, run)
    expect(await getSubtask(harness.ctx, run.id)).toMatchObject({ status: 'completed', taskRevision: 2 })
  })

  it('completes the task only with what the brief asks for by then', async () => {
    const { task, run } = await running()
    await reviseTask(harness.ctx, task.id, { required_outputs: ['report'] }, [1])
    await settleOne(harness.ctx, run, completed('There are 3 files.'))
    expect(await getSubtask(harness.ctx, run.id)).toMatchObject({ status: 'pending', failures: 1 })
    const again = await claimOne(harness.ctx)
    const brief = await buildPrompt(harness.deps, again)
    expect(brief.text).toContain('report is missing')
    expect(brief.revision).toBe(2)
    await settleOne(harness.ctx, again, completed('There are 3 files.', { report: 'all of them' }))
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'completed', completionOutputs: { report: 'all of them' } })
  })

  it.each(['none', 'manual'] as const)('that hands the outputs in by itself need not bring them again (review: %s)', async (review) => {
    const { task, run } = await running({ required_outputs: ['count'], review })
    const own = harness.as(await authenticate(harness.deps, run.credential))
    const { status } = await completeTask(own, task.id, { outputs: { count: 3 } })
    await settleOne(harness.ctx, run, completed('There are 3 files.'))
    expect(await getSubtask(harness.ctx, run.id)).toMatchObject({ status: 'completed', attempt: 1 })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status, completionOutputs: { count: 3 } })
  })

  it('is told of the brief as it is by then when it is run again, in every field', async () => {
    const { task, run } = await running()
    await reviseTask(harness.ctx, task.id, { title: 'Count twice', instructions: 'Count all files.' }, [1])
    await settleOne(harness.ctx, run, { kind: 'errored', error: 'No disk.', retryable: true, partialResult: null })
    expect(await buildPrompt(harness.deps, await claimOne(harness.ctx))).toMatchObject({ revision: 2, task: 'Count twice\n\nCount all files.' })
  })

  it('gives the task back when it fails, with the reason, for another to take up', async () => {
    const { task, run } = await running()
    await settleOne(harness.ctx, run, { kind: 'errored', error: 'The disk is full.', retryable: false, partialResult: null })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'pending', subagentSessionId: null, lastError: 'The disk is full.' })
    const second = await dispatch(task)
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'in_progress', lastError: null })
    await drain(harness.ctx)
    expect(await getSubtask(harness.ctx, second.id)).toMatchObject({ status: 'completed' })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'completed' })
  })

  it('gives the task back when it is cancelled, waiting or running', async () => {
    const waiting = await makeTask(harness.ctx)
    const first = await dispatch(waiting)
    await cancelSubtask(harness.ctx, first.id)
    expect(await getTask(harness.ctx, waiting.id)).toMatchObject({ status: 'pending', lastError: expect.stringContaining('cancelled') })
    const { task, run } = await running()
    await cancelSubtask(harness.ctx, run.id)
    await settleOne(harness.ctx, run, { kind: 'cancelled', partialResult: null })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'pending', lastError: expect.stringContaining('cancelled') })
  })

  it('is cancelled with the task, and its late result changes nothing of it', async () => {
    const { task, run } = await running()
    await cancelTask(harness.ctx, task.id, 'not needed any more')
    expect((await readSubtaskRow(harness.admin, run.id)).cancel_requested_at).not.toBeNull()
    await settleOne(harness.ctx, run)
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'cancelled', completionOutputs: null })
  })

  it('that has lost the task to a session does not complete it', async () => {
    const { task, run } = await running()
    await assignTask(harness.ctx, task.id, 'somebody')
    await settleOne(harness.ctx, run)
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'assigned', subagentSessionId: 'somebody' })
  })

  it('only mentions a task that it was not dispatched for', async () => {
    const task = await makeTask(harness.ctx)
    await spawn(harness.ctx, { taskId: task.id })
    const run = await claimOne(harness.ctx)
    expect(await buildPrompt(harness.deps, run)).toMatchObject({ runsTask: false, task: 'Count the files.' })
    await settleOne(harness.ctx, run)
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'pending' })
  })
})

describe('a task and its subtask', () => {
  it('never wait for each other, whatever happens to both at once', async () => {
    const tasks = await Promise.all(Array.from({ length: 12 }, () => makeTask(harness.ctx)))
    await Promise.all(tasks.map((task, place) => dispatch(task, { agentId: `both-${place % 6}` })))
    const runs = [...(await claimAll(harness.ctx)), ...(await claimAll(harness.ctx))]
    const briefs = runs.map((run) => buildPrompt(harness.deps, run))
    const noise = tasks.flatMap((task, place) => [
      noteTask(harness.ctx, task.id, 'note'),
      reviseTask(harness.ctx, task.id, { instructions: `Take ${place}.` }, [1]),
      place % 3 === 0 ? cancelTask(harness.ctx, task.id, 'enough') : noteTask(harness.ctx, task.id, 'another'),
    ])
    const ends = runs.map((run, place) => (place % 4 === 0 ? cancelSubtask(harness.ctx, run.id) : settleOne(harness.ctx, run)))
    const outcomes = await Promise.allSettled<unknown>([...briefs, ...noise, ...ends])
    const unexpected = outcomes.flatMap((outcome) => (outcome.status === 'rejected' && !(outcome.reason instanceof DomainError) ? [outcome.reason] : []))
    expect(unexpected).toEqual([])
  })

  it.each(['a message', 'an injection'])('never wait for each other when the run speaks of the failure that it ends with: %s', async (where) => {
    await createTsg(harness.ctx, { tsgId: harness.deps.newId(), title: 'Port in use', content: 'Find who listens.', patterns: ['EADDRINUSE'] })
    const { task, run } = await running()
    await noteTask(harness.ctx, task.id, 'news')
    const own = harness.as(await authenticate(harness.deps, run.credential))
    const checkIn = `<npl-block type="check-in" task-id="${task.id}" revision="1">\nnext_steps:\n  - none\n</npl-block>`
    const letGo = await holdRow(harness.admin, run.id)
    const end = settleOne(harness.ctx, run, { kind: 'errored', error: 'EADDRINUSE', retryable: true, partialResult: null })
    await waitUntilBlocked(harness.admin, 1)
    const said =
      where === 'a message'
        ? postMessage(own, subtaskSessionId(run.id), { role: 'assistant', content: `EADDRINUSE\n${checkIn}`, taskId: task.id })
        : injectSession(own, subtaskSessionId(run.id), { ack: 'auto', messages: ['EADDRINUSE'] })
    await waitUntilBlocked(harness.admin, 2)
    await letGo()
    expect(await Promise.allSettled([end, said])).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }])
  })
})

describe('an outside worker', () => {
  it('gets the brief, its changes with heartbeats, and completes the task', async () => {
    const task = await makeTask(harness.ctx, { required_outputs: ['count'] })
    await dispatch(task, { runner: 'external' })
    const claim = await claimSubtask(harness.ctx, { runner: 'external', workerId: 'outside', leaseSeconds: 60 })
    if (claim === null) throw new Error('nothing was claimed')
    expect(claim.brief.text).toContain(`[Task Assignment: ${task.title}]`)
    const note = await noteTask(harness.ctx, task.id, 'Mind the gap.')
    const beat = (ackUpdateIds: string[]) => heartbeat(harness.ctx, claim.subtask.id, { leaseToken: claim.lease.token, ackUpdateIds, steps: [], usage: {} })
    expect((await beat([])).updates.map((update) => update.updateId)).toEqual([note.updateId])
    // Repeated until it is acknowledged.
    expect((await beat([])).updates.map((update) => update.updateId)).toEqual([note.updateId])
    expect((await beat([note.updateId])).updates).toEqual([])
    expect((await listTaskUpdates(harness.ctx, task.id, { limit: 10 })).items).toMatchObject([{ status: 'acknowledged' }])
    await completeLease(harness.ctx, claim.subtask.id, { leaseToken: claim.lease.token, result: 'There are 3 files.', outputs: { count: 3 } })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'completed', completionOutputs: { count: 3 } })
  })

  it('that fails gives the task back', async () => {
    const task = await makeTask(harness.ctx)
    await dispatch(task, { runner: 'external' })
    const claim = await claimSubtask(harness.ctx, { runner: 'external', workerId: 'outside', leaseSeconds: 60 })
    if (claim === null) throw new Error('nothing was claimed')
    await failLease(harness.ctx, claim.subtask.id, { leaseToken: claim.lease.token, error: 'No network.' })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'pending', lastError: 'No network.' })
  })
})
