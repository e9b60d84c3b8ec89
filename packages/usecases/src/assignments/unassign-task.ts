import { assignments, inbox, type LockedTask, outbox, type Tx, tasks, taskUpdates } from '@muster/db'
import type { NewEvent } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { taskEvent, taskUpdateEvent } from '../events/event-data.ts'
import { wakeAfterCommit } from '../events/wake.ts'

/** Ends the assignment of a locked task. Returns the events to publish. */
export async function unassign(tx: Tx, task: LockedTask, actor: NewEvent['actor']): Promise<NewEvent[]> {
  await assignments.endAssignments(tx, task.id)
  return await supersedeQueued(tx, task, actor)
}

/** Supersedes the queued changes of a locked task whose whole brief is delivered next. Returns the events to publish. */
export async function supersedeQueued(tx: Tx, task: LockedTask, actor: NewEvent['actor']): Promise<NewEvent[]> {
  const superseded = await taskUpdates.supersedeTaskUpdates(tx, task.projectId, task.id)
  return superseded.map((updateId) => taskUpdateEvent('update.superseded', updateId, task.id, actor))
}

/**
 * Unassigns a locked task with a revision request from the session of an ended run, which cannot receive it. The request waits for the
 * next assignee.
 */
export async function leaveEndedRun(tx: Tx, task: LockedTask, actor: NewEvent['actor']): Promise<void> {
  await outbox.publish(tx, task.projectId, await unassign(tx, task, actor))
  await tasks.writeTransition(tx, task.id, { status: 'revision_requested', subagentSessionId: null })
}

/**
 * Returns a task to pending, with the reason as `last_error`, after the subtask that ran it ended without completing it. Does nothing and
 * returns false if the task is no longer in progress.
 */
export async function returnTaskToPending(
  deps: Pick<Deps, 'notifier'>,
  tx: Tx,
  projectId: string,
  taskId: string,
  lastError: string | null,
  actor: NewEvent['actor'],
): Promise<boolean> {
  const task = await tasks.lockTask(tx, taskId)
  if (task === null || task.status !== 'in_progress') return false
  await tasks.writeTransition(tx, taskId, { status: 'pending', subagentSessionId: null, lastError })
  const events = await unassign(tx, task, actor)
  await outbox.publish(tx, projectId, events)
  if (events.length > 0) tx.afterCommit(() => deps.notifier.notify('outbox'))
  return true
}

/**
 * Takes a locked task in progress from the session that went in circles. It is blocked, with the evidence as `last_error`, and its parent session hears of it: the
 * parent assigns or dispatches it again, or ends it. The assignee gets no update, so the caller tells it.
 */
export async function blockTask(deps: Pick<Deps, 'notifier' | 'newId'>, tx: Tx, task: LockedTask, evidence: string, actor: NewEvent['actor']): Promise<void> {
  const { projectId, id, parentSessionId } = task
  await tasks.writeTransition(tx, id, { status: 'blocked', subagentSessionId: null, lastError: evidence })
  if (parentSessionId !== null) await inbox.insertTaskItem(tx, projectId, { id: deps.newId(), sessionId: parentSessionId, taskId: id, taskStatus: 'blocked' })
  const blocked = { ...task, status: 'blocked' as const, subagentSessionId: null }
  const events = [
    ...(await unassign(tx, task, actor)),
    taskEvent('task.blocked', blocked, actor, { blocked_by: [], reason: evidence, previous_session: task.subagentSessionId }),
  ]
  await outbox.publish(tx, projectId, events)
  wakeAfterCommit(deps, tx, events)
}
