import { setTimeout as delay } from 'node:timers/promises'
import type { Client, LoggedEvent } from './client.ts'

const LOOK_EVERY_MS = 20
/** How long an event may take after the call that caused it was answered. */
const EVENT_WITHIN_MS = 5_000

/** The event log while it is listened to. */
export type Hearing = {
  /** The first event of a type about something, waiting for it; null when it does not come. */
  first: (type: string, id: string) => Promise<LoggedEvent | null>
  /** How many there were so far. */
  count: (type: string, id: string) => number
  stop: () => Promise<void>
}

/** Listens to the event log from now on. `onEvent` hears every event as it comes. */
export async function listen(client: Client, signal: AbortSignal, onEvent: (event: LoggedEvent) => void = () => {}): Promise<Hearing> {
  const heard: LoggedEvent[] = []
  const stopping = new AbortController()
  const hear = (event: LoggedEvent): void => {
    heard.push(event)
    onEvent(event)
  }
  const stream = await client.follow(hear, AbortSignal.any([signal, stopping.signal]))
  const isAbout = (event: LoggedEvent, type: string, id: string): boolean => event.type === type && event.subject.id === id
  return {
    first: async (type, id) => {
      for (const until = performance.now() + EVENT_WITHIN_MS; ; ) {
        const found = heard.find((event) => isAbout(event, type, id))
        if (found !== undefined || performance.now() > until) return found ?? null
        await delay(LOOK_EVERY_MS, undefined, { signal })
      }
    },
    count: (type, id) => heard.filter((event) => isAbout(event, type, id)).length,
    stop: async () => {
      stopping.abort()
      await stream.ended
    },
  }
}
