import { lanes, type Tx } from '@muster/db'
import { laneDefaults } from './create-subtask.ts'
import type { Deps } from './ctx.ts'

/** Gives the free slots of some lanes, if there are any, to what waits in them. Takes the lanes' locks: row locks come before. */
export async function grantFreeSlots(deps: Deps, tx: Tx, projectId: string, agentIds: readonly string[]): Promise<void> {
  await lanes.lockLanes(tx, projectId, agentIds)
  const granted = await lanes.grantSlots(tx, projectId, agentIds, laneDefaults(deps))
  if (granted.length === 0) return
  await deps.runJobs.insert(
    tx,
    granted.map((grant) => ({ ...grant, projectId })),
  )
  tx.afterCommit(() => deps.bell.ring('run'))
}
