import { DomainError, type Task } from '@muster/domain'
import { allEvents, drain, drainOutbox, type Harness, holdRow, invariants, makeTask, resetClock, startHarness, waitUntilBlocked } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  acknowledgeInjection,
  assignTask,
  authenticate,
  checkIn,
  completeTask,
  dispatchTask,
  getTask,
  injectSession,
  listTaskUpdates,
  noteTask,
  reviseTask,
} from '../index.ts'

let harness: Harness
let sessions = 0

beforeAll(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await resetClock(harness.admin)
  await drain(harness.ctx)
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

const inject = (session: string, ack: 'auto' | 'manual' = 'auto') => injectSession(harness.ctx, session, { ack, messages: [] })
const kinds = async (session: string) => (await inject(session)).items.map(({ kind }) => kind)
const resend = (task: Task, session: string) => assignTask(harness.ctx, task.id, session, { resend: true })
const receipts = async (task: Task) => (await listTaskUpdates(harness.ctx, task.id, { limit: 50 })).items.map(({ status }) => status)

/** A task that a session of its own holds, whose brief was handed over. */
async function handedOver(): Promise<{ task: Task; session: string }> {
  sessions += 1
  const session = `holder-${sessions}`
  const made = await makeTask(harness.ctx, { acceptance_criteria: ['Every file is counted'] })
  const { task } = await assignTask(harness.ctx, made.id, session)
  expect(await kinds(session)).toEqual(['assignment'])
  return { task, session }
}

describe('a brief that is resent', () => {
  it('comes again whole, once, with what has changed since and the notes; without resend nothing comes', async () => {
    const { task, session } = await handedOver()
    await noteTask(harness.ctx, task.id, 'Skip the tests.')
    expect(await kinds(session)).toEqual(['update'])
    await assignTask(harness.ctx, task.id, session)
    expect(await kinds(session)).toEqual([])
    await reviseTask(harness.ctx, task.id, { instructions: 'Count the folders.' }, 'any')
    await resend(task, session)
    const { items, text } = await inject(session)
    expect(items).toMatchObject([{ kind: 'assignment', taskId: task.id, revision: 2 }])
    expect(text).toContain('Count the folders.')
    expect(text).toContain('Skip the tests.')
    expect(await receipts(task)).toEqual(['delivered', 'superseded'])
    expect(await kinds(session)).toEqual([])
  })

  it('is one brief, however often it is resent before it is handed over', async () => {
    const { task, session } = await handedOver()
    await resend(task, session)
    await resend(task, session)
    expect(await kinds(session)).toEqual(['assignment'])
    expect(await kinds(session)).toEqual([])
  })

  it('leaves status, time of the assignment and what the holder has reported', async () => {
    const { task, session } = await handedOver()
    const [criterion] = task.criteria
    await checkIn(harness.ctx, task.id, { content: `<npl-block type="check-in" task-id="${task.id}">\n✅ ${criterion?.text} (${criterion?.id})\n</npl-block>` })
    const before = await getTask(harness.ctx, task.id)
    const time = await harness.admin`select assigned_at from assignments where task_id = ${task.id}`
    expect((await resend(task, session)).task).toMatchObject({ status: 'in_progress', criteria: before.criteria, revision: before.revision })
    expect(await harness.admin`select assigned_at from assignments where task_id = ${task.id}`).toEqual(time)
  })

  it('replaces the credential, and is announced', async () => {
    const { task, session } = await handedOver()
    const first = await resend(task, session)
    const second = await resend(task, session)
    await expect(authenticate(harness.deps, first.credential)).rejects.toMatchObject({ code: 'unauthenticated' })
    expect((await authenticate(harness.deps, second.credential)).lineage).toMatchObject({ sessionId: session })
    await drainOutbox(harness.deps)
    expect((await allEvents(harness.ctx, task.id)).at(-1)).toMatchObject({
      type: 'task.assigned',
      data: { subagent_session: session, previous_session: session, resent: true },
    })
  })

  it('comes after a manual claim that is open, whose acknowledgement does not count for it', async () => {
    const { task, session } = await handedOver()
    await noteTask(harness.ctx, task.id, 'Skip the tests.')
    const lent = await inject(session, 'manual')
    await resend(task, session)
    expect(await kinds(session)).toEqual([])
    await acknowledgeInjection(harness.ctx, session, lent.claimId as string)
    const { items, text } = await inject(session)
    expect(items.map(({ kind }) => kind)).toEqual(['assignment'])
    expect(text).toContain('Skip the tests.')
    expect(await receipts(task)).toEqual(['delivered'])
  })

  it('comes once when the manual claim that held it has lapsed', async () => {
    sessions += 1
    const session = `holder-${sessions}`
    const task = await makeTask(harness.ctx)
    await assignTask(harness.ctx, task.id, session)
    const lent = await inject(session, 'manual')
    await resend(task, session)
    await harness.admin`update injection_claims set lease_expires_at = '-infinity'`
    expect(await kinds(session)).toEqual(['assignment'])
    await expect(acknowledgeInjection(harness.ctx, session, lent.claimId as string)).rejects.toMatchObject({ code: 'conflict' })
    expect(await kinds(session)).toEqual([])
  })

  it('is handed over once, whether an injection at the same moment is before it or after it', async () => {
    const { task, session } = await handedOver()
    await noteTask(harness.ctx, task.id, 'Skip the tests.')
    const release = await holdRow(harness.admin, task.id, 'tasks')
    const both = Promise.all([inject(session), resend(task, session)])
    await waitUntilBlocked(harness.admin, 2)
    await release()
    const [{ items }] = await both
    const after = await inject(session)
    const order = [...items, ...after.items].map(({ kind }) => kind)
    expect(order.filter((kind) => kind === 'assignment')).toHaveLength(1)
    expect([['update', 'assignment'], ['assignment']]).toContainEqual(order)
    expect(await kinds(session)).toEqual([])
  })

  it('goes to another session like any assignment, and nothing more to the old one', async () => {
    const { task, session } = await handedOver()
    await resend(task, 'another one')
    expect(await kinds(session)).toEqual([])
    expect(await kinds('another one')).toEqual(['assignment'])
  })

  it('is refused for a task that has ended, and for one that a subtask runs', async () => {
    const ended = await handedOver()
    await completeTask(harness.ctx, ended.task.id, { outputs: {} })
    await expect(resend(ended.task, ended.session)).rejects.toMatchObject({ code: 'invalid_transition' })
    const { task } = await handedOver()
    const run = await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own' }))
    const refusal = await resend(task, `subtask-${run.id}`).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(DomainError)
    expect(refusal).toMatchObject({ code: 'invalid_transition', details: { subtask_id: run.id } })
  })
})
