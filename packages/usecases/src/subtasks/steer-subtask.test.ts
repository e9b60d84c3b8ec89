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
import { buildPrompt, type ClaimedRun, checkpointRun, listSteps, listUpdates, lookAtRuns, steerSubtask } from '../index.ts'

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

async function pending() {
  agents += 1
  return await spawn(harness.ctx, { agentId: `agent-${agents}` })
}

async function running(): Promise<ClaimedRun> {
  await pending()
  return await claimOne(harness.ctx)
}

const steer = (id: string, content: string, isSteerable = true) =>
  steerSubtask(harness.ctx, id, { content, delivery: 'next_step', steerable: () => isSteerable })

function checkpoint(run: ClaimedRun, more: Partial<Parameters<typeof checkpointRun>[2]> = {}) {
  return checkpointRun(harness.ctx, run.projectId, {
    ...run,
    subtaskId: run.id,
    workerId: 'worker-1',
    steps: [],
    usage: {},
    acknowledgedIds: [],
    takesUpdates: true,
    afterStepSeq: null,
    renewsLease: false,
    repeatUnacknowledged: false,
    ...more,
  })
}

const contents = (answer: Awaited<ReturnType<typeof checkpoint>>) => answer?.updates.map((update) => update.content)
const receipts = async (id: string) => (await listUpdates(harness.ctx, id, { limit: 50 })).items.map((update) => update.status)

describe('a note to a pending subtask', () => {
  it('joins its brief, in order, and counts as delivered', async () => {
    const made = await pending()
    const first = await steer(made.id, 'first', false)
    await steer(made.id, 'second', false)
    expect(first).toMatchObject({ status: 'queued', seq: 1, updateType: 'note', sender: { kind: 'open', id: 'open' }, delivery: 'next_step' })

    const run = await claimOne(harness.ctx)
    const { text } = await buildPrompt(harness.ctx, run)
    expect(text.indexOf('first')).toBeGreaterThan(0)
    expect(text.indexOf('second')).toBeGreaterThan(text.indexOf('first'))
    expect(text).toContain(`Update id: ${first.updateId}`)
    expect(await receipts(made.id)).toEqual(['delivered', 'delivered'])
    expect(contents(await checkpoint(run))).toEqual([])
  })
})

describe('a note to a waiting subtask', () => {
  it('does not cost it the slot that becomes free at that moment', async () => {
    const [first, ...others] = await spawnMany(harness.ctx, 4, { agentId: 'quiet-lane' })
    const [run] = await claimAll(harness.ctx)
    const waiting = others.at(-1)?.id as string
    expect([run?.id, (await readSubtaskRow(harness.admin, waiting)).slot]).toEqual([first?.id, false])

    const connection = await harness.admin.reserve()
    await connection`begin`
    await connection`lock table updates in share row exclusive mode`
    const steering = steer(waiting, 'meanwhile')
    await waitUntilBlocked(harness.admin, 1)
    await settleOne(harness.ctx, run as ClaimedRun)
    await connection`commit`
    connection.release()
    await steering
    expect((await claimOne(harness.ctx)).id).toBe(waiting)
  })
})

describe('a note to a running subtask', () => {
  it('is handed over once, in order, at the next step, and acknowledged when it was taken in', async () => {
    const run = await running()
    const notes = [await steer(run.id, 'one'), await steer(run.id, 'two')]
    expect(contents(await checkpoint(run))).toEqual(['one', 'two'])
    expect(contents(await checkpoint(run))).toEqual([])
    notes.push(await steer(run.id, 'three'))
    expect(contents(await checkpoint(run, { acknowledgedIds: [notes[0]?.updateId as string] }))).toEqual(['three'])
    expect(await receipts(run.id)).toEqual(['acknowledged', 'delivered', 'delivered'])

    await drainOutbox(harness.deps)
    const about = (await allEvents(harness.ctx, run.id)).filter((event) => event.type.startsWith('update.') && event.data.update_id === notes[0]?.updateId)
    expect(about.map((event) => event.type)).toEqual(['update.queued', 'update.delivered', 'update.acknowledged'])
  })

  it('is repeated to whoever asks for that, until it is acknowledged', async () => {
    const run = await running()
    const note = await steer(run.id, 'one')
    for (let time = 0; time < 3; time += 1) expect(contents(await checkpoint(run, { repeatUnacknowledged: true }))).toEqual(['one'])
    await steer(run.id, 'two')
    expect(contents(await checkpoint(run, { repeatUnacknowledged: true }))).toEqual(['one', 'two'])
    expect(contents(await checkpoint(run, { repeatUnacknowledged: true, acknowledgedIds: [note.updateId] }))).toEqual(['two'])
  })

  it('stays queued for a run that takes none', async () => {
    const run = await running()
    await steer(run.id, 'one')
    expect(contents(await checkpoint(run, { takesUpdates: false }))).toEqual([])
    expect(await receipts(run.id)).toEqual(['queued'])
  })

  it('is refused where the runner cannot be steered', async () => {
    const run = await running()
    await expect(steer(run.id, 'one', false)).rejects.toMatchObject({ code: 'not_steerable' })
    expect(await receipts(run.id)).toEqual([])
  })

  it('can be seen to wait without a checkpoint', async () => {
    const run = await running()
    await steer(run.id, 'one')
    expect(await lookAtRuns(harness.deps, [{ subtaskId: run.id, attempt: 1 }])).toEqual([
      { subtaskId: run.id, attempt: 1, isRunning: true, hasContinuation: false, cancelRequested: false, updateSeq: 1, taskHasUpdates: false },
    ])
    expect(await lookAtRuns(harness.deps, [{ subtaskId: run.id, attempt: 2 }])).toEqual([])
  })

  it('that is sent while the brief is made is in the brief or in the queue, and never in both or neither', async () => {
    const made = await pending()
    await steer(made.id, 'before')
    const run = await claimOne(harness.ctx)
    const letGo = await holdRow(harness.admin, run.id)
    const sending = steer(run.id, 'meanwhile')
    await waitUntilBlocked(harness.admin, 1)
    const briefing = buildPrompt(harness.ctx, run)
    await waitUntilBlocked(harness.admin, 2)
    await letGo()
    await sending
    const { text } = await briefing
    expect(text).toContain('meanwhile')
    expect(contents(await checkpoint(run))).toEqual([])
  })
})

