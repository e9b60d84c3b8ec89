import type { InboxItem } from '../generated/openapi.ts'
import { pause } from '../http/pause.ts'
import { type BodyOf, type CallOptions, Noun, type QueryOf } from './noun.ts'

/** Sessions: what they have not received yet, and their messages. `muster.brief(session)` does the same for one session. */
export class Sessions extends Noun {
  /** Everything the session has not received. With `ack: 'manual'` it is delivered again after a minute unless it is acknowledged. */
  inject = (session: string, messages: string[] = [], ack: 'auto' | 'manual' = 'auto', options?: CallOptions) =>
    this.call('injectSession', { path: { id: session }, query: { ack }, body: { messages } }, options)
  acknowledge = (session: string, claimId: string, options?: CallOptions) =>
    this.call('acknowledgeInjection', { path: { id: session, claim_id: claimId } }, options)
  post = (session: string, message: BodyOf<'postMessage'>, options?: CallOptions) => this.call('postMessage', { path: { id: session }, body: message }, options)
  messages = (session: string, query?: QueryOf<'listMessages'>, options?: CallOptions) => this.pages('listMessages', { id: session }, query, options)
}

export interface ClaimOptions extends Pick<CallOptions, 'signal'> {
  /** How many items are claimed, and acknowledged, at once. Default: 1, so that an item is acknowledged as soon as the next is asked for. */
  limit?: number | undefined
  /** Waits for more items instead of ending when there are none, and looks this often. */
  pollMs?: number | undefined
}

/** Inboxes: results that wait for the session that asked for them. */
export class Inbox extends Noun {
  /**
   * The items of an inbox, oldest first. An item is acknowledged when the loop asks for the next one. What was not acknowledged, because the loop threw,
   * was left or died, is delivered again after a minute.
   */
  async *claim(session: string, { signal, limit = 1, pollMs }: ClaimOptions = {}): AsyncGenerator<InboxItem> {
    // A loop that waits for more waits for a server that is away, too.
    const options = { signal, ...(pollMs === undefined ? {} : { retries: Number.POSITIVE_INFINITY }) }
    for (;;) {
      const { items, claim_id } = await this.call('claimInbox', { path: { id: session }, body: { limit, ack: 'manual' } }, options)
      yield* items
      if (claim_id !== null) await this.acknowledge(session, claim_id, options)
      if (items.length > 0) continue
      if (pollMs === undefined) return
      await pause(pollMs, signal)
    }
  }

  acknowledge = (session: string, claimId: string, options?: CallOptions) =>
    this.call('acknowledgeInbox', { path: { id: session, claim_id: claimId } }, options)
}
