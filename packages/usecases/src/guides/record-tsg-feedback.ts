import { outbox, tsgs, tsgUses } from '@muster/db'
import { requireFound, requireScope, type TsgUsage } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import { ALL_TSG_USES } from './read-tsgs.ts'

/**
 * Records whether a guide helped, and returns its id and usage counts. The scope `tsgs:read` is enough, because sub-agents give this feedback.
 * [B5] mark_tsg_helpful
 *
 * @throws DomainError `not_found`
 */
export async function recordTsgFeedback(
  ctx: Ctx,
  tsgId: string,
  feedback: { resolved: boolean; sessionId?: string | undefined; taskId?: string | undefined },
): Promise<{ tsgId: string; usage: TsgUsage }> {
  requireScope(ctx.actor, 'tsgs:read')
  const { projectId, lineage } = ctx.actor
  const sessionId = lineage?.sessionId ?? feedback.sessionId ?? null
  const taskId = lineage?.taskId ?? feedback.taskId ?? null
  return await inProject(ctx, async (tx) => {
    const tsg = requireFound(await tsgs.findTsg(tx, projectId, tsgId), 'guide')
    await tsgUses.insertTsgUses(tx, projectId, [{ id: ctx.newId(), tsgId, kind: feedback.resolved ? 'resolved' : 'unresolved', sessionId, taskId }])
    if (feedback.resolved) {
      const data = { tsg_id: tsgId, title: tsg.title, session_id: sessionId, task_id: taskId }
      await outbox.publish(tx, projectId, [{ type: 'tsg.resolved', subject: { kind: 'tsg', id: tsgId }, data, actor: ctx.actor }])
      tx.afterCommit(() => ctx.notifier.notify('outbox'))
    }
    const counted = await tsgUses.countTsgUses(tx, projectId, [tsgId], ALL_TSG_USES)
    return { tsgId, usage: counted.get(tsgId) as TsgUsage }
  })
}
