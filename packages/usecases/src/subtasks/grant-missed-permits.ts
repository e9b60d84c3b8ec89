import { isDatabaseUnavailable, lanes, transaction } from '@muster/db'
import type { RunJobs } from '@muster/jobs'
import type { Deps } from '../core/ctx.ts'
import { laneDefaults } from './lane-defaults.ts'

/**
 * Gives slots to what was passed over. A freed slot goes to the best waiting row that nobody has locked; one that is being steered
 * or cancelled at that very moment is left out, and if nothing else happens to its agent, nobody would ever come back to it.
 */
export async function grantMissedPermits(deps: Deps): Promise<number> {
  const projectIds = await transaction(deps.dispatchDb, null, (tx) => lanes.findWaitingProjects(tx))
  let count = 0
  for (const projectId of projectIds) count += await grantProjectPermits(deps, projectId)
  return count
}

/** Gives the free slots of a project to what waits, the best first, whichever agent it is of. Returns how many it gave. */
async function grantProjectPermits(deps: Deps, projectId: string): Promise<number> {
  const defaults = laneDefaults(deps)
  return await transaction(deps.db, projectId, async (tx) => {
    // The project's lock comes before those of its lanes, wherever both are taken. What waits is looked for behind it.
    await lanes.lockProjectLanes(tx, projectId, [], defaults)
    const agentIds = await lanes.findUnderusedLanes(tx, projectId, defaults)
    if (agentIds.length === 0) return 0
    const [, { count }] = await Promise.all([
      lanes.lockLanes(tx, projectId, agentIds),
      lanes.grantPermits(tx, projectId, agentIds, defaults, deps.runJobs.inserting(tx), true),
    ])
    if (count > 0) tx.afterCommit(() => deps.notifier.notify('run'))
    return count
  })
}

/** By process and project: `again` where something has asked since the look that is under way began. */
const looking = new WeakMap<RunJobs, Map<string, { again: boolean }>>()

/**
 * Starts `grantProjectSlots` after a commit that has left slots to the project, once however many ask at the same time. An error is logged: within two
 * seconds `grantMissedSlots` looks again.
 */
export function grantProjectPermitsSoon(deps: Deps, projectId: string): void {
  const ofProcess = looking.get(deps.runJobs) ?? new Map<string, { again: boolean }>()
  looking.set(deps.runJobs, ofProcess)
  const known = ofProcess.get(projectId)
  if (known !== undefined) {
    known.again = true
    return
  }
  const look = { again: false }
  ofProcess.set(projectId, look)
  void (async () => {
    try {
      do {
        look.again = false
        await grantProjectPermits(deps, projectId)
      } while (look.again)
    } catch (error) {
      const fields = { err: error, project_id: projectId }
      if (isDatabaseUnavailable(error)) deps.log.warn(fields, 'could not give slots: the database is away')
      else deps.log.error(fields, 'could not give slots; they are given at the next look')
    } finally {
      ofProcess.delete(projectId)
    }
  })()
}
