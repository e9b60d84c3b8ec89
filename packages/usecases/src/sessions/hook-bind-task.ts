import { hooks, tasks } from '@muster/db'
import { isTerminalTask, requireController, requireScope } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'
import { assignLockedTask } from '../tasks/assign-task.ts'

/**
 * Gives a sub-agent of Claude Code that begins the task that was reserved for the next one of its type. Answers the task; null where nothing was
 * reserved. What has ended since, or waits for others, is given to nobody, and not reserved any more either.
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
