import type { Database } from '@muster/db'

/**
 * Channels on which processes wake each other. Nothing depends on them but speed: whoever listens also looks by itself.
 * `run`: jobs are waiting. `outbox`: events are waiting for the relay. `cancel`: running subtasks have news (cancel or update),
 * payload their ids. `events`: the log has grown (rung by the relay inside its commit).
 */
export const CHANNELS = { run: 'muster_run', outbox: 'muster_outbox', cancel: 'muster_cancel', events: 'muster_events' } as const

export type Channel = keyof typeof CHANNELS

const QUIET_MS = 2
/** A notification carries at most 8000 bytes; ids take 37 each. */
const PAYLOADS_PER_NOTIFICATION = 200

export interface Bell {
  /**
   * Wakes listeners of a channel soon: at most one notification per process, channel and 2 ms, sent outside every transaction,
   * because a NOTIFY inside a commit takes a lock that all committing transactions share.
   */
  ring(channel: Exclude<Channel, 'events'>, payload?: string): void
  /** Calls back on every notification, with its payloads, and once whenever listening has begun or begun again. */
  listen(channel: Channel, onRing: (payloads: string[]) => void): Promise<() => Promise<void>>
}

export function createBell(database: Database, onError: (error: Error) => void): Bell {
  const waiting = new Map<Channel, Set<string>>()
  const quiet = new Set<Channel>()

  const flush = (channel: Channel) => {
    const payloads = waiting.get(channel)
    if (payloads === undefined) return
    waiting.delete(channel)
    quiet.add(channel)
    setTimeout(() => {
      quiet.delete(channel)
      flush(channel)
    }, QUIET_MS)
    const all = [...payloads]
    for (let start = 0; start < Math.max(all.length, 1); start += PAYLOADS_PER_NOTIFICATION) {
      const text = all.slice(start, start + PAYLOADS_PER_NOTIFICATION).join(',')
      // A lost bell costs up to half a second, never work, so there is nothing to do about it but to say so.
      database.sql`select pg_notify(${CHANNELS[channel]}, ${text})`.catch(onError)
    }
  }

  return {
    ring(channel, payload) {
      const payloads = waiting.get(channel) ?? new Set()
      if (payload !== undefined) payloads.add(payload)
      waiting.set(channel, payloads)
      if (!quiet.has(channel)) flush(channel)
    },
    async listen(channel, onRing) {
      const listening = await database.sql.listen(
        CHANNELS[channel],
        (text) => onRing(text === '' ? [] : text.split(',')),
        () => onRing([]),
      )
      return () => listening.unlisten()
    },
  }
}
