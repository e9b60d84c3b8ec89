import type { Event } from '@muster/client'
import { muster } from '../muster.ts'

/** The tab that holds this lock follows the event log, and passes what it reads to the others: one connection for each browser. */
const LOCK = 'muster-events'
const CHANNEL = 'muster-events'
/** After an error that is no outage, such as a sign-out. In milliseconds. */
const AGAIN_MS = 5_000

/** What a tab receives: an event, or that events may be missing and everything has to be read again. */
export type Live = { event: Event } | { isGap: true }

/**
 * Calls back with each event of the project, from now on. If the following tab is closed, another takes over, and reports the gap.
 *
 * @returns stops it
 */
export function followLive(onLive: (live: Live) => void): () => void {
  const stopping = new AbortController()
  const channel = new BroadcastChannel(CHANNEL)
  channel.onmessage = ({ data }: MessageEvent<Live>) => onLive(data)
  const publish = (live: Live) => {
    channel.postMessage(live)
    onLive(live)
  }
  void lead(stopping.signal, publish)
  return () => {
    stopping.abort()
    channel.close()
  }
}

async function lead(signal: AbortSignal, publish: (live: Live) => void): Promise<void> {
  // Pages that are served without TLS from another machine have no locks: there, each tab follows by itself.
  if (navigator.locks === undefined) return await follow(signal, publish)
  try {
    await navigator.locks.request(LOCK, { signal }, () => follow(signal, publish))
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

async function follow(signal: AbortSignal, publish: (live: Live) => void): Promise<void> {
  while (!signal.aborted) {
    publish({ isGap: true })
    try {
      for await (const event of muster.events.follow({ signal })) publish({ event })
    } catch {
      if (signal.aborted) return
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }
}
