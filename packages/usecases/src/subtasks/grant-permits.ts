import { lanes, type Tx } from '@muster/db'
import type { Deps } from '../core/ctx.ts'
import { grantProjectPermitsSoon } from './grant-missed-permits.ts'
import { laneDefaults } from './lane-defaults.ts'

/** Gives the free slots of some lanes, if there are any, to what waits in them. Takes the lanes' locks: row locks come before. */
export async function grantFreePermits(deps: Deps, tx: Tx, projectId: string, agentIds: readonly string[]): Promise<void> {
  // Two statements in one packet: the second counts what the first has waited for.
  const [, { count, isLeftToProject }] = await Promise.all([
    lanes.lockLanes(tx, projectId, agentIds),
    lanes.grantPermits(tx, projectId, agentIds, laneDefaults(deps), deps.runJobs.inserting(tx)),
  ])
  if (isLeftToProject) tx.afterCommit(() => grantProjectPermitsSoon(deps, projectId))
  if (count > 0) tx.afterCommit(() => deps.notifier.notify('run'))
}
