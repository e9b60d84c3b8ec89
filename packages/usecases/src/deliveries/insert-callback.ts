import { receivers, type Tx } from '@muster/db'
import { CALLBACK_EVENTS } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { sealSecret } from '../core/secret-box.ts'
import { idOf } from '../core/secrets.ts'
import { removeReceiver, requireReachable } from './change-webhooks.ts'

/** Where the end of one subtask or task is sent to, or that of each run of a schedule. */
export interface Callback {
  url: string
  /** Of Standard Webhooks; without it, requests are not signed. */
  secret?: string | undefined
}

/**
 * Registers a callback in the transaction that creates its subject.
 *
 * @throws DomainError `validation_failed` for a URL that deliveries may not reach, `secrets_not_configured`
 */
export async function insertCallback(ctx: Ctx, tx: Tx, subjectId: string, { url, secret }: Callback): Promise<void> {
  const { projectId } = ctx.actor
  await requireReachable(ctx, tx, projectId, url, '/callback/url')
  const id = ctx.newId()
  await receivers.insertReceiver(tx, {
    projectId,
    id,
    kind: 'callback',
    // Callbacks of one host share its capacity and its failures: each of them alone would start anew.
    destinationId: idOf(`${projectId}/${new URL(url).origin}`),
    url,
    description: null,
    events: [...CALLBACK_EVENTS],
    subject: subjectId,
    agentId: null,
    sessionId: null,
    isOrdered: false,
    secret: secret === undefined ? null : sealSecret(ctx, id, secret),
  })
}

/** Gives a subject another callback, or none. Deliveries that wait for the earlier one are given up. */
export async function replaceCallback(ctx: Ctx, tx: Tx, subjectId: string, callback: Callback | null): Promise<void> {
  for (const before of await receivers.listCallbacks(tx, ctx.actor.projectId, subjectId))
    await removeReceiver(tx, before, 'The callback was replaced or removed.')
  if (callback !== null) await insertCallback(ctx, tx, subjectId, callback)
}
