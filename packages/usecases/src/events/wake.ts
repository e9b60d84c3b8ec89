import type { Notice, Tx } from '@muster/db'
import { endsWait, type NewEvent } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'

/** Wakes, after the commit, the relay, and the requests that wait for what these events announce: they need not wait for the log. */
export function wakeAfterCommit({ notifier }: Pick<Deps, 'notifier'>, tx: Tx, events: readonly NewEvent[]): void {
  tx.afterCommit(() => {
    notifier.notify('outbox')
    for (const { type, subject } of events) if (endsWait(type)) notifier.notify('ended', subject.id)
  })
}

/** The same with a notification that may travel with the COMMIT. @returns what the statement that publishes the events has to notify of */
export function wakeWithCommit({ notifier }: Pick<Deps, 'notifier'>, tx: Tx, events: readonly NewEvent[]): Notice | undefined {
  const endedIds = events.flatMap(({ type, subject }) => (endsWait(type) ? [subject.id] : []))
  tx.afterCommit(() => notifier.notify('outbox'))
  if (endedIds.length === 0) return undefined
  const notification = notifier.withCommit('ended', endedIds)
  tx.afterCommit(notification.committed)
  return notification
}
