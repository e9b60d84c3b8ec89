import type { RunOutcome, StopReason } from '@muster/runners'
import { describe, expect, it } from 'vitest'
import { toAttemptEnd } from './attempt-end.ts'

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
    ['stopped because it went in circles', stopped, 'blocked', { kind: 'blocked', reason: 'in circles', partialResult: 'half' }],
    ['dead of the signal because it went in circles', errored, 'blocked', { kind: 'blocked', reason: 'in circles' }],
    ['a result that came before the block was noticed', completed, 'blocked', { kind: 'completed', result: 'done' }],
    ['blocked', { kind: 'blocked', reason: 'no key' }, null, { kind: 'blocked', reason: 'no key', partialResult: null }],
    ['over budget', { kind: 'budget_exceeded', error: 'too dear', partialResult: 'some' }, null, { kind: 'budget_exceeded', partialResult: 'some' }],
  ])('%s', (_name, outcome, reason, end) => {
    expect(toAttemptEnd(outcome, reason, 'in circles')).toMatchObject(end)
  })
})
