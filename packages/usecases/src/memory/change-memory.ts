import { facts, memory } from '@muster/db'
import { DomainError, type Fact, notFound, requireController, requireScope } from '@muster/domain'
import { type Ctx, type Deps, inProject } from '../core/ctx.ts'

export interface NewFact {
  content: string
  tags?: readonly string[] | undefined
  sourceSubtaskId?: string | null | undefined
}

/**
 * Stores a fact; every search of the project finds it from the commit on. With a subtask's own credential, that subtask is the source, whatever
 * `sourceSubtaskId` names. The agent is the caller's own, else the source's.
 *
 * @throws DomainError `validation_failed` where the source is no subtask of the project
 */
export async function learnFact(ctx: Ctx, { content, tags = [], sourceSubtaskId }: NewFact): Promise<Fact> {
  requireScope(ctx.actor, 'memory:write')
  const { actor } = ctx
  const source = actor.lineage?.subtaskId ?? sourceSubtaskId ?? null
  return await inProject(ctx, async (tx) => {
    const agentOfSource = source === null ? null : await facts.findSourceAgent(tx, actor.projectId, source)
    if (source !== null && agentOfSource === null) throw unknownSource(source)
    return await facts.insertFact(tx, actor.projectId, {
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

/** Deletes a fact; a missing one counts as deleted. Sub-agents cannot delete facts. */
export async function deleteFact(ctx: Ctx, id: string): Promise<void> {
  requireScope(ctx.actor, 'memory:write')
  requireController(ctx.actor)
  await inProject(ctx, (tx) => facts.deleteFact(tx, ctx.actor.projectId, id))
}

/**
 * Removes a finished subtask from memory for good. The subtask itself stays as it is.
 *
 * @throws DomainError `not_found`, also while it runs
 */
export async function forgetEpisode(ctx: Ctx, id: string): Promise<void> {
  requireScope(ctx.actor, 'memory:write')
  requireController(ctx.actor)
  await inProject(ctx, async (tx) => {
    if (!(await memory.forgetEpisode(tx, ctx.actor.projectId, id))) throw notFound('episode')
  })
}

/** Events that are read at once: what a pass holds a transaction open for. */
const BATCH = 100
/** Of each second. However many subtasks end, indexing them takes about a tenth of one processor, and they are found a little later. */
const PASS_MS = 100

/** Takes the subtasks that have ended into memory, in the order of their ends. docs/adr/0011 */
export async function rememberEpisodes(deps: Deps): Promise<void> {
  const startedAt = performance.now()
  let read = BATCH
  while (read === BATCH && performance.now() - startedAt < PASS_MS) {
    read = await memory.rememberEpisodes(deps.dispatchDb, BATCH)
  }
}
