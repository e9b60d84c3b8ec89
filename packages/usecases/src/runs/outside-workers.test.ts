import { createHash } from 'node:crypto'
import { transaction } from '@muster/db'
import { advanceClock, drain, type Harness, invariants, makeTask, readSubtaskRow, resetClock, spawn, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  acknowledgeRestores,
  authenticate,
  beatDataFolder,
  type ClaimedRun,
  type ClaimedSubtask,
  type Ctx,
  claimSubtask,
  completeLease,
  completeTask,
  dispatchTask,
  failLease,
  getSubtask,
  heartbeat,
  noteTask,
  releaseLease,
  reviseTask,
  steerSubtask,
} from '../index.ts'
import { buildPromptInTransaction } from './build-prompt.ts'

let harness: Harness
let agents = 0

beforeAll(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await resetClock(harness.admin)
  await drain(harness.ctx)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

const request = { runner: 'external', workerId: 'outsider', leaseSeconds: 60 }

async function claimed(input: Parameters<typeof spawn>[1] = {}): Promise<ClaimedSubtask> {
  agents += 1
  await spawn(harness.ctx, { agentId: `agent-${agents}`, runner: 'external', ...input })
  const claim = await claimSubtask(harness.ctx, request)
  if (claim === null) throw new Error('There was nothing to claim.')
  return claim
}

const beat = (claim: ClaimedSubtask, more: object = {}) =>
  heartbeat(harness.ctx, claim.subtask.id, { leaseToken: claim.lease.token, ackUpdateIds: [], steps: [], usage: {}, ...more })

describe('an outside claim', () => {
  it('hands over nothing while an operator has to decide about a restore', async () => {
    await spawn(harness.ctx, { agentId: 'restored', runner: 'external' })
    const place = harness.ctx.newId()
    const noted = await beatDataFolder(harness.deps, place, null)
    // The folder has counted further than the database.
    await beatDataFolder(harness.deps, place, { ...noted, beat: noted.beat + 5 })
    expect(await claimSubtask(harness.ctx, request)).toBeNull()
    await acknowledgeRestores(harness.ctx)
    expect(await claimSubtask(harness.ctx, request)).not.toBeNull()
  })

  it('hands over the subtask, a lease, a credential and the brief', async () => {
    const claim = await claimed({ parentSessionId: 'chat', requiredOutputs: [{ name: 'count', description: null, schema: null }] })
    expect(claim).toMatchObject({
      subtask: { status: 'running', attempt: 1, workerId: 'outsider' },
      sessionId: `subtask-${claim.subtask.id}`,
      lease: { attempt: 1, expiresAt: expect.any(Date) },
      brief: { task: 'Count the files.', criteria: [], revision: null, feedback: null, requiredOutputs: [{ name: 'count' }] },
    })
    expect(claim.brief.text).toContain('Parent session: chat')
    const row = await readSubtaskRow(harness.admin, claim.subtask.id)
    expect(row.lease_token_hash).toEqual(createHash('sha256').update(claim.lease.token).digest())
    expect((await authenticate(harness.deps, claim.credential)).lineage).toMatchObject({ subtaskId: claim.subtask.id })
  })

  it('gets nothing of another runner, of another project, or while subtasks are off', async () => {
    await spawn(harness.ctx, { agentId: 'elsewhere' })
    const other = await harness.projectCtx()
    await spawn(other, { runner: 'external' })
    expect(await claimSubtask(harness.ctx, request)).toBeNull()
    expect(await claimSubtask({ ...other, settings: { ...other.settings, SUBTASK_ENABLED: false } }, request)).toBeNull()
    expect((await claimSubtask(other, request))?.subtask.projectId).toBe(other.actor.projectId)
  })

  it('is for those who may', async () => {
    const reader = harness.as({ ...harness.ctx.actor, scopes: ['subtasks:write'] })
    await expect(claimSubtask(reader, request)).rejects.toMatchObject({ code: 'forbidden' })
  })
})

describe('an outside claim with an Idempotency-Key', () => {
  const keyed = (key: string): Ctx => ({
    ...harness.ctx,
    idempotency: {
      key,
      requestHash: Buffer.alloc(32),
      toAnswer: (result) => {
        const { subtask, lease } = result as ClaimedSubtask
        return { status: 200, headers: {}, body: { id: subtask.id, attempt: lease.attempt } }
      },
    },
  })

  it('brings what a brief would have told that came too late: its worker had claimed again meanwhile', async () => {
    const task = await makeTask(harness.ctx)
    await dispatchTask(harness.ctx, task.id, () => ({ runner: 'external', agentId: 'late-brief' }))
    const first = (await claimSubtask(keyed('late-brief'), request)) as ClaimedSubtask
    const second = (await claimSubtask(keyed('late-brief'), request)) as ClaimedSubtask
    expect(second.credential).not.toBe(first.credential)
    const note = await noteTask(harness.ctx, task.id, 'after the second claim')
    const row = await getSubtask(harness.ctx, first.subtask.id)
    const late = { ...row, updateSeq: 0, feedback: null, credential: first.credential, leaseToken: first.lease.token } as unknown as ClaimedRun
    await transaction(harness.deps.db, harness.ctx.actor.projectId, (tx) => buildPromptInTransaction(harness.deps, tx, late))
    expect((await beat(second)).updates.map((each) => each.updateId)).toEqual([note.updateId])
    await releaseLease(harness.ctx, second.subtask.id, { leaseToken: second.lease.token })
  })

  it('answers with the same subtask and new secrets, and the first ones are void', async () => {
    await spawn(harness.ctx, { agentId: 'keyed', runner: 'external' })
    const first = (await claimSubtask(keyed('claim-1'), request)) as ClaimedSubtask
    const second = (await claimSubtask(keyed('claim-1'), request)) as ClaimedSubtask
    expect(second).toMatchObject({ subtask: { id: first.subtask.id, attempt: 1 }, lease: { attempt: 1 } })
    expect(second.lease.token).not.toBe(first.lease.token)
    await expect(beat(first)).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(authenticate(harness.deps, first.credential)).rejects.toMatchObject({ code: 'unauthenticated' })
    await beat(second)

    const stored = JSON.stringify(await harness.admin`select body from idempotency_keys where key = 'claim-1'`)
    for (const secret of [first.lease.token, first.credential, second.lease.token]) expect(stored).not.toContain(secret)
    await completeLease(harness.ctx, second.subtask.id, { leaseToken: second.lease.token, result: 'Done.' })
    await expect(claimSubtask(keyed('claim-1'), request)).rejects.toMatchObject({ code: 'lease_lost' })
  })

  it('may ask again when there was nothing', async () => {
    expect(await claimSubtask(keyed('claim-2'), request)).toBeNull()
    await spawn(harness.ctx, { agentId: 'keyed-2', runner: 'external' })
    expect(await claimSubtask(keyed('claim-2'), request)).not.toBeNull()
  })

  it('tells the worker its brief again with the notes that the lost answer carried', async () => {
    const made = await spawn(harness.ctx, { agentId: 'keyed-3', runner: 'external' })
    await steerSubtask(harness.ctx, made.id, { content: 'mind the gap', delivery: 'next_step', steerable: () => true })
    await claimSubtask(keyed('claim-3'), request)
    expect((await claimSubtask(keyed('claim-3'), request))?.brief.text).toContain('mind the gap')
  })
})

describe('a heartbeat', () => {
  it('renews the lease, from now on, and never beyond what the attempt may take', async () => {
    const claim = await claimed({ timeoutSeconds: 120 })
    await advanceClock(harness.admin, '50 seconds')
    const { expiresAt } = await beat(claim)
    expect(expiresAt.getTime() - claim.lease.expiresAt.getTime()).toBeGreaterThan(49_000)
    await advanceClock(harness.admin, '50 seconds')
    const most = (await beat(claim)).expiresAt
    expect(most.getTime() - claim.lease.expiresAt.getTime()).toBeLessThanOrEqual(65_000)
  })

  it('lasts as long as the worker asked for when it claimed', async () => {
    await spawn(harness.ctx, { runner: 'external', timeoutSeconds: 600 })
    const claim = await claimSubtask(harness.ctx, { runner: 'external', workerId: 'slow', leaseSeconds: 300 })
    if (claim === null) throw new Error('nothing to claim')
    const before = Date.now()
    const { expiresAt } = await heartbeat(harness.ctx, claim.subtask.id, { leaseToken: claim.lease.token, ackUpdateIds: [], steps: [], usage: {} })
    expect(expiresAt.getTime() - before).toBeGreaterThan(290_000)
    await releaseLease(harness.ctx, claim.subtask.id, { leaseToken: claim.lease.token })
  })

  it('repeats notes until they are acknowledged, and says when to stop', async () => {
    const claim = await claimed()
    const note = await steerSubtask(harness.ctx, claim.subtask.id, { content: 'faster', delivery: 'next_step', steerable: () => true })
    for (let time = 0; time < 2; time += 1) expect((await beat(claim)).updates.map((update) => update.updateId)).toEqual([note.updateId])
    expect((await beat(claim, { ackUpdateIds: [note.updateId, harness.deps.newId()] })).updates).toEqual([])
    expect((await beat(claim)).cancelRequested).toBe(false)
    await harness.admin`update subtasks set cancel_requested_at = muster_now() where id = ${claim.subtask.id}`
    expect((await beat(claim)).cancelRequested).toBe(true)
  })

  it.each(['0 seconds', '-10 seconds'])(
    'does not repeat a change of the brief that an earlier attempt was told: the brief of this one has it (clock moved by %s)',
    async (moved) => {
      const task = await makeTask(harness.ctx)
      await dispatchTask(harness.ctx, task.id, () => ({ runner: 'external', agentId: 'again' }))
      const first = await claimSubtask(harness.ctx, request)
      if (first === null) throw new Error('There was nothing to claim.')
      const { update } = await reviseTask(harness.ctx, task.id, { instructions: 'Count them twice.' }, [1])
      expect((await beat(first)).updates.map((each) => each.updateId)).toEqual([update?.updateId])
      await releaseLease(harness.ctx, first.subtask.id, { leaseToken: first.lease.token })
      await advanceClock(harness.admin, moved)
      const second = await claimSubtask(harness.ctx, request)
      expect(second?.brief).toMatchObject({ revision: 2, text: expect.stringContaining('Count them twice.') })
      expect((await beat(second as ClaimedSubtask)).updates).toEqual([])
    },
  )

  it('does not repeat a note that its brief contained, nor anything of a task that has ended', async () => {
    const task = await makeTask(harness.ctx)
    await dispatchTask(harness.ctx, task.id, () => ({ runner: 'external', agentId: 'contained' }))
    await noteTask(harness.ctx, task.id, 'before the claim')
    const first = (await claimSubtask(harness.ctx, request)) as ClaimedSubtask
    expect(first.brief.text).toContain('before the claim')
    expect((await beat(first)).updates).toEqual([])
    await noteTask(harness.ctx, task.id, 'while it runs')
    expect((await beat(first)).updates.map((each) => each.content)).toEqual(['while it runs'])
    await completeTask(harness.ctx, task.id, { outputs: {}, summary: 'by hand' })
    expect((await beat(first)).updates).toEqual([])
    await releaseLease(harness.ctx, first.subtask.id, { leaseToken: first.lease.token })
    expect((await beat((await claimSubtask(harness.ctx, request)) as ClaimedSubtask)).updates).toEqual([])
  })

  it('repeats a change of the brief until it is acknowledged, also when the clock was put back', async () => {
    const task = await makeTask(harness.ctx)
    await dispatchTask(harness.ctx, task.id, () => ({ runner: 'external', agentId: 'repeated' }))
    const claim = (await claimSubtask(harness.ctx, request)) as ClaimedSubtask
    await advanceClock(harness.admin, '-10 seconds')
    const { update } = await reviseTask(harness.ctx, task.id, { instructions: 'Count them twice.' }, [1])
    for (let time = 0; time < 2; time += 1) expect((await beat(claim)).updates.map((each) => each.updateId)).toEqual([update?.updateId])
    expect((await beat(claim, { ackUpdateIds: [update?.updateId as string] })).updates).toEqual([])
    await releaseLease(harness.ctx, claim.subtask.id, { leaseToken: claim.lease.token })
  })

  it.each(['not-a-token', '', 'mst_lease_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'])('with %j instead of the token changes nothing', async (token) => {
    const claim = await claimed()
    const before = await readSubtaskRow(harness.admin, claim.subtask.id)
    const wrong = { leaseToken: token }
    await expect(beat(claim, { ...wrong, steps: [{ kind: 'message', content: 'x' }] })).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(completeLease(harness.ctx, claim.subtask.id, { ...wrong, result: 'x' })).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(failLease(harness.ctx, claim.subtask.id, { ...wrong, error: 'x' })).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(releaseLease(harness.ctx, claim.subtask.id, wrong)).rejects.toMatchObject({ code: 'lease_lost' })
    expect(await readSubtaskRow(harness.admin, claim.subtask.id)).toEqual(before)
  })

  it('finds no subtask of another project, even with the right token', async () => {
    const claim = await claimed()
    const other = await harness.projectCtx()
    const input = { leaseToken: claim.lease.token, ackUpdateIds: [], steps: [], usage: {} }
    await expect(heartbeat(other, claim.subtask.id, input)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the end of an outside lease', () => {
  it('completes, fails for good, fails to be tried again, is blocked, or gives back', async () => {
    const done = await claimed()
    const token = (claim: ClaimedSubtask) => ({ leaseToken: claim.lease.token })
    expect(
      await completeLease(harness.ctx, done.subtask.id, { ...token(done), result: 'Done.', outputs: { a: 1 }, summary: 'short', usage: { inputTokens: 3 } }),
    ).toMatchObject({
      status: 'completed',
      result: 'Done.',
      outputs: { a: 1 },
      summary: 'short',
      usage: { inputTokens: 3 },
    })
    const blocked = await claimed()
    expect(await completeLease(harness.ctx, blocked.subtask.id, { ...token(blocked), result: 'half', blockedReason: 'no key' })).toMatchObject({
      finalOutcome: 'incomplete_blocked',
      result: 'half',
      error: 'no key',
    })
    const failed = await claimed()
    expect(await failLease(harness.ctx, failed.subtask.id, { ...token(failed), error: 'broken' })).toMatchObject({ finalOutcome: 'errored', error: 'broken' })
    const passing = await claimed()
    expect(await failLease(harness.ctx, passing.subtask.id, { ...token(passing), error: 'busy', retryable: true })).toMatchObject({
      status: 'pending',
      failures: 1,
    })
    const released = (await claimSubtask(harness.ctx, request)) as ClaimedSubtask
    expect(released.subtask.id).toBe(passing.subtask.id)
    expect(await releaseLease(harness.ctx, released.subtask.id, token(released))).toMatchObject({ status: 'pending', failures: 1, attempt: 2 })
  })

  it('comes once: the token is void afterwards', async () => {
    const claim = await claimed()
    await completeLease(harness.ctx, claim.subtask.id, { leaseToken: claim.lease.token, result: 'Done.' })
    await expect(beat(claim)).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(completeLease(harness.ctx, claim.subtask.id, { leaseToken: claim.lease.token, result: 'Again.' })).rejects.toMatchObject({
      code: 'lease_lost',
    })
    expect((await getSubtask(harness.ctx, claim.subtask.id)).result).toBe('Done.')
  })

  it("cannot be had with the subtask's own credential", async () => {
    const claim = await claimed()
    const own = harness.as(await authenticate(harness.deps, claim.credential))
    await expect(completeLease(own, claim.subtask.id, { leaseToken: claim.lease.token, result: 'x' })).rejects.toMatchObject({ code: 'forbidden' })
    await expect(claimSubtask(harness.as({ ...own.actor, scopes: ['admin'] }), request)).rejects.toMatchObject({ code: 'forbidden' })
  })
})
