import { evaluationReads, qualityFlags, subtasks, type Tx, tasks } from '@muster/db'
import { notFound, type Quality, type QualityFlag, requireController, requireScope, TRAINING_CANDIDACY } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'

/**
 * Says of what quality a task or a subtask is, in place of what was said before; of a task, also of everything that the assistant said about
 * it. excellent and good make it an example to learn from, bad takes that back. Nobody flags their own work: a sub-agent's credential may not.
 *
 * @throws DomainError `not_found`
 */
export async function flagQuality(
  ctx: Ctx,
  subject: QualityFlag['subject'],
  { quality, tags }: { quality: Quality; tags: readonly string[] },
): Promise<QualityFlag> {
  requireScope(ctx.actor, 'evaluations:write')
  requireController(ctx.actor)
  const { projectId, kind, id } = ctx.actor
  return await inProject(ctx, async (tx) => {
    const own = await findOwn(tx, subject)
    const flag = {
      subject: own,
      quality,
      tags: [...new Set(tags)],
      trainingCandidate: TRAINING_CANDIDACY[quality],
      evaluationId: await evaluationReads.findLatestEvaluation(tx, projectId, own.kind === 'task' ? { taskId: own.id } : { subtaskId: own.id }),
      author: { kind, id },
    }
    // First, because of two at once the one waits here for the other.
    const stored = await qualityFlags.putFlag(tx, projectId, flag)
    if (own.kind === 'task') await qualityFlags.flagMessages(tx, projectId, flag)
    return stored
  })
}

/** With its id as it is stored, whichever way it was written. */
async function findOwn(tx: Tx, { kind, id }: QualityFlag['subject']): Promise<QualityFlag['subject']> {
  const found = kind === 'task' ? await tasks.findTask(tx, id) : await subtasks.findSubtask(tx, id)
  if (found === null) throw notFound(kind)
  return { kind, id: found.id }
}
