import type { Run, RunUpdate } from '../port.ts'

/** Where the updates of a run are on their way: written to the program, then before its model, then in a call that was answered. */
export interface UpdateLedger {
  /** They have been written to the program as the message of this id. */
  sent(messageId: string, updates: readonly RunUpdate[]): void
  /** The program has put the message before its model: the next call tells of it. */
  delivered(messageId: string): void
  /** It was not delivered: no model call has read it. */
  dropped(messageId: string): void
  /** An answered model call contained these. */
  answered(): void
  /** The program names the messages that an answer is to. */
  consumed(messageIds: readonly string[]): void
  /** The turn of these messages was broken off: of them and of what was to be in its next call, the program does not keep what no call has contained. */
  brokenOff(messageIds: readonly string[]): void
  /**
   * What has to be sent again when nothing more is to come: what is lost and what is in these messages, which have no answer, with all updates after the
   * first of them, in the order in which they came. Nothing is lost afterwards.
   */
  takeLost(unfinishedIds: readonly string[]): RunUpdate[]
  /** Updates that no turn of the program has begun with yet: there is an answer to come. */
  readonly hasUndelivered: boolean
  /** Whether no turn of the program has begun with this message yet. */
  isUndelivered(messageId: string): boolean
}

export function createUpdateLedger(run: Pick<Run, 'acknowledge' | 'delivered'>): UpdateLedger {
  const messages = new Map<string, readonly RunUpdate[]>()
  /** By the ids of their messages, as the next two. */
  const undelivered = new Set<string>()
  const unanswered = new Set<string>()
  const lost = new Set<string>()
  const acknowledgedIds = new Set<string>()
  /** Each update once, in the order in which they came. */
  const updates: RunUpdate[] = []
  const updatesOf = (messageIds: Iterable<string>) => [...messageIds].flatMap((messageId) => messages.get(messageId) ?? [])
  return {
    sent(messageId, message) {
      messages.set(messageId, message)
      undelivered.add(messageId)
      updates.push(...message.filter((update) => !updates.includes(update)))
    },
    delivered(messageId) {
      if (undelivered.delete(messageId)) unanswered.add(messageId)
    },
    dropped: (messageId) => void undelivered.delete(messageId),
    answered() {
      for (const { updateId } of updatesOf(unanswered)) {
        // One that was sent again may have been answered before.
        if (acknowledgedIds.has(updateId)) continue
        acknowledgedIds.add(updateId)
        run.delivered(updateId)
        run.acknowledge(updateId)
      }
      unanswered.clear()
    },
    consumed(messageIds) {
      for (const messageId of messageIds) this.delivered(messageId)
      this.answered()
    },
    brokenOff(messageIds) {
      for (const messageId of messageIds) if (undelivered.delete(messageId)) unanswered.add(messageId)
      for (const messageId of unanswered) lost.add(messageId)
      unanswered.clear()
    },
    takeLost(unfinishedIds) {
      const taken = updatesOf([...lost, ...unfinishedIds])
      lost.clear()
      const first = updates.findIndex((update) => taken.includes(update))
      return first < 0 ? [] : updates.slice(first)
    },
    get hasUndelivered() {
      return undelivered.size > 0
    },
    isUndelivered: (messageId) => undelivered.has(messageId),
  }
}
