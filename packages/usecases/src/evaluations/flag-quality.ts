import { evaluationReads, qualityFlags, subtasks, type Tx, tasks } from '@muster/db'
import { notFound, type Quality, type QualityFlag, requireController, requireScope, TRAINING_CANDIDACY } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'

/**
 * Flags the quality of a task or a subtask and replaces the previous flag; for a task, also the assistant's messages about it and
 * those in the sessions of its subtasks. excellent and good make it a training example, needs_work and bad remove it. A sub-agent's
 * credential may not flag, because it would flag its own work.
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
    // First, because one of two concurrent calls waits here for the other.
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
