import type { Run } from '../port.ts'

/** Where the updates of a run are on their way: written to the program, then before its model, then in a call that was answered. */
export interface UpdateLedger {
  /** It has been written to the program as the message of this id. */
  sent(messageId: string, updateId: string): void
  /** The program has put the message before its model: the next call tells of it. */
  delivered(messageId: string): void
  /** It was not delivered: no model call has read it. */
  dropped(messageId: string): void
  /** An answered model call contained these. */
  answered(): void
  /** The program names the messages that an answer is to. */
  consumed(messageIds: readonly string[]): void
  /** Updates that no turn of the program has begun with yet: there is an answer to come. */
  readonly hasUndelivered: boolean
  /** Whether no turn of the program has begun with this message yet. */
  isUndelivered(messageId: string): boolean
}

export function createUpdateLedger(run: Pick<Run, 'acknowledge' | 'delivered'>): UpdateLedger {
  const undelivered = new Map<string, string>()
  const unanswered = new Map<string, string>()
  return {
    sent: (messageId, updateId) => void undelivered.set(messageId, updateId),
    delivered(messageId) {
      const updateId = undelivered.get(messageId)
      if (updateId === undefined) return
      undelivered.delete(messageId)
      unanswered.set(messageId, updateId)
      run.delivered(updateId)
    },
    dropped: (messageId) => void undelivered.delete(messageId),
    answered() {
      for (const updateId of unanswered.values()) run.acknowledge(updateId)
      unanswered.clear()
    },
    consumed(messageIds) {
      for (const messageId of messageIds) this.delivered(messageId)
      this.answered()
    },
    get hasUndelivered() {
      return undelivered.size > 0
    },
    isUndelivered: (messageId) => undelivered.has(messageId),
  }
}
