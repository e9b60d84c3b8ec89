import { clock, type Delivery, deliveries, type Receiver, receivers } from '@muster/db'
import { requireFound } from '@muster/domain'
import { type Ctx, inProject, reading, readingMany } from '../core/ctx.ts'
import { idInCursor, type Page, page } from '../core/page.ts'
import { requireWebhooks } from './change-webhooks.ts'
import { requireEnabled } from './delivery-log.ts'

/** Newest first. */
export async function listWebhooks(ctx: Ctx, query: { limit: number; cursor?: string | undefined }): Promise<Page<Receiver>> {
  requireWebhooks(ctx)
  const beforeId = idInCursor(query.cursor)
  const items = await readingMany(ctx, (tx) => receivers.listWebhooks(tx, ctx.actor.projectId, beforeId, query.limit + 1))
  return page(items, query.limit, (last) => last.id)
}

/** @throws DomainError `not_found` */
export async function getWebhook(ctx: Ctx, id: string): Promise<Receiver> {
  requireWebhooks(ctx)
  return requireFound(await reading(ctx, (tx) => receivers.findWebhook(tx, ctx.actor.projectId, id)), 'webhook')
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
