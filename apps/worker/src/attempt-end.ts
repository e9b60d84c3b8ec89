import type { AttemptEnd } from '@muster/domain'
import type { RunOutcome, StopReason } from '@muster/runners'

/**
 * What the runner's answer means, given the reason why it was asked to stop, if it was.
 *
 * @param blockedFor why the run was stopped as blocked
 */
export function toAttemptEnd(outcome: RunOutcome, stopReason: StopReason | null, blockedFor = ''): AttemptEnd {
  const partialResult = 'partialResult' in outcome ? (outcome.partialResult ?? null) : outcome.kind === 'completed' ? outcome.result : null
  if (stopReason === 'timed_out') return { kind: 'timed_out', partialResult }
  if (stopReason === 'blocked' && outcome.kind !== 'completed') return { kind: 'blocked', reason: blockedFor, partialResult }
  switch (outcome.kind) {
    case 'completed':
      return {
        kind: 'completed',
        result: outcome.result,
        truncated: outcome.truncated ?? false,
        outputs: outcome.outputs ?? {},
        summary: outcome.summary ?? null,
      }
    case 'stopped':
      if (stopReason === 'cancelled') return { kind: 'cancelled', partialResult }
      if (stopReason === 'released' || stopReason === 'lease_lost') return { kind: 'released' }
      return { kind: 'errored', error: 'The runner stopped without being asked to.', retryable: true, partialResult }
    case 'blocked':
      return { kind: 'blocked', reason: outcome.reason, partialResult }
    case 'waiting':
      // A run that was asked to stop is over, or begins again: what it waited for it would ask again.
      if (stopReason === 'cancelled') return { kind: 'cancelled', partialResult }
      return { kind: 'waiting', questionId: outcome.questionId, continuation: outcome.continuation ?? null }
    case 'budget_exceeded':
      return { kind: 'budget_exceeded', error: outcome.error, partialResult, ...(outcome.continuation !== undefined && { continuation: outcome.continuation }) }
    case 'errored':
      // A program that dies of the signal we sent it has not failed.
      if (stopReason === 'released') return { kind: 'released' }
      return { kind: 'errored', error: outcome.error, retryable: outcome.retryable, partialResult }
  }
}

/** The end of an attempt whose runner threw. The text of a database or of a file system names tables, values and files: it is for the log only. */
export function endOfThrown(error: unknown): AttemptEnd {
  const hasCode = typeof (error as { code?: unknown } | null)?.code === 'string'
  const text = error instanceof Error && !hasCode ? error.message : 'The run failed inside the worker. Its log has the cause.'
  return { kind: 'errored', error: text, retryable: true, partialResult: null }
}
