import { requireOwnSession, requireScope } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'
import { surfaceTsgs } from '../guides/surface-tsgs.ts'

/**
 * Leaves a session notices of the guides that know why a tool has failed. By itself, before what is new is handed over: nobody will say again what
 * went wrong, should the handover take too long.
 *
 * @throws DomainError `forbidden`, `not_found` for a sub-agent's own credential in another session than its own
 */
export async function scanHookFailure(ctx: Ctx, sessionId: string, error: string): Promise<void> {
  requireScope(ctx.actor, 'sessions:write')
  requireOwnSession(ctx.actor, sessionId)
  const { actor } = ctx
  await inProject(ctx, (tx) => surfaceTsgs(ctx, tx, { projectId: actor.projectId, actor, sessionId }, [error]))
}
