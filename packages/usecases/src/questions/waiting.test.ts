import { subtaskSessionId } from '@muster/domain'
import {
  allEvents,
  claimOne,
  completed,
  drain,
  drainOutbox,
  type Harness,
  invariants,
  makeTask,
  readSubtaskRow,
  settleOne,
  spawn,
  startHarness,
} from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  answerQuestion,
  askAboutSubtask,
  buildPrompt,
  type ClaimedRun,
  cancelSubtask,
  cancelTask,
  dispatchTask,
  expireQuestions,
  getQuestion,
  getSubtask,
  getTask,
  steerSubtask,
  withdrawQuestion,
} from '../index.ts'

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

const ASKED = {
  kind: 'question',
  prompt: 'Which port?',
  options: null,
  schema: null,
  arguments: null,
  default: null,
  expiresInSeconds: 3_600,
  onExpiry: 'continue',
} as const satisfies Parameters<typeof askAboutSubtask>[2]

function nextAgent(): string {
  agents += 1
  return `waiter-${agents}`
}

async function running(agentId = nextAgent()) {
  await spawn(harness.ctx, { agentId, parentSessionId: 'chat' })
  return await claimOne(harness.ctx)
}

const ask = (id: string, more: Partial<Parameters<typeof askAboutSubtask>[2]> = {}) => askAboutSubtask(harness.ctx, id, { ...ASKED, ...more })
const waitFor = (run: ClaimedRun, questionId: string, continuation: string | null = null) =>
  settleOne(harness.ctx, run, { kind: 'waiting', questionId, continuation })

/** A run that waits for its question. */
async function waiting(more: Partial<Parameters<typeof askAboutSubtask>[2]> = {}) {
  const run = await running()
  const question = await ask(run.id, more)
  await waitFor(run, question.id)
  return { run, question }
}

const makeDue = (id: string) => harness.admin`update questions set expires_at = muster_now() - interval '1 second' where id = ${id}`

async function eventsOf(id: string) {
  await drainOutbox(harness.deps)
  return (await allEvents(harness.ctx)).filter(({ subject }) => subject.id === id).map(({ type }) => type)
}

describe('a run that waits', () => {
  it('holds neither permit, job, worker nor credential, and counts as no failure', async () => {
    const { run, question } = await waiting()
    const subtask = await getSubtask(harness.ctx, run.id)
    expect(subtask).toMatchObject({ status: 'waiting', waitingFor: question.id, workerId: null, failures: 0, attempt: 1 })
    const row = await readSubtaskRow(harness.admin, run.id)
    expect(row).toMatchObject({ slot: false, job_id: null, lease_expires_at: null, credential_hash: null })
    expect(await harness.admin`select outcome, ended_at is not null as ended from attempts where subtask_id = ${run.id}`).toEqual([
      { outcome: 'waiting', ended: true },
    ])
    expect(await eventsOf(run.id)).toEqual(['subtask.created', 'subtask.started', 'question.asked', 'subtask.waiting'])
  })

  it('leaves its permit to the next subtask of its agent', async () => {
    const agentId = nextAgent()
    const first = await running(agentId)
    await Promise.all([spawn(harness.ctx, { agentId }), spawn(harness.ctx, { agentId })])
    const others = [await claimOne(harness.ctx), await claimOne(harness.ctx)]
    const queued = await spawn(harness.ctx, { agentId })
    expect(await readSubtaskRow(harness.admin, queued.id)).toMatchObject({ slot: false })
    await waitFor(first, (await ask(first.id)).id)
    expect((await claimOne(harness.ctx)).id).toBe(queued.id)
    for (const run of others) await settleOne(harness.ctx, run)
  })

  it('is settled once, although the report is repeated', async () => {
    const run = await running()
    const { id } = await ask(run.id)
    expect(await waitFor(run, id)).toBe('settled')
    expect(await waitFor(run, id)).toBe('settled')
    expect(await settleOne(harness.ctx, { ...run, attempt: run.attempt - 1 })).toBe('fenced')
    expect((await eventsOf(run.id)).filter((type) => type === 'subtask.waiting')).toHaveLength(1)
  })

  it('fails when it waits for a question that it has not asked', async () => {
    const { question } = await waiting()
    const other = await running()
    await waitFor(other, question.id)
    expect(await getSubtask(harness.ctx, other.id)).toMatchObject({ finalOutcome: 'errored', error: expect.stringContaining('has not asked') })
  })

  it('goes on at once when the answer came before its attempt ended', async () => {
    const run = await running()
    const { id } = await ask(run.id)
    await answerQuestion(harness.ctx, id, { answer: 8080 })
    await waitFor(run, id, 'so far')
    const again = await claimOne(harness.ctx)
    expect(again).toMatchObject({ id: run.id, attempt: 2 })
    expect((await buildPrompt(harness.deps, again)).continuation).toEqual({ state: 'so far', updates: expect.stringContaining('Answer: 8080') })
    expect(await eventsOf(run.id)).toEqual(expect.arrayContaining(['subtask.resumed']))
    expect(await getSubtask(harness.ctx, run.id)).toMatchObject({ failures: 0, waitedMs: 0 })
    await settleOne(harness.ctx, again)
  })
})

