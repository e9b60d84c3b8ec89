import { tsgs } from '@muster/db'
import { notFound, requireScope, type Tsg } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'
import { checkTsgContent, type TsgContent } from './create-tsg.ts'

/**
 * Changes what is given of a guide and leaves the rest; the last write wins. [B5] update_tsg
 *
 * @throws DomainError `not_found`, `validation_failed` for a pattern that cannot be one, also where only `match` changes
 */
export async function updateTsg(ctx: Ctx, tsgId: string, change: { [Field in keyof TsgContent]?: TsgContent[Field] | undefined }): Promise<Tsg> {
  requireScope(ctx.actor, 'tsgs:write')
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    await tsgs.announceTsgChange(tx, projectId)
    const before = await tsgs.findTsg(tx, projectId, tsgId)
    if (before === null) throw notFound('guide')
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
    if (Object.keys(given).length === 0) return before
    return await tsgs.replaceTsg(tx, projectId, { tsgId, ...checkTsgContent({ ...before, ...given }) })
  })
}

/**
 * Puts a guide where it is said to be, new or in place of what is there: the import of what was exported.
 *
 * @throws DomainError `validation_failed` for a pattern that cannot be one
 */
export async function putTsg(ctx: Ctx, tsgId: string, input: TsgContent): Promise<{ tsg: Tsg; created: boolean }> {
  requireScope(ctx.actor, 'tsgs:write')
  const content = checkTsgContent(input)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    await tsgs.announceTsgChange(tx, projectId)
    const inserted = await tsgs.insertTsg(tx, projectId, { tsgId, ...content })
    if (inserted !== null) return { tsg: inserted, created: true }
    return { tsg: await tsgs.replaceTsg(tx, projectId, { tsgId, ...content }), created: false }
  })
}
