import {
  allEvents,
  claimAll,
  claimOne,
  drain,
  drainOutbox,
  type Harness,
  holdRow,
  invariants,
  readSubtaskRow,
  settleOne,
  spawn,
  spawnMany,
  startHarness,
  waitUntilBlocked,
} from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { cancelSubtask, claimInbox, getSubtask, listUpdates, steerSubtask } from '../index.ts'

let harness: Harness
let agents = 0

beforeAll(async () => {
  harness = await startHarness({ settings: { SUBTASK_MAX_PENDING: '100' } })
})

afterEach(async () => {
  await drain(harness.ctx)
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

function newAgent(): string {
  agents += 1
  return `agent-${agents}`
}

describe('cancelling a pending subtask', () => {
  it('ends it at once, tells its parent, and nobody can start it any more', async () => {
    const made = await spawn(harness.ctx, { agentId: newAgent(), parentSessionId: 'cancel-1' })
    const { subtask, cancelled } = await cancelSubtask(harness.ctx, made.id)

    expect(cancelled).toBe(true)
    expect(subtask).toMatchObject({
      status: 'cancelled',
      finalOutcome: 'cancelled',
      result: null,
      attempt: 0,
      completedAt: expect.any(Date),
      cancelRequestedAt: expect.any(Date),
    })
    expect(await claimAll(harness.ctx)).toEqual([])
    await drainOutbox(harness.deps)
    expect((await allEvents(harness.ctx, made.id)).map((event) => event.type)).toEqual(['subtask.created', 'subtask.cancelled'])
    expect((await claimInbox(harness.ctx, 'cancel-1', { limit: 10, ack: 'auto' })).items).toMatchObject([
      { subtaskId: made.id, status: 'cancelled', result: null },
    ])
  })

  it('hands its slot to the next that waits', async () => {
    const agentId = newAgent()
    const [first, ...others] = await spawnMany(harness.ctx, 4, { agentId })
    await cancelSubtask(harness.ctx, first?.id as string)
    expect((await claimAll(harness.ctx)).map((run) => run.id)).toEqual(others.map((subtask) => subtask.id))
  })

  it('frees a place under the pending limit', async () => {
    const few = { ...harness.ctx, settings: { ...harness.ctx.settings, SUBTASK_MAX_PENDING: 1 } }
    const agentId = newAgent()
    const made = await spawn(few, { agentId })
    await expect(spawn(few, { agentId })).rejects.toMatchObject({ code: 'pending_limit_reached' })
    await cancelSubtask(few, made.id)
    await spawn(few, { agentId })
  })

  it('lets what was never handed over expire', async () => {
    const made = await spawn(harness.ctx, { agentId: newAgent() })
    await steerSubtask(harness.ctx, made.id, { content: 'too late', delivery: 'next_step', steerable: () => true })
    await cancelSubtask(harness.ctx, made.id)
    expect((await listUpdates(harness.ctx, made.id, { limit: 10 })).items).toMatchObject([{ status: 'expired' }])
  })
})

describe('cancelling a running subtask', () => {
  it('asks whoever runs it to stop, says so once, and is final when that one has', async () => {
    const made = await spawn(harness.ctx, { agentId: newAgent() })
    const run = await claimOne(harness.ctx)
    const first = await cancelSubtask(harness.ctx, made.id)
    const second = await cancelSubtask(harness.ctx, made.id)

    expect(first).toMatchObject({ cancelled: false, subtask: { status: 'running', cancelRequestedAt: expect.any(Date) } })
    expect(second.subtask.cancelRequestedAt).toEqual(first.subtask.cancelRequestedAt)
    await settleOne(harness.ctx, run, { kind: 'cancelled', partialResult: 'half of it' })
    expect(await getSubtask(harness.ctx, made.id)).toMatchObject({ status: 'cancelled', finalOutcome: 'cancelled', result: 'half of it' })
    await drainOutbox(harness.deps)
    expect((await allEvents(harness.ctx, made.id)).map((event) => event.type)).toEqual([
      'subtask.created',
      'subtask.started',
      'subtask.cancel_requested',
      'subtask.cancelled',
    ])
  })

  it('loses against a real result that was already on its way', async () => {
    const made = await spawn(harness.ctx, { agentId: newAgent() })
    const run = await claimOne(harness.ctx)
    await cancelSubtask(harness.ctx, made.id)
    await settleOne(harness.ctx, run)
    expect(await getSubtask(harness.ctx, made.id)).toMatchObject({ status: 'completed', finalOutcome: 'completed' })
  })

  it('ends it also when the lease is given back', async () => {
    const made = await spawn(harness.ctx, { agentId: newAgent() })
    const run = await claimOne(harness.ctx)
    await cancelSubtask(harness.ctx, made.id)
    await settleOne(harness.ctx, run, { kind: 'released' })
    expect((await getSubtask(harness.ctx, made.id)).status).toBe('cancelled')
  })
})

describe('cancelling', () => {
  it('changes nothing about a subtask that has ended', async () => {
    const made = await spawn(harness.ctx, { agentId: newAgent() })
    await settleOne(harness.ctx, await claimOne(harness.ctx))
    const before = await readSubtaskRow(harness.admin, made.id)
    await expect(cancelSubtask(harness.ctx, made.id)).rejects.toMatchObject({ code: 'not_cancellable', details: { status_now: 'completed' } })
    expect(await readSubtaskRow(harness.admin, made.id)).toEqual(before)
  })

  it('knows no subtask of another project', async () => {
    const made = await spawn(harness.ctx, { agentId: newAgent() })
    await expect(cancelSubtask(await harness.projectCtx(), made.id)).rejects.toMatchObject({ code: 'not_found' })
    expect((await readSubtaskRow(harness.admin, made.id)).status).toBe('pending')
  })
})

describe('a cancel that races a claim', () => {
  it('that comes first leaves the claim with nothing, and no job behind', async () => {
    const made = await spawn(harness.ctx, { agentId: newAgent() })
    const letGo = await holdRow(harness.admin, made.id)
    const cancelling = cancelSubtask(harness.ctx, made.id)
    await waitUntilBlocked(harness.admin, 1)
    const claiming = claimAll(harness.ctx)
    await waitUntilBlocked(harness.admin, 2)
    await letGo()

    expect((await cancelling).cancelled).toBe(true)
    expect(await claiming).toEqual([])
    expect(await harness.admin`select from pgboss.job where data ->> 'id' = ${made.id}`).toHaveLength(0)
  })

  it('that comes second asks the new holder to stop', async () => {
    const made = await spawn(harness.ctx, { agentId: newAgent() })
    const letGo = await holdRow(harness.admin, made.id)
    const claiming = claimAll(harness.ctx)
    await waitUntilBlocked(harness.admin, 1)
    const cancelling = cancelSubtask(harness.ctx, made.id)
    await waitUntilBlocked(harness.admin, 2)
    await letGo()

    expect((await claiming).map((run) => run.id)).toEqual([made.id])
    expect(await cancelling).toMatchObject({ cancelled: false, subtask: { status: 'running' } })
    await settleOne(harness.ctx, { id: made.id, attempt: 1, projectId: made.projectId }, { kind: 'cancelled', partialResult: null })
  })

  it('strands nothing, in a hundred rounds of each against each', async () => {
    const agentIds = Array.from({ length: 4 }, newAgent)
    let ended = 0
    for (let round = 0; round < 100; round += 1) {
      const made = await Promise.all(agentIds.map((agentId) => spawn(harness.ctx, { agentId, priority: round % 3 === 0 ? 'urgent' : 'low' })))
      const [runs] = await Promise.all([claimAll(harness.ctx), ...made.map((subtask) => cancelSubtask(harness.ctx, subtask.id).catch(() => null))])
      for (const run of runs) await settleOne(harness.ctx, run, { kind: 'cancelled', partialResult: null })
      ended += made.length
    }
    await drain(harness.ctx)
    const [row] = await harness.admin`select count(*)::int as count from subtasks where agent_id = any(${agentIds}) and status in ('completed', 'cancelled')`
    expect(row?.count).toBe(ended)
  })
})