describe('the answer', () => {
  it('starts the next attempt, which has it in its prompt, and the wait is no part of the duration', async () => {
    const { run, question } = await waiting()
    await harness.admin`update subtasks set waiting_since = waiting_since - interval '1 hour', started_at = started_at - interval '1 hour' where id = ${run.id}`
    await answerQuestion(harness.ctx, question.id, { answer: 8080 })
    const again = await claimOne(harness.ctx)
    expect(again).toMatchObject({ id: run.id, attempt: 2 })
    const prompt = await buildPrompt(harness.deps, again)
    expect(prompt.text).toContain('Answer: 8080')
    expect(prompt.text).toContain('Which port?')
    expect(prompt.continuation).toBeNull()
    await settleOne(harness.ctx, again)
    const ended = await getSubtask(harness.ctx, run.id)
    expect(ended).toMatchObject({ status: 'completed', failures: 0, waitingFor: null })
    expect(ended.waitedMs).toBeGreaterThanOrEqual(3_600_000)
    expect((ended.completedAt as Date).getTime() - (ended.startedAt as Date).getTime() - ended.waitedMs).toBeLessThan(60_000)
  })

  it('comes before new work of the agent, also before work that has a permit and was not claimed', async () => {
    const agentId = nextAgent()
    const run = await running(agentId)
    const question = await ask(run.id)
    await waitFor(run, question.id)
    // The queue orders by seconds.
    await harness.admin`update subtasks set created_at = created_at - interval '2 seconds' where id = ${run.id}`
    await spawn(harness.ctx, { agentId, priority: 'urgent' })
    for (let each = 0; each < 3; each += 1) await spawn(harness.ctx, { agentId })
    await answerQuestion(harness.ctx, question.id, { answer: 1 })
    expect((await claimOne(harness.ctx)).id).toBe(run.id)
    await settleOne(harness.ctx, { ...run, attempt: 2 })
  })

  it('to one of two questions leaves the run waiting for the other', async () => {
    const run = await running()
    const [first, second] = [await ask(run.id), await ask(run.id)]
    await waitFor(run, second.id)
    await answerQuestion(harness.ctx, first.id, { answer: 1 })
    expect(await getSubtask(harness.ctx, run.id)).toMatchObject({ status: 'waiting', waitingFor: second.id })
    await answerQuestion(harness.ctx, second.id, { answer: 2 })
    const { text } = await buildPrompt(harness.deps, await claimOne(harness.ctx))
    expect(text).toContain('Answer: 1')
    expect(text).toContain('Answer: 2')
  })

  it('starts one attempt, although it meets a withdrawal and an end of the wait', async () => {
    for (let repeat = 0; repeat < 5; repeat += 1) {
      const run = await running()
      const { id } = await ask(run.id)
      await Promise.allSettled([waitFor(run, id, 'state'), answerQuestion(harness.ctx, id, { answer: repeat }), withdrawQuestion(harness.ctx, id)])
      const again = await claimOne(harness.ctx)
      expect(again).toMatchObject({ id: run.id, attempt: 2 })
      expect((await buildPrompt(harness.deps, again)).continuation?.state).toBe('state')
      await settleOne(harness.ctx, again)
    }
  })
})

