import { setTimeout as sleep } from 'node:timers/promises'
import { isDatabaseUnavailable } from './client.ts'
import { requireUsableDatabase } from './require-usable-database.ts'
import { UnmigratedDatabaseError } from './unusable-database.ts'

const RETRY_MS = 500

export interface WhenUsableOptions {
  /** Ends the wait. A check that has begun goes on for a few seconds at most, and so does the work. */
  signal: AbortSignal
  /** Receives each reason to wait once. */
  log: { warn(fields: object, message: string): void }
}

/**
 * Runs `work` once the database is usable. Tries again while the database is away or not migrated, also if it goes away during `work`, which must leave
 * nothing behind then.
 *
 * @returns what `work` returns, or undefined after `signal`
 * @throws UnusableDatabaseError and other errors that a wait does not end
 */
export async function whenUsable<T>(url: string, { signal, log }: WhenUsableOptions, work: () => Promise<T>): Promise<T | undefined> {
  let reason: string | undefined
  while (!signal.aborted) {
    try {
      await requireUsableDatabase(url, { needsQueues: true })
      return await work()
    } catch (error) {
      if (!isDatabaseUnavailable(error) && !(error instanceof UnmigratedDatabaseError)) throw error
      const { message } = error as Error
      if (message !== reason) log.warn({}, `waiting for the database: ${message}`)
      reason = message
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  return undefined
}
