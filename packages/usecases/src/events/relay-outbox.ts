import { outbox } from '@muster/db'
import type { Deps } from '../core/ctx.ts'

const BATCH = 1_000

/**
 * The loop of the relay, which every process has. A process that writes events wakes its own relay; `everyMs` finds the events of a process that
 * died in between. Events of `restMs` milliseconds travel together, because each move waits for the disk and wakes the followers of the log.
 */
export const RELAY = { everyMs: 500, restMs: 25 } as const

/**
 * Moves waiting events into the log. Returns whether there may be more, also while another process relays, because that may have begun
 * before the events of this process existed.
 */
export async function relayOutbox(deps: Deps): Promise<boolean> {
  const moved = await outbox.moveOutbox(deps.dispatchDb.sql, BATCH)
  return moved === null || moved === BATCH
}
