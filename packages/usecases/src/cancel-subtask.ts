import { outbox, subtasks, updates } from '@muster/db'
import { DomainError, isTerminal, notFound, requireOwnSubtask, requireScope, type Subtask } from '@muster/domain'
import { runQueue } from '@muster/jobs'
import type { Ctx } from './ctx.ts'
import { subtaskEvent, updateEvent } from './event-data.ts'
import { grantFreeSlots } from './grant-free-slots.ts'
import { inProject } from './in-project.ts'

/**
 * Cancels a subtask. A pending one ends at once and hands its slot on; a running one is asked to stop, and whoever runs it ends
 * it. The first commit wins.
 *
 * @throws DomainError `not_found`, `not_cancellable` once it has ended
 */
export async function cancelSubtask(ctx: Ctx, id: string): Promise<{ subtask: Subtask; cancelled: boolean }> {
  requireScope(ctx.actor, 'subtasks:write')
  requireOwnSubtask(ctx.actor, id)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    const row = await subtasks.lockSubtask(tx, id)
    if (row === null) throw notFound('subtask')
    if (isTerminal(row.status)) {
      throw new DomainError('not_cancellable', `This subtask has already ended as ${row.status}.`, { status_now: row.status })
    }
    if (row.status === 'running') {
      if (row.cancelRequestedAt === null) {
        await subtasks.requestCancel(tx, id)
        await outbox.publish(tx, projectId, [subtaskEvent('subtask.cancel_requested', row, ctx.actor, { attempt: row.attempt })])
        tx.afterCommit(() => ctx.bell.ring('outbox'))
      }
      tx.afterCommit(() => ctx.bell.ring('cancel', id))
    } else {
      await subtasks.cancelPending(tx, id)
      await subtasks.tellParent(tx, projectId, id, ctx.newId())
      const expired = await updates.expireUpdates(tx, projectId, [id])
      await outbox.publish(tx, projectId, [
        ...expired.map((update) => updateEvent('update.expired', update.updateId, id, ctx.actor)),
        subtaskEvent('subtask.cancelled', row, ctx.actor, { status: 'cancelled', final_outcome: 'cancelled', result: null }),
      ])
      tx.afterCommit(() => ctx.bell.ring('outbox'))
      if (row.jobId !== null) {
        await ctx.runJobs.deleteWaiting(tx, runQueue(row.runner, projectId), [row.jobId])
        await grantFreeSlots(ctx, tx, projectId, [row.agentId])
      }
    }
    return { subtask: (await subtasks.findSubtask(tx, id)) as Subtask, cancelled: row.status === 'pending' }
  })
}
