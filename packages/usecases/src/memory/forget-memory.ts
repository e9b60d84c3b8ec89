import { memory } from '@muster/db'
import { notFound, requireController, requireScope } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'

/** Deletes a fact; one that is not there is deleted already. A sub-agent learns, and takes nothing back. */
export async function deleteFact(ctx: Ctx, id: string): Promise<void> {
  requireScope(ctx.actor, 'memory:write')
  requireController(ctx.actor)
  await inProject(ctx, (tx) => memory.deleteFact(tx, ctx.actor.projectId, id))
}

/**
 * Has memory never bring up a finished subtask again. The subtask itself stays as it is.
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
