import { setTimeout as sleep } from 'node:timers/promises'

/** Longer than an API goes on listening for those who have left, by enough to cover who notices late that it is time to go. */
const LASTS_MS = 45_000
const FIRST_AT_MS = 60_000
const EVERY_MS = 180_000
const LAST_BEFORE_END_MS = 15_000

/**
 * Times at which everybody who follows the log or waits for work is away together. An API tails the log and listens for work only while
 * somebody does, so that otherwise it would never stop, and never begin again with somebody's cursor, while things break.
 */
export class Absences {
  #leaving = new AbortController()
  #back: Promise<void> = Promise.resolve()
  /** How often everybody was away and came back. */
  count = 0

  /** Aborted when it is time to go; another one for the time after. */
  get leaving(): AbortSignal {
    return this.#leaving.signal
  }

  /** Resolves when nobody has to be away. */
  get back(): Promise<void> {
    return this.#back
  }

  /** Sends everybody away at fixed times of a run of so many minutes; back at once when it is over. */
  async run(minutes: number, over: AbortSignal): Promise<void> {
    const startedAt = performance.now()
    const lastMs = minutes * 60_000 - LASTS_MS - LAST_BEFORE_END_MS
    for (let atMs = FIRST_AT_MS; atMs <= lastMs; atMs += EVERY_MS) {
      await sleep(startedAt + atMs - performance.now(), undefined, { signal: over }).catch(() => {})
      if (over.aborted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#back = promise
      this.#leaving.abort()
      await sleep(LASTS_MS, undefined, { signal: over }).catch(() => {})
      this.#leaving = new AbortController()
      this.count += 1
      resolve()
    }
  }
}
