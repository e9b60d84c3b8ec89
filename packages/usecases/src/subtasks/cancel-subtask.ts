import { bodies, inbox, type LockedSubtask, outbox, questions, settle, subtasks, type Tx, tasks, updates } from '@muster/db'
import { DomainError, isTerminal, type NewEvent, requireFound, requireOwnSubtask, requireScope, type Subtask, subtaskSessionId } from '@muster/domain'
import { runQueue } from '@muster/jobs'
import { returnTaskToPending } from '../assignments/unassign-task.ts'
import { type Ctx, type Deps, inProject } from '../core/ctx.ts'
import { questionEvent, subtaskEvent, updateEvent } from '../events/event-data.ts'
import { wakeAfterCommit } from '../events/wake.ts'
import { grantFreePermits } from './grant-permits.ts'

/**
 * Cancels a subtask. A pending or waiting one ends at once and frees its permit. A running one is asked to stop, and its worker ends it. The first
 * commit wins.
 *
 * @throws DomainError `not_found`, `not_cancellable` once it has ended
 */
export async function cancelSubtask(ctx: Ctx, id: string): Promise<{ subtask: Subtask; cancelled: boolean }> {
  requireScope(ctx.actor, 'subtasks:write')
  requireOwnSubtask(ctx.actor, id)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    // Locks of tasks come before those of subtasks.
    const [taskId] = await settle.listTaskIds(tx, [id])
    const task = taskId === undefined ? null : await tasks.lockTask(tx, taskId)
    const row = requireFound(await subtasks.lockSubtask(tx, id), 'subtask')
    if (isTerminal(row.status)) {
      throw new DomainError('not_cancellable', `This subtask has already ended as ${row.status}.`, { status_now: row.status })
    }
    // A running subtask returns its task when it ends.
    if (row.status !== 'running' && task?.subtaskId === id && task.subagentSessionId === subtaskSessionId(id)) {
      await returnTaskToPending(ctx, tx, projectId, task.id, 'The subtask that was to run it was cancelled.', ctx.actor)
    }
    await cancelLockedSubtask(ctx, tx, projectId, row, ctx.actor)
    return { subtask: (await subtasks.findSubtask(tx, id)) as Subtask, cancelled: row.status !== 'running' }
  })
}

/** The same for a locked row that has not ended, in a caller's transaction. Takes the lock of its lane. */
export async function cancelLockedSubtask(deps: Deps, tx: Tx, projectId: string, row: LockedSubtask, actor: NewEvent['actor']): Promise<void> {
  const open = await questions.withdrawOpen(tx, projectId, { subtaskId: row.id })
  if (open.length > 0) {
    const withdrawn = open.map((question) => questionEvent('question.withdrawn', question, actor))
    await outbox.publish(tx, projectId, withdrawn)
    wakeAfterCommit(deps, tx, withdrawn)
  }
  if (row.status === 'running') {
    if (row.cancelRequestedAt === null) {
      await subtasks.requestCancel(tx, row.id)
      await outbox.publish(tx, projectId, [subtaskEvent('subtask.cancel_requested', row, actor, { attempt: row.attempt })])
      tx.afterCommit(() => deps.notifier.notify('outbox'))
    }
    tx.afterCommit(() => deps.notifier.notify('cancel', row.id))
  } else {
    await subtasks.cancelWithoutRun(tx, row.id)
    if (row.continuationBodyId !== null) await bodies.deleteBodies(tx, [row.continuationBodyId])
    await inbox.insertSubtaskItem(tx, projectId, deps.newId(), row.id)
    const expired = await updates.expireUpdates(tx, projectId, [row.id])
    const events = [
      ...expired.map((update) => updateEvent('update.expired', update.updateId, row.id, actor)),
      subtaskEvent('subtask.cancelled', row, actor, { status: 'cancelled', final_outcome: 'cancelled', result: null }),
    ]
    await outbox.publish(tx, projectId, events)
    wakeAfterCommit(deps, tx, events)
    if (row.jobId !== null) {
      await deps.runJobs.deleteWaiting(tx, runQueue(row.runner, projectId), [row.jobId])
      await grantFreePermits(deps, tx, projectId, [row.agentId])
    }
  }
}
