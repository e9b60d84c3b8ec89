import { auditLog } from '@muster/db'
import { type AuditDoor, type AuditEntry, requireScope } from '@muster/domain'
import { type Ctx, inProject, readingMany } from '../core/ctx.ts'
import { cursorInvalid, type Page, page } from '../core/page.ts'

export interface AuditQuery {
  actorId?: string | undefined
  operation?: string | undefined
  subject?: string | undefined
  door?: AuditDoor | undefined
  since?: Date | undefined
  until?: Date | undefined
}

/** The writes of a project, the latest first. @throws DomainError `forbidden`, `cursor_invalid` */
export async function listAuditEntries(ctx: Ctx, query: AuditQuery & { limit: number; cursor?: string | undefined }): Promise<Page<AuditEntry>> {
  requireScope(ctx.actor, 'admin')
  const { limit, cursor, ...filter } = query
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw cursorInvalid()
  const beyond = cursor === undefined ? undefined : Number(cursor)
  const items = await readingMany(ctx, (tx) => auditLog.listAuditEntries(tx, ctx.actor.projectId, filter, { beyond, order: 'newest_first', limit: limit + 1 }))
  return page(items, limit, (last) => String(last.seq))
}

/** Leaves the entry of what a command of the operator has done to a project, where no use-case of the project did it. */
export async function recordCommand(ctx: Ctx): Promise<void> {
  await inProject(ctx, async () => ({}))
}

const EXPORT_PAGE = 500

/** The writes of a project, the oldest first, in pages that are read as they are asked for. @throws DomainError `forbidden` */
export async function* exportAuditEntries(ctx: Ctx, filter: AuditQuery): AsyncGenerator<AuditEntry[], void, undefined> {
  requireScope(ctx.actor, 'admin')
  let beyond: number | undefined
  for (;;) {
    const items = await readingMany(ctx, (tx) =>
      auditLog.listAuditEntries(tx, ctx.actor.projectId, filter, { beyond, order: 'oldest_first', limit: EXPORT_PAGE }),
    )
    if (items.length > 0) yield items
    if (items.length < EXPORT_PAGE) return
    beyond = items.at(-1)?.seq
  }
}
