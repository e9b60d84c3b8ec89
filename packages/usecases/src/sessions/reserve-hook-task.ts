import { hooks, tasks } from '@muster/db'
import { isTerminalTask, notFound, requireController, requireOpenTask, requireScope } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import { assignLockedTask } from '../tasks/assign-task.ts'

/**
 * Keeps a task for the sub-agent that a session of Claude Code is about to start: its Agent tool was called with a prompt that names the task.
 * Nothing is assigned yet: the tool may still be refused.
 *
 * @throws DomainError `not_found`, `invalid_transition` for a task that has ended, `forbidden` for who may not assign it
 */
export async function reserveHookTask(ctx: Ctx, reservation: { sessionId: string; subagentType: string; taskId: string }): Promise<void> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  const { projectId } = ctx.actor
  await inProject(ctx, async (tx) => {
    const task = await tasks.findTask(tx, reservation.taskId)
    if (task === null) throw notFound('task')
    requireOpenTask(task)
    await hooks.insertReservation(tx, projectId, { id: ctx.newId(), ...reservation })
  })
}

/** Forgets what a session has named for sub-agents that did not begin. @throws DomainError `forbidden` */
export async function releaseHookTasks(ctx: Ctx, sessionId: string): Promise<void> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  await inProject(ctx, (tx) => hooks.deleteWaitingReservations(tx, ctx.actor.projectId, sessionId))
}

/**
 * Gives a sub-agent of Claude Code that begins the task that was reserved for the next one of its type. Answers the task; null where nothing was
 * reserved. A task that has ended or is blocked by now is not assigned, and its reservation ends.
 *
 * No credential comes with it: inside of Claude Code a sub-agent speaks with the credential of the whole.
 *
 * @throws DomainError `forbidden`
 */
export async function bindHookTask(
  ctx: Ctx,
  binding: { sessionId: string; subagentType: string; boundSessionId: string },
): Promise<{ taskId: string; isAssigned: boolean } | null> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  return await inProject(ctx, async (tx) => {
    const taskId = await hooks.takeReservation(tx, ctx.actor.projectId, binding)
    if (taskId === null) return null
    const task = await tasks.lockTask(tx, taskId)
    if (task === null || isTerminalTask(task.status) || task.status === 'blocked') return { taskId, isAssigned: false }
    await assignLockedTask(ctx, tx, task, binding.boundSessionId, null)
    return { taskId, isAssigned: true }
  })
}
