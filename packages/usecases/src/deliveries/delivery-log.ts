import { type Delivery, type DeliveryFilter, type DeliverySummary, deliveries, type Receiver, receivers } from '@muster/db'
import { DomainError, requireFound } from '@muster/domain'
import { type Ctx, inProject, reading, readingMany } from '../core/ctx.ts'
import { idInCursor, type Page, page } from '../core/page.ts'
import { requireWebhooks } from './change-webhooks.ts'

/** Names the webhook whose log is looked at. Null for the log of the project: of webhooks, callbacks and channels. */
type WebhookId = string | null

export type DeliveryQuery = Omit<DeliveryFilter, 'receiverId' | 'beforeId'> & { receiverId?: string | undefined; cursor?: string | undefined }

/** Deliveries, newest first, without their bodies; also of receivers that were removed. @throws DomainError `not_found` for a webhook */
export async function listDeliveries(ctx: Ctx, webhookId: WebhookId, { cursor, ...filter }: DeliveryQuery): Promise<Page<DeliverySummary>> {
  requireWebhooks(ctx)
  const beforeId = idInCursor(cursor)
  const { projectId } = ctx.actor
  const items = await readingMany(ctx, async (tx) => {
    if (webhookId !== null) requireFound(await receivers.findWebhook(tx, projectId, webhookId), 'webhook')
    const receiverId = webhookId ?? filter.receiverId
    return await deliveries.listDeliveries(tx, projectId, { ...filter, receiverId, beforeId, limit: filter.limit + 1 })
  })
  return page(items, filter.limit, (last) => last.id)
}

/** @throws DomainError `not_found` */
export async function getDelivery(ctx: Ctx, webhookId: WebhookId, id: string): Promise<Delivery> {
  requireWebhooks(ctx)
  const { projectId } = ctx.actor
  return await reading(ctx, async (tx) => {
    if (webhookId !== null) requireFound(await receivers.findWebhook(tx, projectId, webhookId), 'webhook')
    return requireOf(webhookId, await deliveries.findDelivery(tx, projectId, id))
  })
}

/**
 * Sends a delivery again, with the same id and the same body, and a new signature. The message of a channel is composed from that body again.
 *
 * @throws DomainError `not_found`, `invalid_transition` if its receiver is disabled or was removed, `request_in_progress` while a worker sends it
 */
export async function redeliver(ctx: Ctx, webhookId: WebhookId, id: string): Promise<Delivery> {
  requireWebhooks(ctx)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    if (webhookId !== null) requireFound(await receivers.findWebhook(tx, projectId, webhookId), 'webhook')
    const { receiverId } = requireOf(webhookId, await deliveries.findDelivery(tx, projectId, id))
    requireEnabled(await receivers.lockReceiver(tx, projectId, receiverId))
    const again = await deliveries.sendAgain(tx, projectId, id)
    if (again === null) throw new DomainError('request_in_progress', 'A worker sends this delivery at the moment. Try again shortly.', { retryAfterSeconds: 1 })
    tx.afterCommit(() => ctx.notifier.notify('deliver'))
    return again
  })
}

function requireOf(webhookId: WebhookId, delivery: Delivery | null): Delivery {
  return requireFound(webhookId === null || delivery?.receiverId === webhookId ? delivery : null, 'delivery')
}

/** @throws DomainError `invalid_transition` for a receiver that is disabled or gone */
export function requireEnabled(receiver: Receiver | null): void {
  if (receiver === null) throw new DomainError('invalid_transition', 'The receiver of this delivery was removed, so it cannot be sent again.')
  const { status, disabledReason } = receiver
  if (status === 'enabled') return
  throw new DomainError('invalid_transition', `This webhook is disabled: ${disabledReason} Enable it first, with PATCH {"enabled": true}.`, {
    status_now: status,
  })
}
