import { type AttemptEnd, RESULT_BYTES_MAX } from '@muster/domain'
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
  readSubtaskRow,
  settleOne,
  spawn,
  spawnMany,
  startHarness,
  waitUntilBlocked,
} from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { cancelSubtask, checkpointRun, claimInbox, getSubtask, listSubtasks, listUpdates, settleRuns, steerSubtask } from '../index.ts'

let harness: Harness
let agents = 0

beforeAll(async () => {
  harness = await startHarness({ settings: { SUBTASK_MAX_PENDING: '500' } })
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

/** Spawns and claims one, alone in its lane. */
async function running(input: Parameters<typeof spawn>[1] = {}) {
  await spawn(harness.ctx, { agentId: newAgent(), ...input })
  return await claimOne(harness.ctx)
}

describe('settling an attempt', () => {
  it.each<[AttemptEnd, object]>([
    [completed('Done.', { count: 3 }), { status: 'completed', finalOutcome: 'completed', result: 'Done.', outputs: { count: 3 }, error: null, failures: 0 }],
    [
      { kind: 'cancelled', partialResult: 'half' },
      { status: 'cancelled', finalOutcome: 'cancelled', result: 'half', error: null },
    ],
    [
      { kind: 'blocked', reason: 'no key', partialResult: null },
      { status: 'failed', finalOutcome: 'incomplete_blocked', result: null, error: 'no key' },
    ],
    [
      { kind: 'errored', error: 'broken', retryable: false, partialResult: 'half' },
      { status: 'failed', finalOutcome: 'errored', result: 'half', error: 'broken' },
    ],
    [
      { kind: 'timed_out', partialResult: 'half' },
      { status: 'failed', finalOutcome: 'timed_out', result: 'half' },
    ],
    [
      { kind: 'budget_exceeded', error: 'too many steps', partialResult: 'half' },
      { status: 'failed', finalOutcome: 'budget_exceeded', result: 'half', error: 'too many steps' },
    ],
  ])('as %o', async (end, expected) => {
    const session = `settled-${newAgent()}`
    const run = await running({ parentSessionId: session })
    expect(await settleOne(harness.ctx, run, end)).toBe('settled')

    const ended = await getSubtask(harness.ctx, run.id)
    expect(ended).toMatchObject({ ...expected, completedAt: expect.any(Date) })
    await drainOutbox(harness.deps)
    expect((await allEvents(harness.ctx, run.id)).at(-1)).toMatchObject({
      type: `subtask.${ended.status}`,
      actor: { kind: 'worker', id: 'worker-1' },
      data: { subtask_id: run.id, final_outcome: ended.finalOutcome, result: ended.result, error: ended.error, parent_session: session },
    })
    expect((await claimInbox(harness.ctx, session, { limit: 10, ack: 'auto' })).items).toMatchObject([{ subtaskId: run.id, finalOutcome: ended.finalOutcome }])
    const [attempt] = await harness.admin`select outcome, error, ended_at from attempts where subtask_id = ${run.id}`
    expect(attempt).toMatchObject({ outcome: ended.finalOutcome, error: ended.error, ended_at: expect.any(Date) })
  })

  it('tells nobody when there is no parent session', async () => {
    const run = await running()
    await settleOne(harness.ctx, run)
    expect(await harness.admin`select from inbox where subtask_id = ${run.id}`).toHaveLength(0)
  })

  it('lets a refused result be tried once more, with the reason as feedback, and then fails it', async () => {
    const first = await running({ requiredOutputs: [{ name: 'count', description: null, schema: { type: 'integer' } }] })
    await settleOne(harness.ctx, first, completed('Done.', { count: 'three' }))
    const second = await claimOne(harness.ctx)
    expect(second).toMatchObject({ id: first.id, attempt: 2, feedback: 'Required outputs were not accepted: count must be integer.' })
    await settleOne(harness.ctx, second, completed('Done.', {}))
    expect(await getSubtask(harness.ctx, first.id)).toMatchObject({
      finalOutcome: 'validation_failed',
      error: 'Required outputs were not accepted: count is missing.',
      failures: 2,
      result: 'Done.',
    })
    expect(await harness.admin`select attempt, outcome from attempts where subtask_id = ${first.id} order by attempt`).toEqual([
      { attempt: 1, outcome: 'completed' },
      { attempt: 2, outcome: 'validation_failed' },
    ])
  })

  it('returns a passing error to the queue, with its slot, until it has failed too often', async () => {
    const end: AttemptEnd = { kind: 'errored', error: 'try again', retryable: true, partialResult: null }
    const first = await running({ maxAttempts: 2 })
    await settleOne(harness.ctx, first, end)
    expect(await readSubtaskRow(harness.admin, first.id)).toMatchObject({
      status: 'pending',
      slot: true,
      failures: 1,
      worker_id: null,
      credential_hash: null,
      lease_expires_at: null,
    })
    await settleOne(harness.ctx, await claimOne(harness.ctx), end)
    expect(await getSubtask(harness.ctx, first.id)).toMatchObject({ finalOutcome: 'errored', failures: 2, attempt: 2, error: 'try again' })
  })

  it('takes a lease given back for no failure, however often', async () => {
    const first = await running({ maxAttempts: 1 })
    await settleOne(harness.ctx, first, { kind: 'released' })
    for (let attempt = 2; attempt < 6; attempt += 1) await settleOne(harness.ctx, await claimOne(harness.ctx), { kind: 'released' })
    const last = await claimOne(harness.ctx)
    expect(last).toMatchObject({ id: first.id, attempt: 6 })
    await settleOne(harness.ctx, last)
    expect(await getSubtask(harness.ctx, first.id)).toMatchObject({ status: 'completed', failures: 0 })
  })
})

describe('the result', () => {
  it('is kept to 1 MiB, at a whole character, and says that it was cut', async () => {
    const run = await running()
    await settleOne(harness.ctx, run, completed(`${'x'.repeat(RESULT_BYTES_MAX - 1)}€ and more`))
    const ended = await getSubtask(harness.ctx, run.id)
    expect(ended).toMatchObject({ resultTruncated: true, finalOutcome: 'completed' })
    expect(ended.result).toBe('x'.repeat(RESULT_BYTES_MAX - 1))
  })

  it('says so also where it is only part of one', async () => {
    const run = await running()
    await settleOne(harness.ctx, run, { kind: 'timed_out', partialResult: 'x'.repeat(RESULT_BYTES_MAX + 1) })
    const ended = await getSubtask(harness.ctx, run.id)
    expect(ended).toMatchObject({ resultTruncated: true, finalOutcome: 'timed_out' })
    expect(ended.result).toHaveLength(RESULT_BYTES_MAX)
  })

  it('is not read by lists when it is long', async () => {
    const run = await running()
    await settleOne(harness.ctx, run, completed('ä'.repeat(40_000)))
    expect((await getSubtask(harness.ctx, run.id)).result).toHaveLength(40_000)
    expect((await listSubtasks(harness.ctx, { agentId: run.agentId, limit: 10 })).items).toMatchObject([{ id: run.id, result: null }])
  })

  it('is made storable, whatever the program wrote', async () => {
    const run = await running()
    await settleOne(harness.ctx, run, completed('a\0b\ud800c', { 'k\0': ['\udfff'] }))
    expect(await getSubtask(harness.ctx, run.id)).toMatchObject({ result: 'a\uFFFDb\uFFFDc', outputs: { 'k\uFFFD': ['\uFFFD'] } })
  })
})

describe('usage', () => {
  it('adds up over checkpoints, ends and attempts, and each attempt is billed for its own', async () => {
    const run = await running()
    const checkpoint = {
      ...run,
      subtaskId: run.id,
      workerId: 'worker-1',
      steps: [],
      acknowledgedIds: [],
      takesUpdates: false,
      afterStepSeq: null,
      renewsLease: false,
      repeatUnacknowledged: false,
    }
    await checkpointRun(harness.ctx, run.projectId, { ...checkpoint, usage: { inputTokens: 10, costUsdMicros: 5 } })
    await settleRuns(harness.ctx, run.projectId, [{ subtaskId: run.id, attempt: 1, end: { kind: 'released' }, usage: { inputTokens: 1, toolCalls: 2 } }])
    const again = await claimOne(harness.ctx)
    await settleRuns(harness.ctx, run.projectId, [
      { subtaskId: run.id, attempt: again.attempt, end: completed(), usage: { outputTokens: 7, costUsdMicros: 3_000_000_000 } },
    ])

    expect((await getSubtask(harness.ctx, run.id)).usage).toEqual({ inputTokens: 11, outputTokens: 7, costUsdMicros: 3_000_000_005, steps: 0, toolCalls: 2 })
    expect(await harness.admin`select attempt, input_tokens, cost_micros from attempts where subtask_id = ${run.id} order by attempt`).toEqual([
      { attempt: 1, input_tokens: 11, cost_micros: 5 },
      { attempt: 2, input_tokens: 0, cost_micros: 3_000_000_000 },
    ])
  })
})

describe('a settlement', () => {
  it('of an attempt that somebody else has taken since writes nothing', async () => {
    const first = await running()
    await settleOne(harness.ctx, first, { kind: 'lost', ranMs: 0, lostMs: 0 })
    const second = await claimOne(harness.ctx)
    const before = await readSubtaskRow(harness.admin, first.id)

    expect(await settleOne(harness.ctx, first, completed('too late'))).toBe('fenced')
    expect(await readSubtaskRow(harness.admin, first.id)).toEqual(before)
    await settleOne(harness.ctx, second, completed('in time'))
    expect(await settleOne(harness.ctx, first, completed('too late'))).toBe('fenced')
    expect((await getSubtask(harness.ctx, first.id)).result).toBe('in time')
  })

  it('that was committed although its answer was lost counts, and is not made twice', async () => {
    const run = await running({ parentSessionId: 'lost-answer' })
    await settleOne(harness.ctx, run, completed('Done.'))
    expect(await settleOne(harness.ctx, run, completed('Done, again.'))).toBe('settled')
    expect((await getSubtask(harness.ctx, run.id)).result).toBe('Done.')
  })

  it('of an unknown subtask, or one of another project, is fenced', async () => {
    const run = await running()
    const other = await harness.projectCtx()
    expect(await settleOne(harness.ctx, { ...run, projectId: other.actor.projectId })).toBe('fenced')
    expect(await settleOne(harness.ctx, { ...run, id: harness.deps.newId() })).toBe('fenced')
    expect(await settleOne(harness.ctx, run)).toBe('settled')
  })

  it('made twice at once counts once', async () => {
    const run = await running({ parentSessionId: 'twice' })
    const letGo = await holdRow(harness.admin, run.id)
    const both = [settleOne(harness.ctx, run, completed('one')), settleOne(harness.ctx, run, { kind: 'timed_out', partialResult: null })]
    await waitUntilBlocked(harness.admin, 2)
    await letGo()
    expect(await Promise.all(both)).toEqual(['settled', 'settled'])
    expect(await harness.admin`select from inbox where subtask_id = ${run.id}`).toHaveLength(1)
  })

  it('that is told twice in one batch is written once, and an older attempt beside it changes nothing', async () => {
    const first = await running({ parentSessionId: 'told-twice' })
    await settleOne(harness.ctx, first, { kind: 'released' })
    const run = await claimOne(harness.ctx)
    const end = { subtaskId: run.id, attempt: run.attempt, end: completed('Done.') }
    const settlements = await settleRuns(harness.ctx, run.projectId, [end, { ...end, attempt: 1, end: { kind: 'lost', ranMs: 0, lostMs: 0 } }, end])
    expect([...settlements]).toEqual([[run.id, 'settled']])
    expect((await getSubtask(harness.ctx, run.id)).result).toBe('Done.')
  })

  it('that fails leaves every row of its batch as it was', async () => {
    const runs = [await running(), await running()]
    const failing = { ...harness.ctx, runJobs: { ...harness.ctx.runJobs, remove: () => Promise.reject(new Error('the queue is gone')) } }
    const ends = runs.map((run) => ({ subtaskId: run.id, attempt: run.attempt, end: completed() }))
    await expect(settleRuns(failing, harness.ctx.actor.projectId, ends)).rejects.toThrow('the queue is gone')
    expect(await invariants(harness.admin)).toEqual([])
    expect([...(await settleRuns(harness.ctx, harness.ctx.actor.projectId, ends)).values()]).toEqual(['settled', 'settled'])
  })
})

describe('a batch over many lanes', () => {
  it('ends, returns and fences each of its runs, and gives the freed slots to what waits', async () => {
    const agentIds = Array.from({ length: 10 }, newAgent)
    for (const agentId of agentIds) await spawnMany(harness.ctx, 6, { agentId })
    const runs = await claimAll(harness.ctx)
    expect(runs).toHaveLength(30)
    const kinds: AttemptEnd[] = [
      completed(),
      { kind: 'released' },
      { kind: 'lost', ranMs: 0, lostMs: 0 },
      { kind: 'blocked', reason: 'why', partialResult: null },
    ]
    const ends = runs.map((run, place) => ({ subtaskId: run.id, attempt: place % 5 === 4 ? 9 : run.attempt, end: kinds[place % 4] as AttemptEnd }))
    const settlements = await settleRuns(harness.ctx, harness.ctx.actor.projectId, ends)

    expect([...settlements.values()].filter((settlement) => settlement === 'fenced')).toHaveLength(6)
    expect(await invariants(harness.admin)).toEqual([])
    const slots = await harness.admin`select distinct count(*)::int as slots from subtasks where agent_id = any(${agentIds}) and slot group by agent_id`
    expect(slots).toEqual([{ slots: 3 }])
    const left = ends.filter((_, place) => place % 5 === 4).map((end) => ({ ...end, attempt: 1, end: completed() }))
    await settleRuns(harness.ctx, harness.ctx.actor.projectId, left)
  })

  it('starts the best that waits first', async () => {
    const agentId = newAgent()
    await spawnMany(harness.ctx, 3, { agentId })
    const [first, ...others] = await claimAll(harness.ctx)
    const low = await spawn(harness.ctx, { agentId, priority: 'low' })
    const urgent = await spawn(harness.ctx, { agentId, priority: 'urgent' })
    await settleOne(harness.ctx, first as (typeof others)[0])
    expect((await claimOne(harness.ctx)).id).toBe(urgent.id)
    for (const run of others) await settleOne(harness.ctx, run)
    expect((await claimOne(harness.ctx)).id).toBe(low.id)
    for (const made of [urgent, low]) {
      await cancelSubtask(harness.ctx, made.id)
      await settleOne(harness.ctx, { ...made, attempt: 1 }, { kind: 'cancelled', partialResult: null })
    }
  })
})

describe('updates that were fetched for an attempt, and that its work never received', () => {
  it.each([
    ['expire with the end of the subtask', 'completed', ['delivered', 'expired']],
    ['are part of the prompt of the next attempt, where there is one', 'errored', ['delivered', 'delivered']],
  ])('%s', async (_what, kind, statuses) => {
    await spawn(harness.ctx, { agentId: newAgent() })
    const run = await claimOne(harness.ctx)
    for (const content of ['taken in', 'not received']) await steerSubtask(harness.ctx, run.id, { content, delivery: 'next_step', steerable: () => true })
    const answer = await checkpointRun(harness.deps, run.projectId, {
      ...{ subtaskId: run.id, attempt: run.attempt, agentId: run.agentId, task: run.task, taskId: null, parentSessionId: null, workerId: 'w' },
      ...{ steps: [], usage: {}, acknowledgedIds: [], takesUpdates: true, afterStepSeq: null, renewsLease: false, repeatUnacknowledged: false },
    })
    const undeliveredUpdateIds = [answer?.updates[1]?.updateId as string]
    const end: AttemptEnd = kind === 'completed' ? completed('Done.') : { kind: 'errored', error: 'x', retryable: true, partialResult: null }
    await settleRuns(harness.deps, run.projectId, [{ subtaskId: run.id, attempt: run.attempt, end, undeliveredUpdateIds }])
    expect((await listUpdates(harness.ctx, run.id, { limit: 5 })).items.map(({ status }) => status)).toEqual(statuses)
  })
})
