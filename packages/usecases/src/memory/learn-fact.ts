import { memory } from '@muster/db'
import { DomainError, type Fact, requireScope } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'

export interface NewFact {
  content: string
  tags?: readonly string[] | undefined
  sourceSubtaskId?: string | null | undefined
}

/**
 * Keeps a fact, which every search of the project finds from the commit on. Where a subtask says it, by its own credential, it is the source,
 * whatever it says of that itself; the agent is the caller's own, else the source's.
 *
 * @throws DomainError `validation_failed` where the source is no subtask of the project
 */
export async function learnFact(ctx: Ctx, { content, tags = [], sourceSubtaskId }: NewFact): Promise<Fact> {
  requireScope(ctx.actor, 'memory:write')
  const { actor } = ctx
  const source = actor.lineage?.subtaskId ?? sourceSubtaskId ?? null
  return await inProject(ctx, async (tx) => {
    const agentOfSource = source === null ? null : await memory.findSourceAgent(tx, actor.projectId, source)
    if (source !== null && agentOfSource === null) throw unknownSource(source)
    return await memory.insertFact(tx, actor.projectId, {
      id: ctx.newId(),
      content,
      tags: [...new Set(tags)],
      agentId: actor.agentId ?? agentOfSource,
      sourceSubtaskId: source,
      author: { kind: actor.kind, id: actor.id },
    })
  })
}

function unknownSource(value: string): DomainError {
  const [field, reason] = ['source_subtask_id', 'is no subtask of this project']
  return new DomainError('validation_failed', `The request has a problem: ${field} ${reason}.`, { errors: [{ pointer: `/${field}`, field, reason, value }] })
}
