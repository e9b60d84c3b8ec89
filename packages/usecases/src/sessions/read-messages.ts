import { sessionMessages } from '@muster/db'
import { isUuid, requireOwnSession, requireScope, type SessionMessage } from '@muster/domain'
import { type Ctx, reading } from '../core/ctx.ts'
import { cursorInvalid, type Page, page } from '../core/page.ts'

/** The messages of a session, newest first. */
export async function listMessages(ctx: Ctx, sessionId: string, query: { limit: number; cursor?: string | undefined }): Promise<Page<SessionMessage>> {
  requireScope(ctx.actor, 'sessions:write')
  requireOwnSession(ctx.actor, sessionId)
  const beforeId = query.cursor
  if (beforeId !== undefined && !isUuid(beforeId)) throw cursorInvalid()
  const items = await reading(ctx, (tx) => sessionMessages.listMessages(tx, ctx.actor.projectId, sessionId, { beforeId, limit: query.limit + 1 }))
  return page(items, query.limit, (last) => last.id)
}
