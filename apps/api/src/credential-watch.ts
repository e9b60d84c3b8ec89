import { isDatabaseUnavailable, type Log } from '@muster/usecases'

/** How long a stream stays open after its credential has ended, at most, apart from the time of the query. */
const CHECK_EVERY_MS = 500

/** Ends streams soon after their credential has ended. */
export interface CredentialWatch {
  /**
   * Calls `onEnded` once when the token no longer authenticates.
   *
   * @param token one that has been accepted
   * @returns ends the watch
   */
  watch(token: string, onEnded: () => void): () => void
}

/**
 * Sends one query every half second for all streams of the process, and none while no stream is open. The next check repeats one that failed: without
 * a database, streams receive no events either.
 *
 * @param findEnded which of these tokens no longer authenticate
 */
export function createCredentialWatch(findEnded: (tokens: string[]) => Promise<string[]>, log: Log): CredentialWatch {
  const watched = new Map<string, Set<() => void>>()
  let isScheduled = false

  const check = async () => {
    try {
      if (watched.size === 0) return
      for (const token of await findEnded([...watched.keys()])) {
        for (const end of watched.get(token) ?? []) end()
        watched.delete(token)
      }
    } catch (error) {
      if (!isDatabaseUnavailable(error)) log.error({ err: error }, 'could not check the credentials of open streams')
    } finally {
      isScheduled = false
      if (watched.size > 0) schedule()
    }
  }

  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    setTimeout(check, CHECK_EVERY_MS)
  }

  return {
    watch(token, onEnded) {
      // A new function for each call, because a caller may pass the same callback twice.
      const end = () => onEnded()
      const ends = watched.get(token) ?? new Set()
      watched.set(token, ends.add(end))
      schedule()
      return () => {
        ends.delete(end)
        if (ends.size === 0 && watched.get(token) === ends) watched.delete(token)
      }
    },
  }
}
