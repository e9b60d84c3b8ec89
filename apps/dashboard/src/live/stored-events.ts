import type { Event } from '@muster/client'

/** A stream that has no more stored events says nothing. In milliseconds. */
const QUIET_MS = 400

/** The events that a stream has stored. One that ends is read to its end; of another, what comes without a pause is read. */
export async function readStored(follow: (stop: AbortSignal) => AsyncIterable<Event>, signal: AbortSignal): Promise<Event[]> {
  const events: Event[] = []
  const stop = new AbortController()
  let quiet = setTimeout(() => stop.abort(), 4 * QUIET_MS)
  try {
    for await (const event of follow(AbortSignal.any([signal, stop.signal]))) {
      events.push(event)
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
