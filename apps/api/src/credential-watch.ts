import { isDatabaseUnavailable, type Log } from '@muster/usecases'

/** Longest time for which a credential that has ended keeps its streams open, apart from the time that the database takes to answer. */
const CHECK_EVERY_MS = 500

/** Ends what a credential keeps open, soon after the credential itself has ended. */
export interface CredentialWatch {
  /**
   * Calls `onEnded` once when the token no longer authenticates.
   *
   * @param token that has been accepted
   * @returns ends the watch
   */
  watch(token: string, onEnded: () => void): () => void
}

/**
 * One query every half second for all streams of the process, and none while no stream is open. A check that fails is repeated by the next one: without
 * a database no stream receives an event either.
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
      // A function of its own for each call: the same callback may be given twice.
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
