import type { Run, RunAnswer, Runner } from '@muster/runners'
import { claimOne, type Harness, readSubtaskRow, spawn, startHarness } from '@muster/testing'
import { answerQuestion, listQuestions, listUpdates, postponeTimeout, updateProject } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ActiveRun } from './active-run.ts'
import type { WorkerDeps } from './deps.ts'
import { PausableTimer } from './pausable-timer.ts'
import { Settler } from './settler.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const QUESTION = { kind: 'approval', prompt: 'May I push?', arguments: { command: 'git push' } } as const

/** Runs a subtask by this work, in a worker. */
async function running(work: (run: Run) => Promise<string>, more: Partial<Runner> = {}) {
  const { id } = await spawn(harness.ctx, { parentSessionId: 'parent' })
  const claimed = await claimOne(harness.ctx)
  const runner: Runner = {
    ...{ name: 'own', steerable: true, usesWorkspace: false, followsDefinitions: true, ...more },
    run: async (run) => ({ kind: 'completed', result: await work(run) }),
  }
  const deps = { ...harness.deps, workerId: 'worker' } as unknown as WorkerDeps
  const active = new ActiveRun(deps, claimed, runner, () => {})
  return { id, claimed, active, ended: active.complete(new Settler(deps, new AbortController().signal)) }
}
const openQuestion = async (id: string) =>
  await vi.waitFor(async () => {
    const { items } = await listQuestions(harness.ctx, { status: 'open', limit: 50 })
    const found = items.find(({ subtaskId }) => subtaskId === id)
    if (found === undefined) throw new Error('nothing is asked yet')
    return found
  })

describe('a run that asks and waits in its place', () => {
  it('gets the answer once, and not as an update too', async () => {
    const seen: string[] = []
    let answer: RunAnswer | null = null
    const { id, active, ended } = await running(async ({ ask, signal, updates, fetchUpdates }) => {
      void (async () => {
        for await (const { text } of updates) seen.push(text)
      })()
      answer = await ask(QUESTION, signal)
      await fetchUpdates()
      return 'Pushed to the branch.'
    })
    const question = await openQuestion(id)
    expect(question).toMatchObject({ kind: 'approval', sessionId: 'parent', arguments: QUESTION.arguments, onExpiry: 'continue' })
    await answerQuestion(harness.ctx, question.id, { decision: 'approve', always: true })
    active.applySignal({ subtaskId: id, attempt: 1, cancelRequested: false, updateSeq: 0, taskHasUpdates: false })
    await ended
    expect(answer).toMatchObject({
      questionId: question.id,
      status: 'answered',
      answer: { decision: 'approve', always: true, arguments_digest: question.argumentsDigest },
    })
    expect(seen).toEqual([])
    expect((await listUpdates(harness.ctx, id, { limit: 5 })).items).toMatchObject([{ status: 'delivered' }])
    expect(await readSubtaskRow(harness.admin, id)).toMatchObject({ status: 'completed' })
  })

  it('withdraws the question where it is stopped meanwhile', async () => {
    const { id, active, ended } = await running(async ({ ask, signal }) => {
      await ask(QUESTION, signal).catch(() => {})
      return 'Not pushed, because it was stopped.'
    })
    const question = await openQuestion(id)
    active.stop('cancelled')
    await ended
    expect((await listQuestions(harness.ctx, { limit: 50 })).items.find((each) => each.id === question.id)).toMatchObject({ status: 'withdrawn' })
  })

  it('is neither silent nor out of time while it waits', async () => {
    const { id, active, ended } = await running(async ({ ask, signal, step }) => {
      step({ kind: 'message', content: 'I ask.' })
      const { status } = await ask(QUESTION, signal)
      return `The question was ${status}.`
    })
    const question = await openQuestion(id)
    for (const seconds of [700, 1_500]) await active.lookForSilence(performance.now() + seconds * 1_000)
    await answerQuestion(harness.ctx, question.id, { decision: 'reject' })
    await ended
    expect(await readSubtaskRow(harness.admin, id)).toMatchObject({ status: 'completed', result: 'The question was answered.' })
  })

  it('gets back the time in which it waited', async () => {
    await spawn(harness.ctx)
    const { id: subtaskId, attempt, projectId } = await claimOne(harness.ctx)
    const read = async () => {
      const [row] = await harness.admin`select attempt_started_at as "startedAt", waited_ms::int as "waitedMs" from subtasks where id = ${subtaskId}`
      return row as { startedAt: Date; waitedMs: number }
    }
    const before = await read()
    await postponeTimeout(harness.deps, { projectId, subtaskId, attempt }, 90_000)
    await postponeTimeout(harness.deps, { projectId, subtaskId, attempt: attempt + 1 }, 90_000)
    const after = await read()
    expect([after.startedAt.getTime() - before.startedAt.getTime(), after.waitedMs]).toEqual([90_000, 90_000])
  })

  it('is given the rules of its project about uses that ask, where its runner asks first', async () => {
    await updateProject(harness.ctx, harness.ctx.actor.projectId, { settings: { ask: ['Bash(git push:*)'] } })
    const given: unknown[] = []
    for (const asksFirst of [true, false]) {
      const { ended } = await running(
        async ({ brief }) => {
          given.push(brief.ask)
          return 'Nothing had to be asked about.'
        },
        { asksFirst },
      )
      await ended
    }
    expect(given).toEqual([['Bash(git push:*)'], []])
  })
})

describe('a timer that can be paused', () => {
  it('calls once its time has passed without the pauses', () => {
    vi.useFakeTimers()
    const fired = vi.fn()
    const timer = new PausableTimer(1_000, fired)
    vi.advanceTimersByTime(600)
    timer.pause()
    timer.pause()
    vi.advanceTimersByTime(10_000)
    timer.resume()
    timer.resume()
    vi.advanceTimersByTime(399)
    expect(fired).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(fired).toHaveBeenCalledTimes(1)
    vi.useRealTimers()
  })
})
