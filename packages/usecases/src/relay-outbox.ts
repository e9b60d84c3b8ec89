import { outbox, transaction } from '@muster/db'
import type { Deps } from './ctx.ts'

const BATCH = 1_000

/** Moves waiting events into the log, unless another process is at it. Answers whether there may be more. */
export async function relayOutbox(deps: Deps): Promise<boolean> {
  const moved = await transaction(deps.dispatchDb, null, (tx) => outbox.moveOutbox(tx, BATCH))
  return moved !== null && moved.moved === BATCH
}
