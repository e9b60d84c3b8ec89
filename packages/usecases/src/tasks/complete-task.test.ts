import { transaction } from '@muster/db'
import { DomainError, type Task } from '@muster/domain'
import { allEvents, drainOutbox, type Harness, holdRow, invariants, makeTask, startHarness, waitUntilBlocked } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { assignTask, authenticate, completeTask, failTask, getTask, listTaskUpdates, noteTask, returnTaskToPending, reviewTask, reviseTask } from '../index.ts'
import { completeTaskInTransaction } from './complete-task.ts'
import { evaluateCompletion } from './evaluate-completion.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

async function refusalOf(work: Promise<unknown>): Promise<DomainError> {
  const outcome = await work.catch((error: unknown) => error)
  if (outcome instanceof DomainError) return outcome
  throw new Error('was not refused', { cause: outcome })
}

async function lastEvent(id: string) {
  await drainOutbox(harness.deps)
  return (await allEvents(harness.ctx, id)).at(-1)
}

const receipts = async (task: Task) => (await listTaskUpdates(harness.ctx, task.id, { limit: 50 })).items.map((update) => update.status)

describe('completing a task', () => {
  it('names every output that is absent, null or does not fit, and changes nothing', async () => {
    const task = await makeTask(harness.ctx, { required_outputs: ['a', 'b', { name: 'c/~', schema: { type: 'integer' } }, 'd'] })
    const error = await refusalOf(completeTask(harness.ctx, task.id, { outputs: { b: null, 'c/~': 'three', d: 0 } }))
    expect(error).toMatchObject({
      code: 'outputs_missing',
      details: {
        errors: [
          { pointer: '/outputs/a', field: 'outputs.a', reason: 'is missing' },
          { pointer: '/outputs/b', reason: 'is missing' },
          { pointer: '/outputs/c~1~0', reason: 'must be integer' },
        ],
      },
    })
    expect(await getTask(harness.ctx, task.id)).toEqual(task)
    expect(await lastEvent(task.id)).toMatchObject({ type: 'task.created' })
  })

  it('keeps what comes besides, announces it, and takes the task from its holder', async () => {
    const made = await makeTask(harness.ctx, { required_outputs: ['a'] })
    const { task } = await assignTask(harness.ctx, made.id, 'holder')
    await noteTask(harness.ctx, task.id, 'never handed over')
    const completed = await completeTask(harness.ctx, task.id, { outputs: { a: [1], more: 'x' }, summary: 'All of it.' })
    expect(completed).toMatchObject({ status: 'completed', completionOutputs: { a: [1], more: 'x' }, summary: 'All of it.', completedAt: expect.any(Date) })
    expect(await receipts(task)).toEqual(['expired'])
    expect(await lastEvent(task.id)).toMatchObject({ type: 'task.completed', data: { status: 'completed', summary: 'All of it.', subagent_session: 'holder' } })
    expect(await refusalOf(completeTask(harness.ctx, task.id, { outputs: { a: 1 } }))).toMatchObject({ code: 'invalid_transition' })
  })

  it('is refused to a session that loses the task in that very moment', async () => {
    const made = await makeTask(harness.ctx)
    const { task, credential } = await assignTask(harness.ctx, made.id, 'loser')
    const loser = harness.as(await authenticate(harness.deps, credential))
    const letGo = await holdRow(harness.admin, task.id, 'tasks')
    const moved = assignTask(harness.ctx, task.id, 'winner')
    await waitUntilBlocked(harness.admin, 1)
    const refused = refusalOf(completeTask(loser, task.id, { outputs: {} }))
    await waitUntilBlocked(harness.admin, 2)
    await letGo()
    await moved
    expect(await refused).toMatchObject({ code: 'not_found' })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'assigned', subagentSessionId: 'winner' })
  })

  it('in a caller’s transaction says what came of it, and leaves that transaction alone', async () => {
    const { projectId } = harness.ctx.actor
    const task = await makeTask(harness.ctx, { required_outputs: ['a'] })
    const complete = (outputs: Record<string, unknown>) =>
      transaction(harness.deps.db, projectId, (tx) =>
        completeTaskInTransaction(harness.deps, tx, projectId, task.id, {
          outputs,
          summary: null,
          actor: { kind: 'worker', id: 'w' },
          evaluate: (locked) => evaluateCompletion(harness.ctx, tx, locked, { outputs, summary: null }),
          hasRunEnded: false,
        }),
      )
    expect(await complete({})).toEqual({ problems: [{ name: 'a', reason: 'is missing' }] })
    expect(await complete({ a: 1 })).toEqual({ outcome: 'completed' })
    expect(await complete({ a: 1 })).toEqual({ refused: 'completed' })
  })
})

