import { randomUUID } from 'node:crypto'
import type { Database, Notice } from '@muster/db'

/**
 * Channels on which loops wake each other, within a process and across processes. Only speed depends on them, because every listener also polls.
 * `run`: jobs are waiting; the payload is what `runCall` says of each. `cancel`: running subtasks have a cancel or an update; the payload is their ids. `events`: the log has grown; the relay
 * sends it inside its commit. `ended`: subtasks and tasks have ended; the payload is their ids. `followed`: the log has followers. `schedule`: a schedule is due at another time than was known. `judge`: judgements are waiting. `check`: checks are waiting. `deliver`: deliveries are waiting; the
 * relay sends it inside its commit as well.
 */
export const CHANNELS = {
  run: 'muster_run',
  cancel: 'muster_cancel',
  events: 'muster_events',
  ended: 'muster_ended',
  followed: 'muster_followed',
  schedule: 'muster_schedule',
  judge: 'muster_judge',
  check: 'muster_check',
  deliver: 'muster_deliver',
} as const

/**
 * Channels that stay within the process. `outbox`: events are waiting for the relay, and every process has one. `logged`: this process has moved events
 * into the log.
 */
const LOCAL_CHANNELS = ['outbox', 'logged'] as const
export type Channel = keyof typeof CHANNELS | (typeof LOCAL_CHANNELS)[number]

function isLocal(channel: Channel): channel is (typeof LOCAL_CHANNELS)[number] {
  return (LOCAL_CHANNELS as readonly Channel[]).includes(channel)
}

const QUIET_MS = 2
/** Stands for a notification without a payload among others with one: its listeners have to look at everything. */
const EVERYTHING = ''
/** A notification carries fewer than 8000 bytes. Payloads are ids and names, of one byte a character. */
const TEXT_LENGTH_MAX = 7_900
/** How long a process sends no notification before the next one may travel with a commit, in milliseconds. */
const LONE_AFTER_MS = 5

/** A notification that belongs to a transaction. */
export interface CommitNotification extends Notice {
  /** To be called after the commit, if there is something to notify of. */
  committed(): void
}

export interface Notifier {
  /**
   * Wakes listeners of a channel soon: those of this process at once, others by at most one notification per process, channel and 2 ms.
   * It is sent outside every transaction, because a NOTIFY inside a commit takes a lock that all committing transactions share.
   */
  notify(channel: Exclude<Channel, 'events'>, payload?: string): void
  /**
   * The same for a transaction, whose COMMIT carries the notification if this process has sent none for a moment: it arrives sooner then, and without a
   * transaction of its own. Under load it follows the commit, together with others, and the statement of the transaction has nothing to notify of.
   */
  withCommit(channel: Exclude<keyof typeof CHANNELS, 'events'>, payloads: readonly string[]): CommitNotification
  /** Calls back on each notification with its payloads, and without payloads whenever listening has begun, also after a lost connection. */
  listen(channel: Channel, onNotification: (payloads: string[]) => void): Promise<() => Promise<void>>
}

/** The texts of as few notifications as carry all payloads: the sender, and what each has room for. At least one. */
function textsOf(sender: string, payloads: Iterable<string>): string[] {
  const texts: string[] = []
  let text = sender
  for (const payload of payloads) {
    if (text.length + payload.length >= TEXT_LENGTH_MAX) {
      texts.push(text)
      text = sender
    }
    text += `,${payload}`
  }
  return [...texts, text]
}

export function createNotifier(database: Database, onError: (error: Error) => void): Notifier {
  /** Marks the notifications of this process, which its own listeners have received already. */
  const self = randomUUID()
  const local = new Map<Channel, Set<(payloads: string[]) => void>>()
  const waiting = new Map<keyof typeof CHANNELS, Set<string>>()
  const quiet = new Set<Channel>()
  let sentAtMs = Number.NEGATIVE_INFINITY

  const wakeHere = (channel: Channel, payloads: string[]) => {
    for (const onNotification of local.get(channel) ?? []) onNotification(payloads)
  }

  const flush = (channel: keyof typeof CHANNELS) => {
    const payloads = waiting.get(channel)
    if (payloads === undefined) return
    waiting.delete(channel)
    quiet.add(channel)
    setTimeout(() => {
      quiet.delete(channel)
      flush(channel)
    }, QUIET_MS)
    sentAtMs = performance.now()
    for (const text of textsOf(self, payloads)) {
      // It stores nothing, so its commit need not wait for the disk. A lost notification delays work by up to a second and loses none.
      database.sql`select set_config('synchronous_commit', 'off', true), pg_notify(${CHANNELS[channel]}, ${text})`.catch(onError)
    }
  }

  const notify: Notifier['notify'] = (channel, payload) => {
    wakeHere(channel, payload === undefined ? [] : [payload])
    if (isLocal(channel)) return
    const payloads = waiting.get(channel) ?? new Set()
    payloads.add(payload ?? EVERYTHING)
    waiting.set(channel, payloads)
    if (!quiet.has(channel)) flush(channel)
  }

  return {
    notify,
    withCommit(channel, payloads) {
      const nowMs = performance.now()
      const [text = self, ...others] = textsOf(self, payloads)
      if (nowMs - sentAtMs < LONE_AFTER_MS || others.length > 0) {
        const each = payloads.length === 0 ? [undefined] : payloads
        return {
          channel: CHANNELS[channel],
          text: null,
          committed: () => {
            for (const payload of each) notify(channel, payload)
          },
        }
      }
      sentAtMs = nowMs
      return { channel: CHANNELS[channel], text, committed: () => wakeHere(channel, [...payloads]) }
    },
    async listen(channel, onNotification) {
      const listeners = local.get(channel) ?? new Set()
      local.set(channel, listeners.add(onNotification))
      if (isLocal(channel)) {
        onNotification([])
        return async () => void listeners.delete(onNotification)
      }
      const unlisten = await database.listen(
        CHANNELS[channel],
        (text) => {
          const [sender, ...payloads] = text.split(',')
          if (sender !== self) onNotification(payloads.includes(EVERYTHING) ? [] : payloads)
        },
        () => onNotification([]),
      )
      return async () => {
        listeners.delete(onNotification)
        await unlisten()
      }
    },
  }
}
