import { tasks } from '@muster/db'
import { notFound, requireController, requireOpenTask, requireScope, type Task } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'
import { isHeldByEndedRun } from './decide-review.ts'
import { cancelSubtaskOf, finishTask } from './finish-task.ts'

/**
 * Gives a task up as failed, from every state that is not terminal.
 *
 * @throws DomainError `not_found`, `invalid_transition` once it has ended
 */
export function failTask(ctx: Ctx, id: string, reason: string): Promise<Task> {
  return endTask(ctx, id, 'failed', reason)
}

/**
 * Calls a task off, from every state that is not terminal, and with it the subtask that runs it.
 *
 * @throws DomainError `not_found`, `invalid_transition` once it has ended
 */
export function cancelTask(ctx: Ctx, id: string, reason: string | null): Promise<Task> {
  return endTask(ctx, id, 'cancelled', reason)
}

async function endTask(ctx: Ctx, id: string, status: 'failed' | 'cancelled', reason: string | null): Promise<Task> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  return await inProject(ctx, async (tx) => {
    const task = await tasks.lockTask(tx, id)
    if (task === null) throw notFound('task')
    requireOpenTask(task)
    // The end of the run was reported as completed. That its task then failed or was cancelled is another report.
    const held = (await isHeldByEndedRun(tx, task)) ? { ...task, subtaskId: null } : task
    await finishTask(ctx, tx, held, { status, lastError: reason }, ctx.actor)
    await cancelSubtaskOf(ctx, tx, task, ctx.actor)
    return (await tasks.findTask(tx, id)) as Task
  })
}
