import { type InboxItem, inbox } from '@muster/db'
import { notFound, requireOwnSession, requireScope } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'

const MANUAL_LEASE_SECONDS = 60
/** Text of one answer. A single result may have half of it. */
const PAGE_BYTES_MAX = 2_097_152

/**
 * Hands a session the results that wait for it, oldest first, each once. With `manual` they come again after a minute unless
 * acknowledged.
 *
 * @returns `hasMore` when more wait than one answer carries: at most 2 MiB of text, but for a first item that is larger
 */
export async function claimInbox(
  ctx: Ctx,
  sessionId: string,
  request: { limit: number; ack: 'auto' | 'manual' },
): Promise<{ claimId: string | null; items: InboxItem[]; hasMore: boolean }> {
  requireScope(ctx.actor, 'sessions:write')
  requireOwnSession(ctx.actor, sessionId)
  const claimId = ctx.newId()
  const leaseSeconds = request.ack === 'manual' ? MANUAL_LEASE_SECONDS : null
  return await inProject(ctx, async (tx) => {
    const claim = { sessionId, claimId, limit: request.limit, bytesMax: PAGE_BYTES_MAX, leaseSeconds }
    const { items, hasMore } = await inbox.claimInboxItems(tx, ctx.actor.projectId, claim)
    return { claimId: items.length > 0 && request.ack === 'manual' ? claimId : null, items, hasMore }
  })
}

/**
 * Makes a manual claim final; what it no longer held when this arrived comes again. Repeating it changes nothing.
 *
 * @throws DomainError `not_found` for a claim that this session never made, or that has lapsed and gone to another
 */
export async function acknowledgeInbox(ctx: Ctx, sessionId: string, claimId: string): Promise<{ acknowledged: number }> {
  requireScope(ctx.actor, 'sessions:write')
  requireOwnSession(ctx.actor, sessionId)
  return await inProject(ctx, async (tx) => {
    const acknowledged = await inbox.acknowledgeInboxClaim(tx, ctx.actor.projectId, sessionId, claimId)
    if (acknowledged === 0 && !(await inbox.inboxClaimExists(tx, ctx.actor.projectId, sessionId, claimId))) throw notFound('claim')
    return { acknowledged }
  })
}
