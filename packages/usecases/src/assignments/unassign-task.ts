import { assignments, type LockedTask, outbox, type Tx, tasks, taskUpdates } from '@muster/db'
import type { NewEvent } from '@muster/domain'
import { taskUpdateEvent } from '../events/event-data.ts'

/** Takes a locked task from whoever holds it, for another to get. Answers what is to be announced of it. */
export async function unassign(tx: Tx, task: LockedTask, actor: NewEvent['actor']): Promise<NewEvent[]> {
  await assignments.endAssignments(tx, task.id)
  return await supersedeQueued(tx, task, actor)
}

/** Supersedes the queued changes of a locked task whose whole brief is handed over next. Answers what is to be announced of it. */
export async function supersedeQueued(tx: Tx, task: LockedTask, actor: NewEvent['actor']): Promise<NewEvent[]> {
  const superseded = await taskUpdates.supersedeTaskUpdates(tx, task.projectId, task.id)
  return superseded.map((updateId) => taskUpdateEvent('update.superseded', updateId, task.id, actor))
}

/**
 * Takes a locked task that was sent back from the session of a run that has ended: nobody is there to hear of it. The request waits for
 * whoever takes the task up next.
 */
export async function leaveEndedRun(tx: Tx, task: LockedTask, actor: NewEvent['actor']): Promise<void> {
  await outbox.publish(tx, task.projectId, await unassign(tx, task, actor))
  await tasks.writeTransition(tx, task.id, { status: 'revision_requested', subagentSessionId: null })
}
