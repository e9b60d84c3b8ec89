import { tsgs } from '@muster/db'
import { DomainError, notFound, requireScope } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'

const SHOWN_TASKS_MAX = 10

/**
 * Deletes a guide. With `force` it is unlinked from the tasks that have it, without a revision of their briefs: there is nothing left
 * that a holder could read. What became of it stays counted, should a guide of that id come again.
 *
 * @throws DomainError `not_found`, `tsg_in_use` while tasks have it
 */
export async function deleteTsg(ctx: Ctx, tsgId: string, { force }: { force: boolean }): Promise<void> {
  requireScope(ctx.actor, 'tsgs:write')
  const { projectId } = ctx.actor
  await inProject(ctx, async (tx) => {
    await tsgs.announceTsgChange(tx, projectId)
    // Waits for whoever is linking it at this moment, and keeps others from it.
    if ((await tsgs.lockTsg(tx, projectId, tsgId)) === null) throw notFound('guide')
    if (force) await tsgs.unlinkTsgEverywhere(tx, projectId, tsgId)
    const taskIds = await tsgs.listTasksOfTsg(tx, projectId, tsgId, SHOWN_TASKS_MAX)
    if (taskIds.length > 0) {
      throw new DomainError('tsg_in_use', 'The guide is linked to tasks. Unlink it from them, or delete it with force=true, which does that.', {
        task_ids: taskIds,
      })
    }
    await tsgs.deleteTsg(tx, projectId, tsgId)
  })
}
