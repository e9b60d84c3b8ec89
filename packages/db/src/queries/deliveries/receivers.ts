import { and, count, desc, eq, getTableColumns, inArray, lt, ne, or, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { deliveries } from '../../schema/deliveries.ts'
import { destinations } from '../../schema/destinations.ts'
import { receivers } from '../../schema/receivers.ts'
import { subjectKey, subjectName } from '../events/events.ts'

const { secret: _, previousSecret: __, ...COLUMNS } = getTableColumns(receivers)

/** Without its secrets. */
export type Receiver = Omit<typeof receivers.$inferSelect, 'secret' | 'previousSecret'>
export type Secrets = Pick<typeof receivers.$inferSelect, 'secret' | 'previousSecret' | 'previousUntil'>

export type NewReceiverRow = Pick<
  Receiver,
  'projectId' | 'id' | 'kind' | 'destinationId' | 'url' | 'description' | 'events' | 'agentId' | 'sessionId' | 'isOrdered'
> & {
  /** An id, or the name of a subject that has one instead. */
  subject: string | null
  secret: string | null
}

export async function insertReceiver(tx: Tx, { subject, ...row }: NewReceiverRow): Promise<Receiver> {
  const [inserted] = await tx.orm
    .insert(receivers)
    .values({ ...row, ...subjectColumns(subject) })
    .returning(COLUMNS)
  return inserted as Receiver
}

function subjectColumns(subject: string | null) {
  return { subjectId: subject === null ? null : subjectKey(subject), subjectName: subject === null ? null : subjectName(subject) }
}

const WEBHOOK = eq(receivers.kind, 'webhook')

/** Takes the lock under which the number of webhooks of a project changes, and counts them. */
export async function countWebhooks(tx: Tx, projectId: string): Promise<number> {
  await tx.orm.execute(sql`select pg_advisory_xact_lock(7302, hashtext(${projectId}))`)
  const [row] = await tx.orm
    .select({ count: count() })
    .from(receivers)
    .where(and(eq(receivers.projectId, projectId), ne(receivers.kind, 'callback'), WEBHOOK))
  return row?.count ?? 0
}

/** Newest first. */
export async function listWebhooks(tx: Tx, projectId: string, beforeId: string | undefined, limit: number): Promise<Receiver[]> {
  return await tx.orm
    .select(COLUMNS)
    .from(receivers)
    .where(and(eq(receivers.projectId, projectId), ne(receivers.kind, 'callback'), WEBHOOK, beforeId === undefined ? undefined : lt(receivers.id, beforeId)))
    .orderBy(desc(receivers.id))
    .limit(limit)
}

export async function findWebhook(tx: Tx, projectId: string, id: string): Promise<Receiver | null> {
  const [row] = await tx.orm
    .select(COLUMNS)
    .from(receivers)
    .where(and(eq(receivers.projectId, projectId), eq(receivers.id, id), WEBHOOK))
  return row ?? null
}

/** A receiver of any kind, locked until the commit. */
export async function lockReceiver(tx: Tx, projectId: string, id: string): Promise<Receiver | null> {
  const [row] = await tx.orm
    .select(COLUMNS)
    .from(receivers)
    .where(and(eq(receivers.projectId, projectId), eq(receivers.id, id)))
    .for('update')
  return row ?? null
}

/** Locks a webhook until the commit. */
export async function lockWebhook(tx: Tx, projectId: string, id: string): Promise<(Receiver & Secrets) | null> {
  const [row] = await tx.orm
    .select()
    .from(receivers)
    .where(and(eq(receivers.projectId, projectId), eq(receivers.id, id), WEBHOOK))
    .for('update')
  return row ?? null
}

export type ReceiverChange = Partial<Omit<NewReceiverRow, 'projectId' | 'id' | 'kind' | 'secret'>> & { status?: 'enabled' }

export async function changeReceiver(tx: Tx, projectId: string, id: string, { subject, ...change }: ReceiverChange): Promise<Receiver | null> {
  const isEnabling = change.status === 'enabled' ? { disabledAt: null, disabledReason: null } : {}
  const [row] = await tx.orm
    .update(receivers)
    .set({ ...change, ...isEnabling, ...(subject === undefined ? {} : subjectColumns(subject)) })
    .where(and(eq(receivers.projectId, projectId), eq(receivers.id, id)))
    .returning(COLUMNS)
  return row ?? null
}

type ChannelRow = Pick<typeof receivers.$inferInsert, 'projectId' | 'id' | 'kind' | 'destinationId' | 'events' | 'options' | 'secret'>

/** The receiver of a channel for people, of which a project has one of a kind. */
export async function findChannel(tx: Tx, projectId: string, kind: Receiver['kind']): Promise<Receiver | null> {
  const [row] = await tx.orm
    .select(COLUMNS)
    .from(receivers)
    .where(and(eq(receivers.projectId, projectId), ne(receivers.kind, 'callback'), eq(receivers.kind, kind)))
  return row ?? null
}

export async function insertChannel(tx: Tx, row: ChannelRow): Promise<void> {
  await tx.orm.insert(receivers).values(row)
}

export async function changeChannel(
  tx: Tx,
  projectId: string,
  id: string,
  change: Partial<Pick<ChannelRow, 'destinationId' | 'events' | 'options' | 'secret'>>,
): Promise<void> {
  await tx.orm
    .update(receivers)
    .set(change)
    .where(and(eq(receivers.projectId, projectId), eq(receivers.id, id)))
}

/** The sealed secret of a receiver, which is locked until the commit; null if it is gone. */
export async function lockSecret(tx: Tx, projectId: string, id: string): Promise<string | null> {
  const [row] = await tx.orm
    .select({ secret: receivers.secret })
    .from(receivers)
    .where(and(eq(receivers.projectId, projectId), eq(receivers.id, id)))
    .for('update')
  return row?.secret ?? null
}

/** Gives waiting deliveries of a receiver another destination, at most `limit`. One that is being sent may be named. */
export async function moveDeliveries(
  tx: Tx,
  projectId: string,
  { id, destinationId }: Pick<Receiver, 'id' | 'destinationId'>,
  { toId, limit, heldId }: { toId: string; limit: number; heldId?: string },
): Promise<void> {
  const waiting = waitingOf(tx, projectId, { id, destinationId }, limit)
  const chosen = inArray(deliveries.id, waiting)
  await tx.orm
    .update(deliveries)
    .set({ destinationId: toId })
    .where(heldId === undefined ? chosen : or(chosen, and(eq(deliveries.projectId, projectId), eq(deliveries.id, heldId))))
}

/** Puts a secret before the current one, which stays valid beside it for some seconds. */
export async function replaceSecret(
  tx: Tx,
  projectId: string,
  id: string,
  { overlapSeconds, ...secrets }: { secret: string; previousSecret: string | null; overlapSeconds: number },
): Promise<Receiver | null> {
  const [row] = await tx.orm
    .update(receivers)
    .set({ ...secrets, previousUntil: sql`muster_now() + ${overlapSeconds} * interval '1 second'` })
    .where(and(eq(receivers.projectId, projectId), eq(receivers.id, id)))
    .returning(COLUMNS)
  return row ?? null
}

/** Disables a receiver; null if it was not enabled. */
export async function disableReceiver(tx: Tx, projectId: string, id: string, reason: string): Promise<Receiver | null> {
  const [row] = await tx.orm
    .update(receivers)
    .set({ status: 'disabled', disabledReason: reason, disabledAt: sql`muster_now()` })
    .where(and(eq(receivers.projectId, projectId), eq(receivers.id, id), eq(receivers.status, 'enabled')))
    .returning(COLUMNS)
  return row ?? null
}

export async function deleteReceiver(tx: Tx, projectId: string, id: string): Promise<void> {
  await tx.orm.delete(receivers).where(and(eq(receivers.projectId, projectId), eq(receivers.id, id)))
}

/** The callbacks of some subjects, by their ids or names. */
export async function listCallbacks(tx: Tx, projectId: string, subjects: readonly string[]): Promise<(Receiver & Secrets)[]> {
  return await tx.orm
    .select()
    .from(receivers)
    .where(and(eq(receivers.projectId, projectId), eq(receivers.kind, 'callback'), inArray(receivers.subjectId, subjects.map(subjectKey))))
}

/** Gives the callbacks of one subject to another. */
export async function moveCallbacks(tx: Tx, projectId: string, fromId: string, toId: string): Promise<void> {
  await tx.orm
    .update(receivers)
    .set({ subjectId: toId })
    .where(and(eq(receivers.projectId, projectId), eq(receivers.kind, 'callback'), eq(receivers.subjectId, fromId)))
}

/** Lets deliveries reach a destination again at once. */
export async function closeBreaker(tx: Tx, projectId: string, destinationId: string): Promise<void> {
  await tx.orm.delete(destinations).where(and(eq(destinations.projectId, projectId), eq(destinations.id, destinationId)))
}

/** Gives up deliveries of a receiver that wait, at most `limit`. */
export async function endDeliveriesOf(
  tx: Tx,
  projectId: string,
  { id, destinationId }: Pick<Receiver, 'id' | 'destinationId'>,
  { reason, limit }: { reason: string; limit: number },
): Promise<void> {
  const waiting = waitingOf(tx, projectId, { id, destinationId }, limit)
  await tx.orm.update(deliveries).set({ status: 'failed', endedAt: sql`muster_now()`, endedReason: reason }).where(inArray(deliveries.id, waiting))
}

function waitingOf(tx: Tx, projectId: string, { id, destinationId }: Pick<Receiver, 'id' | 'destinationId'>, limit: number) {
  return tx.orm
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(
      and(eq(deliveries.projectId, projectId), eq(deliveries.destinationId, destinationId), eq(deliveries.receiverId, id), eq(deliveries.status, 'pending')),
    )
    .limit(limit)
    .for('update', { skipLocked: true })
}
