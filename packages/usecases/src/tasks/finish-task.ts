import { assignments, inbox, type LockedTask, outbox, subtasks, type Tx, taskDependencies, tasks, taskUpdates } from '@muster/db'
import { isTerminal, type NewEvent, type ReportedTaskStatus, subtaskSessionId, type TerminalTaskStatus } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { taskEvent, taskUpdateEvent } from '../events/event-data.ts'
import { cancelLockedSubtask } from '../subtasks/cancel-subtask.ts'

/** Keeps dependencies from being edited while tasks are completed. Before the locks of tasks, whose completion may release others. */
export async function lockForCompletion(tx: Tx, projectId: string): Promise<void> {
  await taskDependencies.lockDependencies(tx, projectId, 'complete')
}

/**
 * Ends a locked task: its assignment ends, undelivered updates expire, and its parent session gets an inbox item. Completion also
 * releases, in the same commit, the tasks that waited for this one alone; their dependencies must have been locked before the task was.
 */
export async function finishTask(
  deps: Pick<Deps, 'notifier' | 'newId'>,
  tx: Tx,
  task: LockedTask,
  end: { status: TerminalTaskStatus; lastError?: string | null; outputs?: Record<string, unknown>; summary?: string | null },
  actor: NewEvent['actor'],
): Promise<void> {
  const { projectId, id } = task
  await tasks.writeTransition(tx, id, {
    status: end.status,
    ...(end.outputs === undefined ? {} : { completionOutputs: end.outputs }),
    ...(end.summary === undefined ? {} : { summary: end.summary }),
    ...(end.lastError === undefined ? {} : { lastError: end.lastError }),
  })
  await reportTask(deps, tx, task, end.status)
  await assignments.endAssignments(tx, id)
  const expired = await taskUpdates.expireTaskUpdates(tx, projectId, id)
  const released = end.status === 'completed' ? await releaseDependents(tx, task) : []
  const summary = end.summary === undefined ? task.summary : end.summary
  await outbox.publish(tx, projectId, [
    ...expired.map((updateId) => taskUpdateEvent('update.expired', updateId, id, actor)),
    taskEvent(`task.${end.status}`, { ...task, status: end.status }, actor, end.status === 'completed' ? { summary } : { reason: end.lastError ?? null }),
    ...released.map((dependent) => taskEvent('task.unblocked', { ...dependent, status: 'pending' }, actor, { unblocked_by: id })),
  ])
  tx.afterCommit(() => deps.notifier.notify('outbox'))
}

async function releaseDependents(tx: Tx, task: LockedTask): ReturnType<typeof taskDependencies.releaseDependents> {
  if (!(await taskDependencies.hasDependents(tx, task.projectId, task.id))) return []
  await taskDependencies.lockReleasing(tx, task.projectId)
  return await taskDependencies.releaseDependents(tx, task.projectId, task.id)
}

/** Cancels the subtask that runs a locked task, if one does, because its result is no longer needed. */
export async function cancelSubtaskOf(deps: Deps, tx: Tx, task: LockedTask, actor: NewEvent['actor']): Promise<void> {
  if (task.subtaskId === null) return
  const row = await subtasks.lockSubtask(tx, task.subtaskId)
  if (row === null || isTerminal(row.status)) return
  await cancelLockedSubtask(deps, tx, task.projectId, row, actor)
}

/** Whether a locked task is held by the session of the subtask that runs it, or that ran it last. */
export function isHeldByRun(task: Pick<LockedTask, 'subtaskId' | 'subagentSessionId'>): boolean {
  return task.subtaskId !== null && task.subagentSessionId === subtaskSessionId(task.subtaskId)
}

/**
 * Inserts the end or the review of a locked task into the inbox of its parent session, in the commit that changes the task. A task that a subtask runs
 * is left out: the end of that subtask is in the inbox already.
 */
export async function reportTask(deps: Pick<Deps, 'newId'>, tx: Tx, task: LockedTask, status: ReportedTaskStatus): Promise<void> {
  if (task.parentSessionId === null || isHeldByRun(task)) return
  await inbox.insertTaskItem(tx, task.projectId, { id: deps.newId(), sessionId: task.parentSessionId, taskId: task.id, taskStatus: status })
}
