import { MusterError } from '../errors.ts'
import { backoffMs, pause } from './pause.ts'

/** The longest that the server lets a call wait. */
export const WAIT_SECONDS = 60

/**
 * Repeats a long poll until its answer is final. A server that is away or busy is waited for: only the signal ends that.
 * @throws MusterError that a repetition would not help, or the reason of the signal
 */
export async function pollUntil<Value>(poll: () => Promise<Value>, isFinal: (value: Value) => boolean, signal?: AbortSignal): Promise<Value> {
  for (let failures = 0; ; ) {
    try {
      const value = await poll()
      failures = 0
      if (isFinal(value)) return value
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof MusterError) || !error.retryable) throw error
      await pause(Math.max(backoffMs(failures), (error.retryAfterSeconds ?? 0) * 1000), signal)
      failures += 1
    }
  }
}
