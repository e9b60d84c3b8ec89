import { outbox } from '@muster/db'
import type { Deps } from '../core/ctx.ts'

const BATCH = 1_000

/**
 * Moves waiting events into the log. Returns whether there may be more, also while another process relays, because that may have begun
 * before the events of this process existed.
 */
export async function relayOutbox(deps: Deps): Promise<boolean> {
  const moved = await outbox.moveOutbox(deps.dispatchDb.sql, BATCH)
  return moved === null || moved === BATCH
}
