import { assignments, type LockedTask, type Tx, taskUpdates } from '@muster/db'
import type { NewEvent } from '@muster/domain'
import { taskUpdateEvent } from './event-data.ts'

/** Takes a locked task from whoever holds it, for another to get. Answers what is to be announced of it. */
export async function takeAway(tx: Tx, task: LockedTask, actor: NewEvent['actor']): Promise<NewEvent[]> {
  await assignments.endAssignments(tx, task.id)
  const superseded = await taskUpdates.supersedeTaskUpdates(tx, task.projectId, task.id)
  return superseded.map((updateId) => taskUpdateEvent('update.superseded', updateId, task.id, actor))
}
