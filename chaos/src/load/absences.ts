import { setTimeout as sleep } from 'node:timers/promises'

/** Longer than an API goes on listening for those who have left, by enough to cover who notices late that it is time to go. */
const LASTS_MS = 45_000
const FIRST_AT_MS = 60_000
const EVERY_MS = 180_000
const LAST_BEFORE_END_MS = 15_000

/**
 * Times at which all followers of the log and all waiting workers are away together. An API tails the log and listens for work only while
 * one of them is present. Otherwise it would never stop, and never restart from a cursor, during faults.
 */
export class Absences {
  #leaving = new AbortController()
  #back: Promise<void> = Promise.resolve()
  /** How often all of them were away and came back. */
  count = 0

  /** Aborted when it is time to go; another one for the time after. */
  get leaving(): AbortSignal {
    return this.#leaving.signal
  }

  /** Resolves when no absence is active. */
  get back(): Promise<void> {
    return this.#back
  }

  /** Sends all of them away at fixed times of a run of so many minutes; back at once when it is over. */
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
