import { createHash } from 'node:crypto'
import { advanceClock, drain, type Harness, invariants, resetClock, spawn, startHarness, waitUntilBlocked } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Ctx, cancelSubtask, deleteExpired, type Idempotency, Replay } from '../index.ts'

let harness: Harness
let keys = 0

beforeAll(async () => {
  harness = await startHarness({ settings: { SUBTASK_MAX_PENDING: '1000' } })
})

afterEach(async () => {
  await drain(harness.ctx)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

function newKey(): string {
  keys += 1
  return `key-${keys}`
}

/** The same actor, sending an `Idempotency-Key` with a request of that content. */
function sending(key: string, request = 'POST /subtasks {}', ctx: Ctx = harness.ctx): Ctx {
  const idempotency: Idempotency = {
    key,
    requestHash: createHash('sha256').update(request).digest(),
    toAnswer: (result) => ({ status: 202, headers: { location: '/somewhere' }, body: { id: (result as { id: string }).id, list: [1, 'ä'] } }),
  }
  return { ...ctx, idempotency }
}

async function replayOf(work: Promise<unknown>): Promise<Replay> {
  const outcome = await work.catch((error: unknown) => error)
  if (outcome instanceof Replay) return outcome
  throw outcome
}

describe('the same request with the same key', () => {
  it('is answered as before, and done once', async () => {
    const key = newKey()
    const made = await spawn(sending(key), { agentId: key })
    const replay = await replayOf(spawn(sending(key), { agentId: key }))
    expect(replay.answer).toEqual({ status: 202, headers: { location: '/somewhere' }, body: { id: made.id, list: [1, 'ä'] } })
    expect(await harness.admin`select from subtasks where agent_id = ${key}`).toHaveLength(1)
  })

  it('is done once when it comes 20 times at once: one is answered, the others are told to wait', async () => {
    const key = newKey()
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () =>
        spawn(sending(key), { agentId: key }).then(
          () => 'done',
          (error) => (error instanceof Replay ? 'replay' : error.code),
        ),
      ),
    )
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1)
    expect(outcomes.filter((outcome) => !['done', 'replay', 'request_in_progress'].includes(outcome))).toEqual([])
    expect(await harness.admin`select from subtasks where agent_id = ${key}`).toHaveLength(1)
  })

  it('is told to wait while it is being answered', async () => {
    const key = newKey()
    const holder = await harness.admin.reserve()
    await holder`select pg_advisory_lock(hashtextextended(${`${harness.ctx.actor.projectId}/${key}`}, 0))`
    const first = spawn(sending(key), { agentId: key })
    await waitUntilBlocked(harness.admin, 1)
    await expect(spawn(sending(key), { agentId: newKey() })).rejects.toMatchObject({ code: 'request_in_progress', details: { retryAfterSeconds: 1 } })
    await holder`select pg_advisory_unlock_all()`
    holder.release()
    await first
    await replayOf(spawn(sending(key), { agentId: key }))
  })

  it('is done anew after a day', async () => {
    const key = newKey()
    await spawn(sending(key), { agentId: key })
    await advanceClock(harness.admin, '24 hours')
    await deleteExpired(harness.deps)
    await replayOf(spawn(sending(key), { agentId: key }))
    await advanceClock(harness.admin, '2 hours')
    await deleteExpired(harness.deps)
    await spawn(sending(key), { agentId: key })
    await resetClock(harness.admin)
    expect(await harness.admin`select from subtasks where agent_id = ${key}`).toHaveLength(2)
  })
})

describe('a key', () => {
  it('is refused for another request, and nothing is done', async () => {
    const key = newKey()
    await spawn(sending(key), { agentId: key })
    await expect(spawn(sending(key, 'POST /subtasks {"task": "other"}'), { agentId: `${key}-other` })).rejects.toMatchObject({ code: 'idempotency_mismatch' })
    expect(await harness.admin`select from subtasks where agent_id = ${`${key}-other`}`).toHaveLength(0)
  })

  it('is of one actor in one project', async () => {
    const key = newKey()
    const actors = [harness.ctx, harness.as({ ...harness.ctx.actor, kind: 'key', id: harness.deps.newId() }), await harness.projectCtx()]
    for (const ctx of actors) await spawn(sending(key, undefined, ctx), { agentId: key })
    expect(await harness.admin`select from subtasks where agent_id = ${key}`).toHaveLength(3)
    expect(await harness.admin`select from idempotency_keys where key = ${key}`).toHaveLength(3)
  })

  it('is not used up by a refusal or a failure', async () => {
    const key = newKey()
    const unknown = harness.deps.newId()
    await expect(cancelSubtask(sending(key), unknown)).rejects.toMatchObject({ code: 'not_found' })
    // Its row fails with its job: there is no such queue.
    await expect(spawn(sending(key), { agentId: key, runner: 'unheard-of' })).rejects.toThrow('null value in column "name"')
    expect(await harness.admin`select from idempotency_keys where key = ${key}`).toHaveLength(0)
    expect(await harness.admin`select from subtasks where agent_id = ${key}`).toHaveLength(0)
    await spawn(sending(key), { agentId: key })
  })
})
