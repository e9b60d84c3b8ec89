import { subagents } from '@muster/db'
import { isSubagentName, requireController, requireScope, subagentNotFound } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'

/**
 * Takes back what the API has put under a name: a file or a built-in of that name counts again. Its versions stay, since runs name them.
 *
 * @throws DomainError `subagent_not_found` where the API has put nothing, also where there is a file or a built-in
 */
export async function deleteSubagent(ctx: Ctx, name: string): Promise<void> {
  requireScope(ctx.actor, 'subagents:write')
  requireController(ctx.actor)
  if (!isSubagentName(name)) throw subagentNotFound(name)
  const { projectId } = ctx.actor
  await inProject(ctx, async (tx) => {
    const known = await subagents.lockKnownSubagent(tx, projectId, name)
    if (known === null || known.put === null) throw subagentNotFound(name)
    await subagents.deleteSubagent(tx, projectId, name)
  })
}
