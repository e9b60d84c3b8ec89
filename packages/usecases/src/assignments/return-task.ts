import { outbox, type Tx, tasks } from '@muster/db'
import type { NewEvent } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { unassign } from './unassign-task.ts'

/**
 * Takes a task from the subtask that ran it and did not complete it: anybody may take it up again, and finds why in `last_error`. Changes
 * nothing, and answers false, where the task is not in progress any more.
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
