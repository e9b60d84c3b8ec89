import { randomUUID } from 'node:crypto'
import type { Database } from '@muster/db'

/**
 * Channels on which loops wake each other, within a process and across processes. Only speed depends on them: listeners poll as well.
 * `run`: jobs are waiting. `cancel`: running subtasks have a cancellation or an update, payload their ids. `events`: the log has grown
 * (sent by the relay inside its commit). `schedule`: the next due time has changed. `judge`: outputs wait for the verdicts of a judge.
 */
export const CHANNELS = { run: 'muster_run', cancel: 'muster_cancel', events: 'muster_events', schedule: 'muster_schedule', judge: 'muster_judge' } as const

/** `outbox`: events are waiting for the relay. Every process has a relay, so a process wakes only its own. */
export type Channel = keyof typeof CHANNELS | 'outbox'

const QUIET_MS = 2
/** A notification carries at most 8000 bytes; ids take 37 each. */
const PAYLOADS_PER_NOTIFICATION = 200

export interface Notifier {
  /**
   * Wakes listeners of a channel soon: those of this process at once, others by at most one notification per process, channel and 2 ms.
   * It is sent outside every transaction, because a NOTIFY inside a commit takes a lock that all committing transactions share.
   */
  notify(channel: Exclude<Channel, 'events'>, payload?: string): void
  /** Calls back on every notification, with its payloads, and once after listening has started or restarted. */
  listen(channel: Channel, onNotification: (payloads: string[]) => void): Promise<() => Promise<void>>
}

export function createNotifier(database: Database, onError: (error: Error) => void): Notifier {
  /** Marks this process's own notifications, which its listeners have received already. */
  const self = randomUUID()
  const local = new Map<Channel, Set<(payloads: string[]) => void>>()
  const waiting = new Map<keyof typeof CHANNELS, Set<string>>()
  const quiet = new Set<Channel>()

  const flush = (channel: keyof typeof CHANNELS) => {
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
      const text = [self, ...all.slice(start, start + PAYLOADS_PER_NOTIFICATION)].join(',')
      // It stores nothing, so its commit waits for no disk. A lost notification costs up to half a second, never work, so it is only
      // reported.
      database.sql`select set_config('synchronous_commit', 'off', true), pg_notify(${CHANNELS[channel]}, ${text})`.catch(onError)
    }
  }

  return {
    notify(channel, payload) {
      for (const onNotification of local.get(channel) ?? []) onNotification(payload === undefined ? [] : [payload])
      if (channel === 'outbox') return
      const payloads = waiting.get(channel) ?? new Set()
      if (payload !== undefined) payloads.add(payload)
      waiting.set(channel, payloads)
      if (!quiet.has(channel)) flush(channel)
    },
    async listen(channel, onNotification) {
      const listeners = local.get(channel) ?? new Set()
      local.set(channel, listeners.add(onNotification))
      if (channel === 'outbox') {
        onNotification([])
        return async () => void listeners.delete(onNotification)
      }
      const listening = await database.sql.listen(
        CHANNELS[channel],
        (text) => {
          const [sender, ...payloads] = text.split(',')
          if (sender !== self) onNotification(payloads)
        },
        () => onNotification([]),
      )
      return async () => {
        listeners.delete(onNotification)
        await listening.unlisten()
      }
    },
  }
}
