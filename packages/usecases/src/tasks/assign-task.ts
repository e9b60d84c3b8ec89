import { assignments, type LockedTask, outbox, type Tx, taskDependencies, tasks } from '@muster/db'
import { DomainError, requireController, requireScope, type Task } from '@muster/domain'
import { supersedeQueued, unassign } from '../assignments/unassign-task.ts'
import { type Ctx, inProject } from '../core/ctx.ts'
import { newAssignmentCredential } from '../core/secrets.ts'
import { previousSession, taskEvent } from '../events/event-data.ts'
import { cancelSubtaskOf, isHeldByRun, lockOpenTask } from './finish-task.ts'

/**
 * Assigns a task to the session of a sub-agent and returns a credential that opens this task alone and starts no work. A new session
 * receives the whole brief, and the previous one nothing more. For the same session only the credential is new, unless `resend` queues
 * the whole brief again. [B5] assign_task
 *
 * @throws DomainError `not_found`, `invalid_transition` when it has ended, waits for others, or would be resent to the subtask that runs it
 */
export async function assignTask(ctx: Ctx, id: string, sessionId: string, { resend = false } = {}): Promise<{ task: Task; credential: string }> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  const secret = newAssignmentCredential(id)
  return await inProject(ctx, async (tx) => {
    const task = await lockOpenTask(tx, id)
    await requireUnblocked(tx, task)
    if (resend && task.subagentSessionId === sessionId) await resendBrief(ctx, tx, task, secret.hash)
    else await assignLockedTask(ctx, tx, task, sessionId, secret.hash)
    return { task: (await tasks.findTask(tx, id)) as Task, credential: secret.token }
  })
}

/** The same in the caller's transaction, for a locked task that is open and not blocked. Without a hash, the session gets no credential. */
export async function assignLockedTask(ctx: Ctx, tx: Tx, task: LockedTask, sessionId: string, credentialHash: Buffer | null): Promise<void> {
  const { id, projectId } = task
  const current = await assignments.findActiveAssignment(tx, id)
  if (current?.sessionId === sessionId) {
    if (credentialHash !== null) await assignments.replaceCredential(tx, id, credentialHash)
    return
  }
  await cancelSubtaskOf(ctx, tx, task, ctx.actor)
  const superseded = current === null ? [] : await unassign(tx, task, ctx.actor)
  await assignments.openAssignment(tx, projectId, { taskId: id, sessionId, credentialHash })
  await tasks.writeTransition(tx, id, { status: 'assigned', subagentSessionId: sessionId, subtaskId: null })
  await outbox.publish(tx, projectId, [
    ...superseded,
    taskEvent('task.assigned', { ...task, status: 'assigned', subagentSessionId: sessionId }, ctx.actor, previousSession(current?.sessionId ?? null)),
  ])
  tx.afterCommit(() => ctx.notifier.notify('outbox'))
}

/**
 * Queues the whole brief of a locked task again for its assignee. The brief contains the updates that are still queued, so they are
 * superseded. The assignment starts again, so that acknowledging an earlier injection has no effect on this task.
 */
async function resendBrief(ctx: Ctx, tx: Tx, task: LockedTask, credentialHash: Buffer): Promise<void> {
  if (isHeldByRun(task)) {
    throw new DomainError(
      'invalid_transition',
      `This task was dispatched to subtask ${task.subtaskId}, which gets the brief from its worker. Only an assigned brief can be resent.`,
      {
        status_now: task.status,
        subtask_id: task.subtaskId,
      },
    )
  }
  const superseded = await supersedeQueued(tx, task, ctx.actor)
  await assignments.restartAssignment(tx, task.id, credentialHash)
  await outbox.publish(tx, task.projectId, [
    ...superseded,
    taskEvent('task.assigned', task, ctx.actor, { ...previousSession(task.subagentSessionId), resent: true }),
  ])
  tx.afterCommit(() => ctx.notifier.notify('outbox'))
}

/**
 * The tasks that a locked task waits for. None where it is blocked because its last assignee went in circles: who gives it to the next one has decided that it
 * goes on.
 */
export async function listBlockers(tx: Tx, task: LockedTask): Promise<string[]> {
  if (task.status !== 'blocked') return []
  return (await taskDependencies.listDependencies(tx, task.id)).filter((each) => each.status !== 'completed').map((each) => each.taskId)
}

/** @throws DomainError `invalid_transition` while a task waits for others, naming them */
export async function requireUnblocked(tx: Tx, task: LockedTask): Promise<void> {
  const blockedBy = await listBlockers(tx, task)
  if (blockedBy.length === 0) return
  throw new DomainError('invalid_transition', `This task waits for ${blockedBy.join(', ')}.`, { status_now: 'blocked', blocked_by: blockedBy })
}
