import { lanes, transaction } from '@muster/db'
import { laneDefaults } from './create-subtask.ts'
import type { Deps } from './ctx.ts'

/**
 * Gives slots to what was passed over. A freed slot goes to the best waiting row that nobody has locked; one that is being steered
 * or cancelled at that very moment is left out, and if nothing else happens to its agent, nobody would ever come back to it.
 */
export async function grantMissedSlots(deps: Deps): Promise<number> {
  const projectIds = await transaction(deps.dispatchDb, null, (tx) => lanes.findWaitingProjects(tx))
  let count = 0
  for (const projectId of projectIds) {
    count += await transaction(deps.db, projectId, async (tx) => {
      const agentIds = await lanes.findUnderusedLanes(tx, projectId, laneDefaults(deps))
      if (agentIds.length === 0) return 0
      await lanes.lockLanes(tx, projectId, agentIds)
      const granted = await lanes.grantSlots(tx, projectId, agentIds, laneDefaults(deps), deps.runJobs.inserting(tx))
      if (granted > 0) tx.afterCommit(() => deps.bell.ring('run'))
      return granted
    })
  }
  return count
}
