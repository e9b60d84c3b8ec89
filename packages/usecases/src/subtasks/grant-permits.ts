import { isDatabaseUnavailable, lanes, pipeline, type Tx, transaction } from '@muster/db'
import { type RunJobs, runQueue } from '@muster/jobs'
import type { Deps } from '../core/ctx.ts'

/** Grants the free permits of lanes to their waiting subtasks. Takes the locks of the lanes; locks of rows come before. */
export async function grantFreePermits(deps: Deps, tx: Tx, projectId: string, agentIds: readonly string[]): Promise<void> {
  const { count, isLeftToProject } = await grantUnderLock(deps, tx, projectId, agentIds)
  if (isLeftToProject) tx.afterCommit(() => grantProjectPermitsSoon(deps, projectId))
  if (count > 0) tx.afterCommit(() => deps.notifier.notify('run'))
}

/**
 * Gives a subtask the permit of an unclaimed one of its lane that ranks after `rankAt`. The lane must be locked. Returns false if none has a permit, or if a
 * worker is claiming it.
 */
export async function takeLaterPermit(
  deps: Deps,
  tx: Tx,
  projectId: string,
  row: { id: string; agentId: string; jobId: string },
  rankAt: Date,
): Promise<boolean> {
  const taken = await lanes.takePermitFromLater(tx, projectId, row.agentId, rankAt)
  if (taken === null) return false
  await deps.runJobs.deleteWaiting(tx, runQueue(taken.runner, projectId), [taken.jobId])
  await lanes.givePermit(tx, row.id, row.jobId)
  await deps.runJobs.insertForRows(tx, [row.id])
  return true
}

/**
 * Grants permits that were missed. A freed permit goes to the best waiting row that is not locked. A row that is locked at that moment, by
 * a note or a cancellation, is passed over, and would wait for ever if nothing else happened in its lane. Returns the number of permits.
 */
export async function grantMissedPermits(deps: Deps): Promise<number> {
  const projectIds = await lanes.findWaitingProjects(deps.dispatchDb)
  let count = 0
  for (const projectId of projectIds) count += await grantProjectPermits(deps, projectId)
  return count
}

/** Grants the free permits of a project to its best waiting subtasks, over all agents. Returns the number of permits. */
async function grantProjectPermits(deps: Deps, projectId: string): Promise<number> {
  const defaults = lanes.laneDefaults(deps.settings)
  return await transaction(deps.db, projectId, async (tx) => {
    // The lock of the project comes before those of its lanes, wherever both are taken. Candidates are read behind it.
    await lanes.lockProjectLanes(tx, projectId, [], defaults)
    const agentIds = await lanes.findUnderusedLanes(tx, projectId, defaults)
    if (agentIds.length === 0) return 0
    const { count } = await grantUnderLock(deps, tx, projectId, agentIds, true)
    if (count > 0) tx.afterCommit(() => deps.notifier.notify('run'))
    return count
  })
}

/** @param holdsProject whether the transaction holds the lock of the project */
async function grantUnderLock(deps: Deps, tx: Tx, projectId: string, agentIds: readonly string[], holdsProject = false): Promise<lanes.Granted> {
  // The second statement counts what the first has waited for.
  const [, granted] = await pipeline([
    lanes.lockLanes(tx, projectId, agentIds),
    lanes.grantPermits(tx, projectId, agentIds, lanes.laneDefaults(deps.settings), deps.runJobs.inserting(tx), holdsProject),
  ])
  return granted
}

/** Running grants of this process by project. `again`: another request came after the current look began. */
const looking = new WeakMap<RunJobs, Map<string, { again: boolean }>>()

/**
 * Starts `grantProjectPermits` after a commit that left permits to the project. Concurrent requests share one run. An error is logged;
 * `grantMissedPermits` looks again within two seconds.
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
      if (isDatabaseUnavailable(error)) deps.log.warn(fields, 'failed to grant permits: the database is unavailable')
      else deps.log.error(fields, 'failed to grant permits; the next look within two seconds grants them')
    } finally {
      ofProcess.delete(projectId)
    }
  })()
}