describe('a task that asks for review', () => {
  it('is completed by approval alone', async () => {
    const task = await makeTask(harness.ctx, { review: 'manual' })
    expect(await refusalOf(reviewTask(harness.ctx, task.id, { decision: 'approve' }))).toMatchObject({
      code: 'invalid_transition',
      details: { status_now: 'pending' },
    })
    expect(await completeTask(harness.ctx, task.id, { outputs: { a: 1 }, summary: 'First.' })).toMatchObject({ status: 'in_review', completedAt: null })
    expect(await refusalOf(completeTask(harness.ctx, task.id, { outputs: {} }))).toMatchObject({
      code: 'invalid_transition',
      details: { status_now: 'in_review' },
    })
    expect(await reviewTask(harness.ctx, task.id, { decision: 'approve' })).toMatchObject({
      status: 'completed',
      summary: 'First.',
      completionOutputs: { a: 1 },
    })
  })

  it('goes back to its holder with what is to be revised, and is handed in anew', async () => {
    const made = await makeTask(harness.ctx, { review: 'auto' })
    const { task } = await assignTask(harness.ctx, made.id, 'holder')
    await completeTask(harness.ctx, task.id, { outputs: {} })
    expect(await reviewTask(harness.ctx, task.id, { decision: 'request_revision', note: 'Too short.' })).toMatchObject({ status: 'revision_requested' })
    expect((await listTaskUpdates(harness.ctx, task.id, { limit: 5 })).items).toMatchObject([
      { updateType: 'revision_request', content: 'Too short.', status: 'queued', revision: 1 },
    ])
    expect(await completeTask(harness.ctx, task.id, { outputs: {} })).toMatchObject({ status: 'in_review' })
  })

  it('is not approved without an output that the brief has asked for since', async () => {
    const task = await makeTask(harness.ctx, { review: 'manual' })
    await completeTask(harness.ctx, task.id, { outputs: { a: 1 } })
    await reviseTask(harness.ctx, task.id, { required_outputs: ['a', 'b'] }, 'any')
    expect(await refusalOf(reviewTask(harness.ctx, task.id, { decision: 'approve' }))).toMatchObject({ code: 'outputs_missing' })
    expect((await getTask(harness.ctx, task.id)).status).toBe('in_review')
  })
})

describe('a task that comes back from the subtask that ran it', () => {
  it('is pending again, with the reason, and keeps the notes for the next holder', async () => {
    const { projectId } = harness.ctx.actor
    const made = await makeTask(harness.ctx)
    const { task } = await assignTask(harness.ctx, made.id, 'holder')
    await noteTask(harness.ctx, task.id, 'for whoever holds it')
    await reviseTask(harness.ctx, task.id, { title: 'Anew' }, 'any')
    const giveBack = () =>
      transaction(harness.deps.db, projectId, (tx) => returnTaskToPending(harness.deps, tx, projectId, task.id, 'It crashed.', { kind: 'worker', id: 'w' }))
    expect(await giveBack()).toBe(false)
    await harness.admin`update tasks set status = 'in_progress' where id = ${task.id}`
    expect(await giveBack()).toBe(true)
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'pending', subagentSessionId: null, lastError: 'It crashed.' })
    expect(await receipts(task)).toEqual(['queued', 'superseded'])
    expect(await giveBack()).toBe(false)
  })
})

describe('giving a task up', () => {
  it('ends it with the reason, from wherever it is', async () => {
    const pending = await makeTask(harness.ctx)
    const blocked = await makeTask(harness.ctx, { depends_on: [pending.id] })
    for (const task of [blocked, pending]) {
      expect(await failTask(harness.ctx, task.id, 'No way.')).toMatchObject({ status: 'failed', lastError: 'No way.' })
      expect(await lastEvent(task.id)).toMatchObject({ type: 'task.failed', data: { reason: 'No way.' } })
    }
  })
})
