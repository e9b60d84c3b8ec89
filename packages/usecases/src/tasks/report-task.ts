import { inbox, type LockedTask, type Tx } from '@muster/db'
import { type ReportedTaskStatus, subtaskSessionId } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'

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