describe('the next attempt', () => {
  it('finds in its brief what the last one was told, acknowledged or not, and what it never got', async () => {
    const run = await running()
    const note = await steer(run.id, 'acknowledged')
    await checkpoint(run)
    await checkpoint(run, { acknowledgedIds: [note.updateId] })
    await steer(run.id, 'delivered')
    await checkpoint(run)
    await steer(run.id, 'queued')
    await settleOne(harness.ctx, run, { kind: 'lost', ranMs: 0, lostMs: 0 })

    const second = await claimOne(harness.ctx)
    const { text } = await buildPrompt(harness.ctx, second)
    const places = ['acknowledged', 'delivered', 'queued'].map((content) => text.indexOf(`\n${content}`))
    expect(places.every((place) => place > 0)).toBe(true)
    expect([...places].sort((a, b) => a - b)).toEqual(places)
    expect(contents(await checkpoint(second))).toEqual([])
  })
})

describe('the end of a subtask', () => {
  it('lets what was never handed over expire, before its own last event', async () => {
    const run = await running()
    const taken = await steer(run.id, 'taken')
    await checkpoint(run, {})
    await checkpoint(run, { acknowledgedIds: [taken.updateId] })
    await steer(run.id, 'late')
    await settleOne(harness.ctx, run)

    expect(await receipts(run.id)).toEqual(['acknowledged', 'expired'])
    await drainOutbox(harness.deps)
    expect((await allEvents(harness.ctx, run.id)).slice(-2).map((event) => event.type)).toEqual(['update.expired', 'subtask.completed'])
    await expect(steer(run.id, 'too late')).rejects.toMatchObject({ code: 'invalid_transition', details: { status_now: 'completed' } })
  })
})

describe('a checkpoint', () => {
  it('writes the transcript in order and announces progress', async () => {
    const run = await running()
    await checkpoint(run, { steps: [{ kind: 'message', content: 'Looking.' }] })
    await checkpoint(run, {
      steps: [
        { kind: 'tool_call', content: { name: 'Read\0' } },
        { kind: 'error', content: undefined },
        { kind: 'message', content: 'Found \ud800 it.' },
      ],
    })
    expect((await listSteps(harness.ctx, run.id, { limit: 10 })).items).toMatchObject([
      { seq: 1, attempt: 1, kind: 'message', content: 'Looking.' },
      { seq: 2, kind: 'tool_call', content: { name: 'Read\uFFFD' } },
      { seq: 3, kind: 'error', content: null },
      { seq: 4, kind: 'message', content: 'Found \uFFFD it.' },
    ])
    await drainOutbox(harness.deps)
    expect((await allEvents(harness.ctx, run.id)).at(-1)).toMatchObject({
      type: 'subtask.progress',
      data: { attempt: 1, steps: 4, message: 'Found \uFFFD it.' },
    })
  })

  it('of an attempt that has been taken over writes nothing and says so', async () => {
    const run = await running()
    await settleOne(harness.ctx, run, { kind: 'lost', ranMs: 0, lostMs: 0 })
    const second = await claimOne(harness.ctx)
    await steer(run.id, 'for the second')
    expect(await checkpoint(run, { steps: [{ kind: 'message', content: 'x' }], usage: { inputTokens: 5 } })).toBeNull()
    expect((await listSteps(harness.ctx, run.id, { limit: 10 })).items).toEqual([])
    expect(contents(await checkpoint(second))).toEqual(['for the second'])
  })
})
