import { randomBytes } from 'node:crypto'
import { projects, type Receiver, receivers, type Tx } from '@muster/db'
import {
  DomainError,
  type FieldProblem,
  type OutboundLists,
  requireController,
  requireFound,
  requireScope,
  storedUrlProblem,
  WEBHOOK_SECRET_PREFIX,
  WEBHOOKS_MAX,
} from '@muster/domain'
import { type Ctx, type Deps, inProject } from '../core/ctx.ts'
import { openSecret, sealSecret } from '../core/secret-box.ts'

/** Deliveries that are given up in the commit that disables or deletes a webhook. Maintenance ends the rest. */
const ENDED_AT_ONCE = 5_000
const SECRET_BYTES = 32

export interface WebhookFields {
  url: string
  events: string[]
  description: string | null
  subject: string | null
  agentId: string | null
  sessionId: string | null
  isOrdered: boolean
}

/** A webhook, and its secret where this is the one answer that shows it. */
export interface WebhookWithSecret {
  webhook: Receiver
  secret: string
}

/** @throws DomainError `forbidden` */
export function requireWebhooks(ctx: Ctx): void {
  requireController(ctx.actor)
  requireScope(ctx.actor, 'webhooks:write')
}

/**
 * Registers a webhook. Events from now on are delivered to it.
 *
 * @throws DomainError `validation_failed` for a URL that deliveries may not reach, `conflict` at the limit, `secrets_not_configured`
 */
export async function createWebhook(ctx: Ctx, fields: WebhookFields): Promise<WebhookWithSecret> {
  requireWebhooks(ctx)
  const id = ctx.newId()
  const { projectId } = ctx.actor
  const secret = newWebhookSecret()
  const sealed = sealSecret(ctx, id, secret)
  return await inProject(ctx, async (tx) => {
    await requireReachable(ctx, tx, projectId, fields.url, '/url')
    if ((await receivers.countWebhooks(tx, projectId)) >= WEBHOOKS_MAX) {
      throw new DomainError('conflict', `This project has ${WEBHOOKS_MAX} webhooks, which is the limit. Delete one first.`)
    }
    const webhook = await receivers.insertReceiver(tx, { ...fields, projectId, id, kind: 'webhook', destinationId: id, secret: sealed })
    return { webhook, secret }
  })
}

/** A secret of Standard Webhooks. */
function newWebhookSecret(): string {
  return WEBHOOK_SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** What deliveries of a project may reach beside public addresses. */
export async function outboundListsOf(deps: Deps, tx: Tx, projectId: string): Promise<OutboundLists> {
  const project = await projects.findProject(tx, projectId)
  return { operator: deps.settings.OUTBOUND_ALLOW, project: project?.settings.outbound_allow ?? [] }
}

/** @throws DomainError `validation_failed` for a URL that deliveries may not reach */
export async function requireReachable(deps: Deps, tx: Tx, projectId: string, url: string, pointer: string): Promise<void> {
  const reason = storedUrlProblem(url, await outboundListsOf(deps, tx, projectId))
  if (reason === null) return
  const problem: FieldProblem = { pointer, field: pointer.slice(1).replaceAll('/', '.'), reason, value: url }
  throw new DomainError('validation_failed', `Deliveries cannot go to this URL: ${reason}`, { errors: [problem] })
}

/** What is absent or undefined stays as it is. */
export type WebhookChange = { [Field in keyof WebhookFields]?: WebhookFields[Field] | undefined } & { enabled?: boolean | undefined }

/**
 * Changes a webhook. Deliveries that wait go to the new URL. `enabled: false` gives them up.
 *
 * @throws DomainError `not_found`, `validation_failed`
 */
export async function updateWebhook(ctx: Ctx, id: string, change: WebhookChange): Promise<Receiver> {
  requireWebhooks(ctx)
  const { projectId } = ctx.actor
  const { enabled, ...fields } = change
  return await inProject(ctx, async (tx) => {
    const before = requireFound(await receivers.lockWebhook(tx, projectId, id), 'webhook')
    if (fields.url !== undefined) await requireReachable(ctx, tx, projectId, fields.url, '/url')
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
    const isEnabling = enabled === true && before.status === 'disabled'
    if (Object.keys(given).length > 0 || isEnabling)
      await receivers.changeReceiver(tx, projectId, id, { ...given, ...(isEnabling ? { status: 'enabled' } : {}) })
    if (fields.url !== undefined || isEnabling) await receivers.closeBreaker(tx, projectId, id)
    if (enabled === false && (await receivers.disableReceiver(tx, projectId, id, 'It was disabled by a request.')) !== null) {
      await endDeliveries(tx, before, 'The webhook was disabled.')
    }
    tx.afterCommit(() => ctx.notifier.notify('deliver'))
    return requireFound(await receivers.findWebhook(tx, projectId, id), 'webhook')
  })
}

async function endDeliveries(tx: Tx, receiver: Receiver, reason: string): Promise<void> {
  await receivers.endDeliveriesOf(tx, receiver.projectId, receiver, { reason, limit: ENDED_AT_ONCE })
}

/** Removes a receiver of any kind with what is known of its failures, and gives up what waits for it. Its deliveries stay in the log. */
export async function removeReceiver(tx: Tx, receiver: Receiver, reason: string): Promise<void> {
  await receivers.deleteReceiver(tx, receiver.projectId, receiver.id)
  await endDeliveries(tx, receiver, reason)
  // What callbacks to one host or the chats of a bot share stays.
  if (receiver.kind !== 'callback') await receivers.closeBreaker(tx, receiver.projectId, receiver.id)
}

/** Deletes a webhook; nothing more is sent to it. @throws DomainError `not_found` */
export async function deleteWebhook(ctx: Ctx, id: string): Promise<void> {
  requireWebhooks(ctx)
  const { projectId } = ctx.actor
  await inProject(ctx, async (tx) => {
    const webhook = requireFound(await receivers.lockWebhook(tx, projectId, id), 'webhook')
    await removeReceiver(tx, webhook, 'The webhook was deleted.')
  })
}

/**
 * Gives a webhook another secret. Until the overlap is over, each delivery has a signature of both, so that the receiver can change over at any time.
 *
 * @throws DomainError `not_found`, `secrets_not_configured`
 */
export async function rotateWebhookSecret(ctx: Ctx, id: string, overlapSeconds: number): Promise<WebhookWithSecret> {
  requireWebhooks(ctx)
  const { projectId } = ctx.actor
  const secret = newWebhookSecret()
  return await inProject(ctx, async (tx) => {
    const before = requireFound(await receivers.lockWebhook(tx, projectId, id), 'webhook')
    const webhook = requireFound(
      await receivers.replaceSecret(tx, projectId, id, { secret: sealSecret(ctx, id, secret), previousSecret: before.secret, overlapSeconds }),
      'webhook',
    )
    return { webhook, secret }
  })
}

/** The secrets of a receiver in plain text, the current one first. @throws DomainError `secrets_not_configured` */
export function openSecrets(deps: Deps, { id, secret, previousSecret }: { id: string; secret: string | null; previousSecret: string | null }): string[] {
  return [secret, previousSecret].filter((sealed) => sealed !== null).map((sealed) => openSecret(deps, id, sealed))
}
