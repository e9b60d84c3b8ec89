import { clock, type Delivery, type DeliverySummary, deliveries, type Receiver, receivers } from '@muster/db'
import { type DeliveryStatus, DomainError, requireController, requireFound, requireScope } from '@muster/domain'
import { type Ctx, inProject, reading } from '../core/ctx.ts'
import { idInCursor, type Page, page } from '../core/page.ts'

function requireWebhooks(ctx: Ctx): void {
  requireController(ctx.actor)
  requireScope(ctx.actor, 'webhooks:write')
}

/** Newest first. */
export async function listWebhooks(ctx: Ctx, query: { limit: number; cursor?: string | undefined }): Promise<Page<Receiver>> {
  requireWebhooks(ctx)
  const beforeId = idInCursor(query.cursor)
  const items = await reading(ctx, (tx) => receivers.listWebhooks(tx, ctx.actor.projectId, beforeId, query.limit + 1))
  return page(items, query.limit, (last) => last.id)
}

/** @throws DomainError `not_found` */
export async function getWebhook(ctx: Ctx, id: string): Promise<Receiver> {
  requireWebhooks(ctx)
  return requireFound(await reading(ctx, (tx) => receivers.findWebhook(tx, ctx.actor.projectId, id)), 'webhook')
}

/** The deliveries of a webhook, newest first, without their bodies. @throws DomainError `not_found` */
export async function listDeliveries(
  ctx: Ctx,
  webhookId: string,
  query: { limit: number; cursor?: string | undefined; status?: DeliveryStatus | undefined },
): Promise<Page<DeliverySummary>> {
  requireWebhooks(ctx)
  const beforeId = idInCursor(query.cursor)
  const { projectId } = ctx.actor
  const items = await reading(ctx, async (tx) => {
    const webhook = requireFound(await receivers.findWebhook(tx, projectId, webhookId), 'webhook')
    return await deliveries.listDeliveries(tx, projectId, { receiverId: webhook.id, status: query.status, beforeId, limit: query.limit + 1 })
  })
  return page(items, query.limit, (last) => last.id)
}

/** @throws DomainError `not_found` */
export async function getDelivery(ctx: Ctx, webhookId: string, id: string): Promise<Delivery> {
  requireWebhooks(ctx)
  const { projectId } = ctx.actor
  return await reading(ctx, async (tx) => {
    requireFound(await receivers.findWebhook(tx, projectId, webhookId), 'webhook')
    return requireFound(await deliveries.findDelivery(tx, projectId, webhookId, id), 'delivery')
  })
}

/**
 * Sends a delivery again, with the same id and the same body, and a new signature.
 *
 * @throws DomainError `not_found`, `invalid_transition` if its webhook is disabled, `request_in_progress` while a worker sends it
 */
export async function redeliver(ctx: Ctx, webhookId: string, id: string): Promise<Delivery> {
  requireWebhooks(ctx)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    const webhook = requireFound(await receivers.lockWebhook(tx, projectId, webhookId), 'webhook')
    requireFound(await deliveries.findDelivery(tx, projectId, webhookId, id), 'delivery')
    requireEnabled(webhook)
    const again = await deliveries.sendAgain(tx, projectId, id)
    if (again === null) throw new DomainError('request_in_progress', 'A worker sends this delivery at the moment. Try again shortly.', { retryAfterSeconds: 1 })
    tx.afterCommit(() => ctx.notifier.notify('deliver'))
    return again
  })
}

/** Sends a message of the type `webhook.test`, which belongs to no event. @throws DomainError `not_found`, `invalid_transition` if it is disabled */
export async function testWebhook(ctx: Ctx, webhookId: string): Promise<Delivery> {
  requireWebhooks(ctx)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    const webhook = requireFound(await receivers.lockWebhook(tx, projectId, webhookId), 'webhook')
    requireEnabled(webhook)
    const now = await clock.readClock(tx)
    const body = JSON.stringify({ type: TEST, timestamp: now.toISOString(), project_id: projectId, data: { webhook_id: webhookId } })
    const { kind, destinationId } = webhook
    const delivery = await deliveries.insertTest(tx, { projectId, id: ctx.newId(), receiverId: webhookId, kind, destinationId, type: TEST, body })
    tx.afterCommit(() => ctx.notifier.notify('deliver'))
    return delivery
  })
}

const TEST = 'webhook.test'

function requireEnabled({ status, disabledReason }: Receiver): void {
  if (status === 'enabled') return
  throw new DomainError('invalid_transition', `This webhook is disabled: ${disabledReason} Enable it first, with PATCH {"enabled": true}.`, {
    status_now: status,
  })
}
