import type { RunUpdate } from './port.ts'

/**
 * Delivers the updates of a run one by one, until there are no more, `signal` is aborted, or the receiver stops. The next one is
 * asked for when the last one has been taken: what was not asked for stays undelivered.
 *
 * @param take answers false for the end
 */
export async function eachUpdate(updates: AsyncIterable<RunUpdate>, signal: AbortSignal, take: (update: RunUpdate) => unknown): Promise<void> {
  const iterator = updates[Symbol.asyncIterator]()
  const over = new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }))
  try {
    while (!signal.aborted) {
      const next = await Promise.race([iterator.next(), over])
      if (next === null || next.done || signal.aborted) return
      if ((await take(next.value)) === false) return
    }
  } finally {
    // Not awaited: a generator that waits for its next update answers only after it.
    void iterator.return?.()?.catch(() => {})
  }
}