describe('a continuation', () => {
  it('reaches every later attempt with what came since, and is gone with the end', async () => {
    const spawned = await spawn(harness.ctx, { agentId: nextAgent() })
    const note = (content: string) => steerSubtask(harness.ctx, spawned.id, { content, delivery: 'next_step', steerable: () => true })
    await note('Before the question.')
    const run = await claimOne(harness.ctx)
    await buildPrompt(harness.deps, run)
    const { id } = await ask(run.id)
    await waitFor(run, id, '{"messages":[]}')
    await note('While it waits.')
    await answerQuestion(harness.ctx, id, { answer: 1 })
    const { continuation_body_id: firstBody } = await readSubtaskRow(harness.admin, run.id)
    const second = await claimOne(harness.ctx)
    const prompt = await buildPrompt(harness.deps, second)
    await settleOne(harness.ctx, second, { kind: 'lost', ranMs: 0, lostMs: 0 })
    const third = await claimOne(harness.ctx)
    for (const { continuation } of [prompt, await buildPrompt(harness.deps, third)]) {
      expect(continuation?.state).toBe('{"messages":[]}')
      expect(continuation?.updates).toContain('While it waits.')
      expect(continuation?.updates).toContain('Answer: 1')
      expect(continuation?.updates).not.toContain('Before the question.')
    }
    const again = await ask(run.id)
    await waitFor(third, again.id, 'later')
    await answerQuestion(harness.ctx, again.id, { answer: 2 })
    const fourth = await claimOne(harness.ctx)
    const { continuation } = await buildPrompt(harness.deps, fourth)
    expect(continuation).toEqual({ state: 'later', updates: expect.not.stringContaining('Answer: 1') })
    const { continuation_body_id: lastBody } = await readSubtaskRow(harness.admin, run.id)
    await settleOne(harness.ctx, fourth, completed())
    expect(new Set([firstBody, lastBody]).size).toBe(2)
    expect(await harness.admin`select id from bodies where id = any(${[firstBody, lastBody] as string[]}::uuid[])`).toEqual([])
  })
})

describe('the end of a wait without an answer', () => {
  it('continues after the expiry, and after a withdrawal, and says so', async () => {
    const { run, question } = await waiting()
    await makeDue(question.id)
    expect(await expireQuestions(harness.deps)).toBe(1)
    expect(await expireQuestions(harness.deps)).toBe(0)
    const again = await claimOne(harness.ctx)
    expect((await buildPrompt(harness.deps, again)).text).toContain('expired without an answer')
    const next = await ask(run.id)
    await waitFor(again, next.id)
    await withdrawQuestion(harness.ctx, next.id)
    expect((await buildPrompt(harness.deps, await claimOne(harness.ctx))).text).toContain('was withdrawn')
  })

  it('cancels the subtask that was to fail with the expiry', async () => {
    const { run, question } = await waiting({ onExpiry: 'fail' })
    await makeDue(question.id)
    await expireQuestions(harness.deps)
    expect(await getSubtask(harness.ctx, run.id)).toMatchObject({ status: 'cancelled', waitingFor: null })
  })

  it('cancels at once, withdraws the question and removes the continuation', async () => {
    const run = await running()
    const { id } = await ask(run.id)
    await waitFor(run, id, 'state')
    expect(await cancelSubtask(harness.ctx, run.id)).toMatchObject({ cancelled: true, subtask: { status: 'cancelled', waitingFor: null } })
    expect(await getQuestion(harness.ctx, id)).toMatchObject({ status: 'withdrawn' })
  })

  it('withdraws what a run has asked when the run ends', async () => {
    const run = await running()
    const { id } = await ask(run.id)
    await settleOne(harness.ctx, run)
    expect(await getQuestion(harness.ctx, id)).toMatchObject({ status: 'withdrawn' })
    expect(await eventsOf(run.id)).toEqual(expect.arrayContaining(['question.withdrawn', 'subtask.completed']))
  })
})

describe('a dispatched task', () => {
  it('stays with the run that waits, which finishes it', async () => {
    const task = await makeTask(harness.ctx)
    const subtask = await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own' }))
    const run = await claimOne(harness.ctx)
    const { id } = await ask(run.id)
    await waitFor(run, id)
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'in_progress', subagentSessionId: subtaskSessionId(subtask.id) })
    await answerQuestion(harness.ctx, id, { answer: 1 })
    await settleOne(harness.ctx, await claimOne(harness.ctx))
    expect((await getTask(harness.ctx, task.id)).status).not.toBe('in_progress')
  })

  it('that is cancelled ends the run that waits, and its question', async () => {
    const task = await makeTask(harness.ctx)
    const subtask = await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own' }))
    const run = await claimOne(harness.ctx)
    const { id } = await ask(run.id)
    await waitFor(run, id)
    await cancelTask(harness.ctx, task.id, null)
    expect(await getSubtask(harness.ctx, subtask.id)).toMatchObject({ status: 'cancelled' })
    expect(await getQuestion(harness.ctx, id)).toMatchObject({ status: 'withdrawn' })
  })
})
