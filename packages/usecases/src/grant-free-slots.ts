import { lanes, type Tx } from '@muster/db'
import { laneDefaults } from './create-subtask.ts'
import type { Deps } from './ctx.ts'

/** Gives the free slots of some lanes, if there are any, to what waits in them. Takes the lanes' locks: row locks come before. */
export async function grantFreeSlots(deps: Deps, tx: Tx, projectId: string, agentIds: readonly string[]): Promise<void> {
  // Two statements in one packet: the second counts what the first has waited for.
  const [, granted] = await Promise.all([
    lanes.lockLanes(tx, projectId, agentIds),
    lanes.grantSlots(tx, projectId, agentIds, laneDefaults(deps), deps.runJobs.inserting(tx)),
  ])
  if (granted > 0) tx.afterCommit(() => deps.bell.ring('run'))
}
