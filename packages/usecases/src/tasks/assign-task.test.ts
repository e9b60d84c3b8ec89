import { DomainError, type Task } from '@muster/domain'
import { allEvents, claimOne, drain, drainOutbox, type Harness, invariants, makeTask, readSubtaskRow, spawn, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  assignTask,
  authenticate,
  type Ctx,
  cancelTask,
  checkIn,
  completeTask,
  confirmUpdate,
  createSubtask,
  getTask,
  getTaskContext,
  getTaskStats,
  injectSession,
  listSubtasks,
  listTaskRevisions,
  listTasks,
  listTaskUpdates,
  noteTask,
  readEvents,
  reviewTask,
  reviseTask,
  steerSubtask,
} from '../index.ts'

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

async function codeOf(work: Promise<unknown>): Promise<string> {
  const outcome = await work.catch((error: unknown) => error)
  return outcome instanceof DomainError ? outcome.code : 'done'
}

async function eventTypes(id: string): Promise<string[]> {
  await drainOutbox(harness.deps)
  return (await allEvents(harness.ctx, id)).map((event) => event.type)
}

const holdersOf = (id: string) => harness.admin`
  select session_id, introduced_at, delivered_seq, has_news, ended_at is not null as ended from assignments where task_id = ${id} order by session_id`

async function assignedCtx(sessionId: string, made?: Task): Promise<{ own: Ctx; task: Task; credential: string }> {
  const { task, credential } = await assignTask(harness.ctx, (made ?? (await makeTask(harness.ctx))).id, sessionId)
  return { own: harness.as(await authenticate(harness.deps, credential)), task, credential }
}

/** What dispatching does, as far as a task is concerned: gives it to the session of a subtask. */
async function dispatched(): Promise<{ task: Task; subtaskId: string }> {
  const made = await makeTask(harness.ctx)
  const subtask = await spawn(harness.ctx, { taskId: made.id, agentId: made.id })
  const { task } = await assignTask(harness.ctx, made.id, `subtask-${subtask.id}`)
  await harness.admin`update tasks set subtask_id = ${subtask.id}, status = 'in_progress' where id = ${task.id}`
  return { task, subtaskId: subtask.id }
}

describe('assigning a task', () => {
  it('gives it to a session, which has been told nothing of it yet', async () => {
    const { task } = await assignedCtx('first')
    expect(task).toMatchObject({ status: 'assigned', subagentSessionId: 'first' })
    expect(await holdersOf(task.id)).toEqual([{ session_id: 'first', introduced_at: null, delivered_seq: 0, has_news: true, ended: false }])
    expect(await eventTypes(task.id)).toEqual(['task.created', 'task.assigned'])
  })

  it('to another session begins anew there, and supersedes the changes that the old one never got, but no note', async () => {
    const { task, credential } = await assignedCtx('old')
    await injectSession(harness.ctx, 'old', { ack: 'auto', messages: [] })
    await reviseTask(harness.ctx, task.id, { title: 'Anew' }, 'any')
    await noteTask(harness.ctx, task.id, 'for whoever holds it')
    expect((await assignedCtx('new', task)).task).toMatchObject({ status: 'assigned', subagentSessionId: 'new' })
    expect((await listTaskUpdates(harness.ctx, task.id, { limit: 5 })).items.map((update) => update.status)).toEqual(['superseded', 'queued'])
    expect(await holdersOf(task.id)).toMatchObject([
      { session_id: 'new', introduced_at: null, has_news: true, ended: false },
      { session_id: 'old', has_news: false, ended: true },
    ])
    expect(await codeOf(authenticate(harness.deps, credential))).toBe('unauthenticated')
    expect((await assignedCtx('old', task)).task.subagentSessionId).toBe('old')
    expect(await holdersOf(task.id)).toMatchObject([
      { session_id: 'new', ended: true },
      { session_id: 'old', introduced_at: null, delivered_seq: 0, has_news: true, ended: false },
    ])
  })

  it('to the same session once more changes its credential and nothing else', async () => {
    const first = await assignedCtx('same')
    await noteTask(harness.ctx, first.task.id, 'told at once')
    await injectSession(harness.ctx, 'same', { ack: 'auto', messages: [] })
    const second = await assignedCtx('same', first.task)
    expect(second.task.status).toBe('in_progress')
    expect(await holdersOf(first.task.id)).toMatchObject([{ delivered_seq: 1, has_news: false, ended: false }])
    expect(await codeOf(authenticate(harness.deps, first.credential))).toBe('unauthenticated')
    expect(await eventTypes(first.task.id)).toEqual(['task.created', 'task.assigned', 'update.queued', 'update.delivered'])
  })

  it('leaves it with one session, whoever asks at once', async () => {
    const made = await makeTask(harness.ctx)
    await Promise.all(Array.from({ length: 8 }, (_, nth) => assignTask(harness.ctx, made.id, `session-${nth % 4}`)))
    expect((await holdersOf(made.id)).filter((holder) => holder.ended === false)).toHaveLength(1)
  })
})

