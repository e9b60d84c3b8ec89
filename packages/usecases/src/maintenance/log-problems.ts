import { maintenance } from '@muster/db'
import type { Deps } from '../core/ctx.ts'
import { findPartitionReach } from './partitions.ts'

/** A relay moves events within a second; a lag of half a minute means that none works. */
const LAG_MS = 30_000

/** What keeps events from their log, or soon will: a sentence for an operator, or null. */
export async function findLogProblems(deps: Pick<Deps, 'dispatchDb'>): Promise<{ relay: string | null; partitions: string | null }> {
  const lagMs = await maintenance.relayLagMs(deps.dispatchDb)
  const relay =
    lagMs > LAG_MS
      ? `The oldest event has waited for ${Math.round(lagMs / 1_000)} s to be moved to the event log: see the logs of API and workers for "relay events".`
      : null
  return { relay, partitions: (await findPartitionReach(deps)).problem }
}
