import { type DeliveryStatus, GIVE_UP_SECONDS, RECEIVER_KINDS, type ReceiverKind } from '@muster/domain'
import { and, desc, eq, getTableColumns, gte, lt, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { deliveries } from '../../schema/deliveries.ts'
import { planForValues } from '../core/lists.ts'
import { subjectKey } from '../events/events.ts'

const { body: _, ...COLUMNS } = getTableColumns(deliveries)

type DeliveryRow = typeof deliveries.$inferSelect
export type Delivery = DeliveryRow & {
  /** What its event is about; null for a test. */
  subject: { kind: string; id: string } | null
}
/** As lists show it. */
export type DeliverySummary = Omit<Delivery, 'body'>

const subject = sql<Delivery['subject']>`${deliveries.body}::json -> 'subject'`
const WHOLE = { ...getTableColumns(deliveries), subject }

export interface DeliveryFilter {
  receiverId?: string | undefined
  receiverKind?: ReceiverKind | undefined
  status?: DeliveryStatus | undefined
  /** An id, or the name of a guide. */
  subject?: string | undefined
  /** Made then or later. */
  since?: Date | undefined
  beforeId?: string | undefined
  limit: number
}

/**
 * Newest first. Each combination of filters reads an index from its newest end, so that a page costs what it shows; deliveries of all kinds are merged. It
 * is planned for its values: a plan for all of them would search the whole log for a kind or a status that there is none of.
 */
export async function listDeliveries(tx: Tx, projectId: string, filter: DeliveryFilter): Promise<DeliverySummary[]> {
  const { receiverId, receiverKind, status, since, beforeId, limit } = filter
  await planForValues(tx)
  const isNarrow = receiverId !== undefined || filter.subject !== undefined || status === 'failed'
  const pageOf = (kind: ReceiverKind | undefined) =>
    tx.orm
      .select({ ...COLUMNS, subject: subject.as('subject') })
      .from(deliveries)
      .where(
        and(
          eq(deliveries.projectId, projectId),
          kind === undefined ? undefined : eq(deliveries.kind, kind),
          receiverId === undefined ? undefined : eq(deliveries.receiverId, receiverId),
          status === undefined ? undefined : eq(deliveries.status, status),
          filter.subject === undefined ? undefined : eq(deliveries.subjectId, subjectKey(filter.subject)),
          since === undefined ? undefined : gte(deliveries.id, firstIdSince(since)),
          beforeId === undefined ? undefined : lt(deliveries.id, beforeId),
        ),
      )
      .orderBy(desc(deliveries.id))
      .limit(limit)
  if (isNarrow || receiverKind !== undefined) return await pageOf(receiverKind)
  const pages = await Promise.all(RECEIVER_KINDS.map(pageOf))
  return pages
    .flat()
    .sort((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, limit)
}

/** Ids begin with the milliseconds at which they were made. */
function firstIdSince(at: Date): string {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

export async function findDelivery(tx: Tx, projectId: string, id: string): Promise<Delivery | null> {
  const [row] = await tx.orm
    .select(WHOLE)
    .from(deliveries)
    .where(and(eq(deliveries.projectId, projectId), eq(deliveries.id, id)))
  return row ?? null
}

const FROM_NOW = { dueAt: sql`muster_now()`, giveUpAt: sql`muster_now() + ${GIVE_UP_SECONDS} * interval '1 second'` }

/** A delivery that belongs to no event. */
export async function insertTest(
  tx: Tx,
  row: Pick<DeliveryRow, 'projectId' | 'id' | 'receiverId' | 'kind' | 'destinationId' | 'type' | 'body'>,
): Promise<Delivery> {
  const [inserted] = await tx.orm
    .insert(deliveries)
    .values({ ...row, isOrdered: false, giveUpAt: FROM_NOW.giveUpAt })
    .returning(WHOLE)
  return inserted as Delivery
}

/** Makes a delivery due now, and lets it begin its attempts anew; null while a worker sends it. */
export async function sendAgain(tx: Tx, projectId: string, id: string): Promise<Delivery | null> {
  const [row] = await tx.orm
    .update(deliveries)
    .set({ ...FROM_NOW, status: 'pending', rung: 0, endedAt: null, endedReason: null })
    .where(and(eq(deliveries.projectId, projectId), eq(deliveries.id, id), sql`${deliveries.status} <> 'sending'`))
    .returning(WHOLE)
  return row ?? null
}
