import type postgres from 'postgres'

/**
 * Listens to a channel of PostgreSQL until the returned function is called. `onListening` is called whenever listening has begun, also after a lost
 * connection: notifications that were sent before are not received.
 *
 * @throws the error of the driver if the channel cannot be listened to now. Nothing is left of the call then, and it may be repeated.
 */
export type Listen = (channel: string, onPayload: (payload: string) => void, onListening: () => void) => Promise<() => Promise<void>>

interface Subscription {
  onPayload(payload: string): void
  onListening(): void
}

/** What the driver calls on a connection, the first of them without a type of its own. */
interface ConnectionEvents {
  onnotify(channel: string, payload: string): void
  onclose(): void
}

/**
 * All subscriptions of a pool, over one connection that is opened for the first of them, and again whenever it is lost.
 *
 * @param open opens a pool of one connection
 */
export function createListener(open: (events: ConnectionEvents) => postgres.Sql): { listen: Listen; close(): Promise<void> } {
  const subscriptions = new Map<string, Set<Subscription>>()
  /** The channels that a lost connection had. */
  const heard = new Set<string>()
  let sql: postgres.Sql | undefined

  const send = (command: 'listen' | 'unlisten', channel: string) => {
    sql ??= open({
      onnotify(from, payload) {
        for (const { onPayload } of subscriptions.get(from) ?? []) onPayload(payload)
      },
      onclose() {
        for (const lost of heard) void listenAgain(lost)
      },
    })
    return sql.unsafe(`${command} "${channel}"`)
  }
  const listenAgain = async (channel: string) => {
    try {
      await send('listen', channel)
    } catch {
      // The driver calls onclose for every attempt to connect that fails, and waits longer before each.
      return
    }
    for (const { onListening } of subscriptions.get(channel) ?? []) onListening()
  }

  return {
    async listen(channel, onPayload, onListening) {
      const subscription = { onPayload, onListening }
      const others = subscriptions.get(channel) ?? new Set()
      subscriptions.set(channel, others.add(subscription))
      const forget = () => {
        others.delete(subscription)
        return others.size === 0 && subscriptions.delete(channel) && heard.delete(channel)
      }
      try {
        await send('listen', channel)
      } catch (error) {
        forget()
        throw error
      }
      heard.add(channel)
      onListening()
      return async () => {
        if (forget()) await send('unlisten', channel)
      }
    },
    close: async () => void (await sql?.end({ timeout: 0 })),
  }
}
