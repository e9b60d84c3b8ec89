import { setTimeout as delay } from 'node:timers/promises'
import type { Client, LoggedEvent } from './client.ts'

const LOOK_EVERY_MS = 20
/** The longest time between the answer to a call and its event. */
const EVENT_WITHIN_MS = 5_000

/** The events of the log since `listen`. */
export type Hearing = {
  /** Waits for the first event of a type about a subject; null if it does not come. */
  first: (type: string, id: string) => Promise<LoggedEvent | null>
  /** The number of such events so far. */
  count: (type: string, id: string) => number
  stop: () => Promise<void>
}

/** Listens to the event log from now on. `onEvent` receives each event. */
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
