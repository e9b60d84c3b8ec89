import { memory, transaction } from '@muster/db'
import type { Deps } from '../core/ctx.ts'

/** Events that are read at once: what a pass holds a transaction open for. */
const BATCH = 100
/** Of each second, so much: however many subtasks end, their words take about a tenth of one processor, and are found a little later. */
const PASS_MS = 100

/** Takes the subtasks that have ended into memory, in the order of their ends. docs/adr/0011 */
export async function rememberEpisodes(deps: Deps): Promise<void> {
  const startedAt = performance.now()
  let read = BATCH
  while (read === BATCH && performance.now() - startedAt < PASS_MS) {
    read = await transaction(deps.dispatchDb, null, (tx) => memory.rememberEpisodes(tx, BATCH))
  }
}
