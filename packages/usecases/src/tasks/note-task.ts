import { tasks, type Update } from '@muster/db'
import { notFound, requireController, requireScope } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'
import { requireOpen } from './finish-task.ts'
import { queueTaskUpdate } from './queue-task-update.ts'

/**
 * Sends a note to whoever holds a task, without changing the brief. Before anybody does, it waits for the first.
 *
 * @throws DomainError `not_found`, `invalid_transition` once it has ended
 */
export async function noteTask(ctx: Ctx, id: string, content: string): Promise<Update> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  return await inProject(ctx, async (tx) => {
    const task = await tasks.lockTask(tx, id)
    if (task === null) throw notFound('task')
    requireOpen(task)
    return await queueTaskUpdate(ctx, tx, task, { type: 'note', content, revision: task.revision, actor: ctx.actor })
  })
}
