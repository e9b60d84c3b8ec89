import type { Event } from '@muster/client'

/** A stream that has no more stored events says nothing. In milliseconds. */
const QUIET_MS = 400

/**
 * The events that a stream has stored: what comes without a pause, because a stream that goes on does not say how much that is.
 *
 * @param isEnding whether the stream ends by itself; then this waits for its end
 */
export async function readStored(follow: (stop: AbortSignal) => AsyncIterable<Event>, signal: AbortSignal, isEnding = false): Promise<Event[]> {
  const events: Event[] = []
  const stop = new AbortController()
  let quiet = isEnding ? undefined : setTimeout(() => stop.abort(), 4 * QUIET_MS)
  try {
    for await (const event of follow(AbortSignal.any([signal, stop.signal]))) {
      events.push(event)
      if (isEnding) continue
      clearTimeout(quiet)
      quiet = setTimeout(() => stop.abort(), QUIET_MS)
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
  } finally {
    clearTimeout(quiet)
  }
  return events
}
