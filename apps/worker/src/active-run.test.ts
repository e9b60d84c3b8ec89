import type { Runner, RunOutcome, StopReason } from '@muster/runners'
import { claimOne, type Harness, makeTask, startHarness } from '@muster/testing'
import { dispatchTask, steerSubtask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ActiveRun, toAttemptEnd } from './active-run.ts'
import type { WorkerDeps } from './deps.ts'
import { Settler } from './settler.ts'

const completed: RunOutcome = { kind: 'completed', result: 'done' }
const stopped: RunOutcome = { kind: 'stopped', partialResult: 'half' }
const errored: RunOutcome = { kind: 'errored', error: 'killed', retryable: true }

describe('the end of an attempt', () => {
  it.each<[string, RunOutcome, StopReason | null, object]>([
    ['a result', completed, null, { kind: 'completed', result: 'done', truncated: false, outputs: {}, summary: null }],
    ['a result that came before the cancel was noticed', completed, 'cancelled', { kind: 'completed', result: 'done' }],
    ['a result that came while the worker was ending', completed, 'released', { kind: 'completed', result: 'done' }],
    ['a result that came too late', completed, 'timed_out', { kind: 'timed_out', partialResult: 'done' }],
    ['stopped because of the timeout', stopped, 'timed_out', { kind: 'timed_out', partialResult: 'half' }],
    ['stopped because of a cancel', stopped, 'cancelled', { kind: 'cancelled', partialResult: 'half' }],
    ['stopped because the worker ends', stopped, 'released', { kind: 'released' }],
    ['stopped without a reason', stopped, null, { kind: 'errored', retryable: true, partialResult: 'half' }],
    ['dead of the signal that asked it to end', errored, 'released', { kind: 'released' }],
    ['dead by itself', errored, null, { kind: 'errored', error: 'killed', retryable: true, partialResult: null }],
    ['blocked', { kind: 'blocked', reason: 'no key' }, null, { kind: 'blocked', reason: 'no key', partialResult: null }],
    ['over budget', { kind: 'budget_exceeded', error: 'too dear', partialResult: 'some' }, null, { kind: 'budget_exceeded', partialResult: 'some' }],
  ])('%s', (_name, outcome, reason, end) => {
    expect(toAttemptEnd(outcome, reason)).toMatchObject(end)
  })
})

describe('a note that comes between the claim and the brief', () => {
  let harness: Harness
  beforeAll(async () => {
    harness = await startHarness()
  })
  afterAll(() => harness.close())

  it('is told once, in the brief', async () => {
    const { ctx } = harness
    const task = await makeTask(ctx)
    const { id } = await dispatchTask(ctx, task.id, () => ({ runner: 'own' }))
    const claimed = await claimOne(ctx)
    await steerSubtask(ctx, id, { content: 'Mind the gap.', delivery: 'next_step', steerable: () => true })
    const delivered: string[] = []
    const runner: Pick<Runner, 'steerable' | 'usesWorkspace' | 'followsDefinitions' | 'run'> = {
      steerable: true,
      usesWorkspace: false,
      followsDefinitions: true,
      async run({ brief, updates }) {
        delivered.push(brief.text)
        const [first] = await Promise.race([
          (async () => {
            for await (const update of updates) return [update.text]
            return []
          })(),
          new Promise<string[]>((resolve) => setTimeout(() => resolve([]), 500)),
        ])
        if (first !== undefined) delivered.push(first)
        return { kind: 'completed', result: 'Done.' }
      },
    }
    const deps = { ...harness.deps, workerId: 'worker' } as unknown as WorkerDeps
    const run = new ActiveRun(deps, claimed, runner as Runner, () => {})
    run.applySignal({ subtaskId: id, attempt: claimed.attempt, cancelRequested: false, updateSeq: 1, taskHasUpdates: false })
    // Long enough for a checkpoint that fetched it.
    await new Promise((resolve) => setTimeout(resolve, 300))
    await run.complete(new Settler(deps, new AbortController().signal))
    expect(delivered.filter((text) => text.includes('Mind the gap.'))).toEqual([delivered[0]])
  })
})
