import { DELIVERY_STATUSES, type DeliveryAttempt, type DeliveryStatus, type ReceiverKind } from '@muster/domain'
import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, integer, jsonb, pgTable, smallint, text, uuid } from 'drizzle-orm/pg-core'
import { instant, instantNow, oneOf, projectId } from './columns.ts'

/**
 * One event for one receiver. The relay inserts them in the commit that puts the event into the log, so nothing is delivered from memory. A worker holds
 * a delivery that it sends with a lease; `tries` fences its result.
 */
export const deliveries = pgTable(
  'deliveries',
  {
    projectId: projectId(),
    /** The same in all attempts: receivers recognise a repetition by it. */
    id: uuid().primaryKey(),
    receiverId: uuid().notNull(),
    kind: text().$type<ReceiverKind>().notNull(),
    destinationId: uuid().notNull(),
    /** Null for a test. */
    eventSeq: bigint({ mode: 'number' }),
    type: text().notNull(),
    subjectId: uuid(),
    isOrdered: boolean().notNull(),
    /** A claim found an earlier one of its subject open, and none looks at this one before that has ended. */
    isParked: boolean().notNull().default(false),
    /** It was ordered and has ended: the next claim has the one after it looked at. Set by a trigger, because an earlier version may end it too. */
    freesNext: boolean().notNull().default(false),
    /** What is sent, byte for byte. */
    body: text().notNull(),
    status: text().$type<DeliveryStatus>().notNull().default('pending'),
    /** How often a worker took it. */
    tries: integer().notNull().default(0),
    /** Attempts since it began, or was sent again. */
    rung: smallint().notNull().default(0),
    dueAt: instantNow(),
    giveUpAt: instant().notNull(),
    leaseExpiresAt: instant(),
    attempts: jsonb().$type<DeliveryAttempt[]>().notNull().default([]),
    createdAt: instantNow(),
    endedAt: instant(),
    /** Why it was given up without another attempt, such as a receiver that was removed. */
    endedReason: text(),
  },
  (table) => [
    check('deliveries_status', oneOf('status', DELIVERY_STATUSES)),
    check('deliveries_sending', sql`(status = 'sending') = (lease_expires_at is not null)`),
    check('deliveries_ended', sql`(status in ('pending', 'sending')) = (ended_at is null)`),
    index('deliveries_by_receiver').on(table.projectId, table.receiverId, table.id),
    index('deliveries_by_kind').on(table.projectId, table.kind, table.id),
    index('deliveries_by_subject').on(table.projectId, table.subjectId, table.id),
    index('deliveries_failed').on(table.projectId, table.id).where(sql`status = 'failed'`),
    index('deliveries_by_age').on(table.createdAt),
    index('deliveries_due').on(table.destinationId, table.isParked, table.dueAt, table.id).where(sql`status = 'pending'`),
    index('deliveries_of_bots').on(table.destinationId, table.receiverId, table.dueAt, table.id).where(sql`status = 'pending' and kind = 'telegram'`),
    index('deliveries_free_next').on(table.receiverId, table.subjectId).where(sql`frees_next`),
    index('deliveries_sending').on(table.destinationId).where(sql`status = 'sending'`),
    index('deliveries_in_order').on(table.receiverId, table.subjectId, table.eventSeq).where(sql`is_ordered and status in ('pending', 'sending')`),
  ],
)
