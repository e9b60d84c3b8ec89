import type { DeliveryStatus } from '@muster/domain'
import { GIVE_UP_SECONDS } from '@muster/domain'
import { and, desc, eq, getTableColumns, lt, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { deliveries } from '../../schema/deliveries.ts'

const { body: _, ...COLUMNS } = getTableColumns(deliveries)

export type Delivery = typeof deliveries.$inferSelect
/** As lists show it. */
export type DeliverySummary = Omit<Delivery, 'body'>

export interface DeliveryFilter {
  receiverId: string
  status?: DeliveryStatus | undefined
  beforeId?: string | undefined
  limit: number
}

/** Newest first. */
export async function listDeliveries(tx: Tx, projectId: string, { receiverId, status, beforeId, limit }: DeliveryFilter): Promise<DeliverySummary[]> {
  return await tx.orm
    .select(COLUMNS)
    .from(deliveries)
    .where(
      and(
        eq(deliveries.projectId, projectId),
        eq(deliveries.receiverId, receiverId),
        status === undefined ? undefined : eq(deliveries.status, status),
        beforeId === undefined ? undefined : lt(deliveries.id, beforeId),
      ),
    )
    .orderBy(desc(deliveries.id))
    .limit(limit)
}

export async function findDelivery(tx: Tx, projectId: string, receiverId: string, id: string): Promise<Delivery | null> {
  const [row] = await tx.orm
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.projectId, projectId), eq(deliveries.receiverId, receiverId), eq(deliveries.id, id)))
  return row ?? null
}

const FROM_NOW = { dueAt: sql`muster_now()`, giveUpAt: sql`muster_now() + ${GIVE_UP_SECONDS} * interval '1 second'` }

/** A delivery that belongs to no event. */
export async function insertTest(
  tx: Tx,
  row: Pick<Delivery, 'projectId' | 'id' | 'receiverId' | 'kind' | 'destinationId' | 'type' | 'body'>,
): Promise<Delivery> {
  const [inserted] = await tx.orm
    .insert(deliveries)
    .values({ ...row, isOrdered: false, giveUpAt: FROM_NOW.giveUpAt })
    .returning()
  return inserted as Delivery
}

/** Makes a delivery due now, and lets it begin its attempts anew; null while a worker sends it. */
export async function sendAgain(tx: Tx, projectId: string, id: string): Promise<Delivery | null> {
  const [row] = await tx.orm
    .update(deliveries)
    .set({ ...FROM_NOW, status: 'pending', rung: 0, endedAt: null })
    .where(and(eq(deliveries.projectId, projectId), eq(deliveries.id, id), sql`${deliveries.status} <> 'sending'`))
    .returning()
  return row ?? null
}
