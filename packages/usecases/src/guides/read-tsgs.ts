import { type TsgSummary, tsgs, tsgUses } from '@muster/db'
import { notFound, requireScope, type Tsg, type TsgSeverity, type TsgUsage } from '@muster/domain'
import { type Ctx, inProject, reading, readingMany } from '../core/ctx.ts'
import { cursorInvalid, type Page, page } from '../core/page.ts'

export const ALL_TSG_USES = ['surfaced', 'read', 'resolved', 'unresolved'] as const

/**
 * A guide. Asked for in the name of a session, as a sub-agent's own credential always does, it counts as read.
 *
 * @param isAgent whether an agent reads it, also where its session is not known
 * @throws DomainError `not_found`
 */
export async function getTsg(
  ctx: Ctx,
  tsgId: string,
  { sessionId, isAgent = false }: { sessionId?: string | undefined; isAgent?: boolean } = {},
): Promise<Tsg> {
  requireScope(ctx.actor, 'tsgs:read')
  const { projectId, lineage } = ctx.actor
  const reader = lineage?.sessionId ?? sessionId
  const tsg = await inProject(ctx, async (tx) => {
    const found = await tsgs.findTsg(tx, projectId, tsgId)
    if (found !== null && (isAgent || reader !== undefined)) {
      await tsgUses.insertTsgUses(tx, projectId, [{ id: ctx.newId(), tsgId, kind: 'read', sessionId: reader ?? null, taskId: lineage?.taskId ?? null }])
    }
    return found
  })
  if (tsg === null) throw notFound('guide')
  return tsg
}

export interface TsgQuery {
  /** Words that it has to contain. */
  q?: string | undefined
  technology?: string | undefined
  severity?: TsgSeverity | undefined
  limit: number
  cursor?: string | undefined
}

/** Newest first, without their contents. */
export async function listTsgs(ctx: Ctx, query: TsgQuery): Promise<Page<TsgSummary>> {
  requireScope(ctx.actor, 'tsgs:read')
  const before = query.cursor === undefined ? undefined : readCursor(query.cursor)
  const items = await readingMany(ctx, (tx) => tsgs.listTsgs(tx, ctx.actor.projectId, { ...query, before, limit: query.limit + 1 }))
  return page(items, query.limit, (last) => `${last.createdAt.getTime()}-${last.tsgId}`)
}

const CURSOR = /^(\d{1,13})-([a-z0-9][a-z0-9-]{0,63})$/

function readCursor(cursor: string): { createdAt: Date; tsgId: string } {
  const [, at, tsgId] = CURSOR.exec(cursor) ?? []
  if (at === undefined || tsgId === undefined) throw cursorInvalid()
  return { createdAt: new Date(Number(at)), tsgId }
}

/** What became of a guide. @throws DomainError `not_found` */
export async function getTsgUsage(ctx: Ctx, tsgId: string): Promise<TsgUsage> {
  requireScope(ctx.actor, 'tsgs:read')
  const { projectId } = ctx.actor
  return await reading(ctx, async (tx) => {
    if ((await tsgs.findTsg(tx, projectId, tsgId)) === null) throw notFound('guide')
    return (await tsgUses.countTsgUses(tx, projectId, [tsgId], ALL_TSG_USES)).get(tsgId) as TsgUsage
  })
}
