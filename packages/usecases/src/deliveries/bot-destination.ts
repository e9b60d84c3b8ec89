import { receivers, type sending, type Tx, transaction } from '@muster/db'
import { DomainError } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { openSecret } from '../core/secret-box.ts'
import { idOf } from '../core/secrets.ts'

/** Deliveries that are moved in one commit. The others are moved when their turn comes. */
const MOVED_AT_ONCE = 5_000

/**
 * The destination of the chats of a bot, of all projects. Who reads it learns nothing of the token, and who knows the token may use the bot anyway: Telegram
 * makes tokens, with some 200 random bits, which need no slow hash.
 */
export function destinationOfBot(token: string): string {
  return idOf(`telegram/${token}`)
}

/** Moves what waits for a chat from the destination of one bot to that of another. */
export async function moveToBot(tx: Tx, projectId: string, from: { id: string; destinationId: string }, toId: string, heldId?: string): Promise<void> {
  await receivers.changeChannel(tx, projectId, from.id, { destinationId: toId })
  await receivers.moveDeliveries(tx, projectId, from, { toId, limit: MOVED_AT_ONCE, ...(heldId === undefined ? {} : { heldId }) })
}

type Held = Pick<sending.ClaimedDelivery, 'kind' | 'projectId' | 'id' | 'receiverId' | 'destinationId' | 'secret'>

/**
 * Whether a message has the destination of its bot. It has not if its channel was stored before bots were destinations, or got another token since the
 * message was made. `moveHeld` moves it then.
 */
export function isAtItsBot(deps: Deps, { kind, receiverId, destinationId, secret }: Held): boolean {
  if (kind !== 'telegram' || secret === null) return true
  try {
    return destinationOfBot(openSecret(deps, receiverId, secret)) === destinationId
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    // Its attempt says so in the log.
    return true
  }
}

/** Moves a message that a worker holds to the destination of its bot, with those that wait where it did. @throws DomainError `secrets_not_configured` */
export async function moveHeld(deps: Deps, { projectId, id, receiverId, destinationId }: Held): Promise<void> {
  await transaction(deps.db, projectId, async (tx) => {
    // The token may have changed since the claim.
    const sealed = await receivers.lockSecret(tx, projectId, receiverId)
    if (sealed === null) return
    await moveToBot(tx, projectId, { id: receiverId, destinationId }, destinationOfBot(openSecret(deps, receiverId, sealed)), id)
  })
}