describe('the credential that comes with an assigned task', () => {
  it('reads, reports on and completes that task', async () => {
    const { own, task } = await assignedCtx('holder')
    const note = await noteTask(harness.ctx, task.id, 'Word for word.')
    expect(own.actor).toMatchObject({ kind: 'session', id: 'holder', lineage: { depth: 1, taskId: task.id, sessionId: 'holder' } })
    expect((await getTask(own, task.id)).id).toBe(task.id)
    expect(await getTaskContext(own, task.id)).toBe('')
    expect((await listTasks(own, { limit: 50 })).items.map(({ id }) => id)).toEqual([task.id])
    expect((await listTasks(own, { limit: 50, text: 'count' })).items.map(({ id }) => id)).toEqual([task.id])
    expect((await listTaskUpdates(own, task.id, { limit: 5 })).items).toHaveLength(1)
    expect(await confirmUpdate(own, note.updateId)).toMatchObject({ content: 'Word for word.', taskId: task.id })
    expect(await checkIn(own, task.id, { content: '<npl-block type="check-in">\nstatus: in_progress\n</npl-block>' })).toMatchObject({ revision: 1 })
    await drainOutbox(harness.deps)
    expect(new Set((await allEvents(own)).map((event) => event.subject.id))).toEqual(new Set([task.id]))
    expect((await completeTask(own, task.id, { outputs: {} })).status).toBe('completed')
  })

  it('ends with the task', async () => {
    const { task, credential } = await assignedCtx('holder')
    await cancelTask(harness.ctx, task.id, 'enough')
    expect(await codeOf(authenticate(harness.deps, credential))).toBe('unauthenticated')
  })

  it('finds nothing of another task, not even of one that its session holds as well', async () => {
    const { own } = await assignedCtx('holder-of-two')
    const { task: second } = await assignedCtx('holder-of-two')
    const { task: others } = await assignedCtx('somebody-else')
    const subtask = await spawn(harness.ctx, { agentId: 'noted' })
    const toSubtask = await steerSubtask(harness.ctx, subtask.id, { content: 'x', delivery: 'next_step', steerable: () => true })
    for (const task of [second, others]) {
      const note = await noteTask(harness.ctx, task.id, 'not for it')
      for (const work of [
        () => getTask(own, task.id),
        () => listTaskUpdates(own, task.id, { limit: 5 }),
        () => listTaskRevisions(own, task.id, { limit: 5 }),
        () => confirmUpdate(own, note.updateId),
        () => checkIn(own, task.id, { content: '<npl-block type="check-in">\n</npl-block>' }),
        () => completeTask(own, task.id, { outputs: {} }),
        () => readEvents(own, { afterSeq: 0, subjectId: task.id, limit: 5 }),
        () => confirmUpdate(own, toSubtask.updateId),
      ])
        expect(await codeOf(work())).toBe('not_found')
    }
  })

  it('decides over nothing, and starts no work', async () => {
    const { own, task } = await assignedCtx('holder')
    for (const work of [
      () => reviseTask(own, task.id, { title: 'x' }, 'any'),
      () => noteTask(own, task.id, 'x'),
      () => assignTask(own, task.id, 'other'),
      () => cancelTask(own, task.id, 'x'),
      () => reviewTask(own, task.id, { decision: 'approve' }),
      () => listSubtasks(own, { limit: 5 }),
      () => getTaskStats(own),
    ])
      expect(await codeOf(work())).toBe('forbidden')
    expect(await codeOf(makeTask(own))).toBe('spawn_blocked')
    expect(await codeOf(createSubtask(own, { task: 'more', runner: 'own' }))).toBe('spawn_blocked')
  })
})

describe('a task that a subtask runs', () => {
  it('is read, reported on and completed with the credential of that subtask, and no other is', async () => {
    const { task, subtaskId } = await dispatched()
    const run = await claimOne(harness.ctx)
    expect(run.id).toBe(subtaskId)
    const own = harness.as(await authenticate(harness.deps, run.credential))
    const other = await makeTask(harness.ctx)
    expect((await getTask(own, task.id)).id).toBe(task.id)
    expect((await listTasks(own, { limit: 5 })).items.map(({ id }) => id)).toEqual([task.id])
    expect(await codeOf(getTask(own, other.id))).toBe('not_found')
    expect(await codeOf(noteTask(own, task.id, 'x'))).toBe('forbidden')
    expect((await completeTask(own, task.id, { outputs: {} })).status).toBe('completed')
  })

  it.each(['pending', 'running'])('takes that subtask with it when it is cancelled: one that is %s', async (status) => {
    const { task, subtaskId } = await dispatched()
    if (status === 'running') await claimOne(harness.ctx)
    expect(await cancelTask(harness.ctx, task.id, 'enough')).toMatchObject({ status: 'cancelled', lastError: 'enough' })
    const row = await readSubtaskRow(harness.admin, subtaskId)
    expect([row.status, row.cancel_requested_at !== null]).toEqual([status === 'running' ? 'running' : 'cancelled', true])
  })

  it('is taken from it when it is assigned to somebody else', async () => {
    const { task, subtaskId } = await dispatched()
    await assignTask(harness.ctx, task.id, 'somebody')
    expect((await readSubtaskRow(harness.admin, subtaskId)).status).toBe('cancelled')
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'assigned', subagentSessionId: 'somebody' })
  })
})
