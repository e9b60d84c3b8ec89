import { setTimeout as sleep } from 'node:timers/promises'
import { isDatabaseUnavailable } from '@muster/db'

const RETRY_STORING_MS = 500

/** Stores what was hard to come by: tries again while the database is away. A commit whose answer was lost has to be found done. */
export async function storeUntil<T>(signal: AbortSignal, store: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await store()
    } catch (error) {
      if (!isDatabaseUnavailable(error) || signal.aborted) throw error
      // After the time or the signal, it looks once more.
      await sleep(RETRY_STORING_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}
