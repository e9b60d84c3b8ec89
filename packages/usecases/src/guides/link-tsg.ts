import { type Tx, tasks, tsgs } from '@muster/db'
import { diffBrief, notFound, requireController, requireScope, type Task } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import { lockOpenTask } from '../tasks/finish-task.ts'
import { recordRevision } from '../tasks/revise-task.ts'

/**
 * Makes a guide part of a task's brief. Doing it again changes nothing. [B5] attach_tsg
 *
 * @throws DomainError `not_found`, also for the guide, `invalid_transition` once the task has ended
 */
export function linkTsgToTask(ctx: Ctx, taskId: string, tsgId: string): Promise<Task> {
  return changeLink(ctx, taskId, async (tx) => {
    const [guide] = await tsgs.lockTsgs(tx, ctx.actor.projectId, [tsgId])
    if (guide === undefined) throw notFound('troubleshooting guide')
    return await tsgs.linkTsg(tx, ctx.actor.projectId, taskId, tsgId)
  })
}

/**
 * Removes a guide from a task's brief. Doing it again changes nothing.
 *
 * @throws DomainError `not_found`, `invalid_transition` once the task has ended
 */
export function unlinkTsgFromTask(ctx: Ctx, taskId: string, tsgId: string): Promise<Task> {
  return changeLink(ctx, taskId, (tx) => tsgs.unlinkTsg(tx, ctx.actor.projectId, taskId, tsgId))
}

async function changeLink(ctx: Ctx, taskId: string, change: (tx: Tx) => Promise<boolean>): Promise<Task> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  return await inProject(ctx, async (tx) => {
    const locked = await lockOpenTask(tx, taskId)
    const before = (await tasks.findTask(tx, taskId)) as Task
    if (!(await change(tx))) return before
    const revision = await tasks.writeRevisedTask(tx, taskId, {})
    const diff = diffBrief(before, (await tasks.findTask(tx, taskId)) as Task)
    return (await recordRevision(ctx, tx, { ...locked, revision }, diff, ctx.actor)).task
  })
}
