import { DELIVERY_STATUSES, RECEIVER_KINDS } from '@muster/domain'
import type { Delivery, DeliverySummary } from '@muster/usecases'
import { z } from 'zod'
import { component, listComponent, referenceSchema, time, toTime, toTimeOrNull } from '../../http/schemas.ts'

export const deliveryStatusSchema = component(
  'EventDeliveryStatus',
  z
    .enum(DELIVERY_STATUSES)
    .describe('pending: waits for its next attempt. sending: a worker sends it. delivered: the receiver answered 2xx. failed: given up; it can be sent again.'),
)

export const receiverKindSchema = component(
  'ReceiverKind',
  z.enum(RECEIVER_KINDS).describe('A webhook, the callback of one subtask or task, or a channel of the project.'),
)

const receiverSchema = component(
  'DeliveryReceiver',
  z.object({ kind: receiverKindSchema, id: z.uuid().describe('Of a webhook, its id. Those of callbacks and channels tell them apart.') }),
)

const attemptSchema = component(
  'DeliveryAttempt',
  z.object({
    at: time(),
    status: z.int().nullable().describe('The status of the answer; null if there was none.'),
    latency_ms: z.int(),
    error: z.string().nullable().describe('Why there was no answer, or none that counts.'),
    response: z.string().nullable().describe('The beginning of the answer, at most 1 KiB.'),
  }),
)

const summaryShape = {
  id: z.uuid().describe('The same in all attempts: the header `webhook-id` of webhooks and callbacks.'),
  receiver: receiverSchema,
  subject: referenceSchema.nullable().describe('What the event is about; null for a test.'),
  type: z.string().describe('The type of the event, or `webhook.test`.'),
  event_id: z.int().nullable().describe('The position of the event in the log; null for a test.'),
  status: deliveryStatusSchema,
  attempts: z.array(attemptSchema).describe('The last 20 attempts, oldest first.'),
  next_attempt_at: time('When it is due; while it is pending.').nullable(),
  created_at: time(),
  ended_at: time('When it was delivered or given up.').nullable(),
  ended_reason: z.string().nullable().describe('Why it was given up without another attempt.'),
}

const DELIVERY_EXAMPLE = {
  id: '0198c9b1-0000-7000-8000-00000000000c',
  receiver: { kind: 'webhook' as const, id: '0198c9b0-0000-7000-8000-00000000000b' },
  subject: { kind: 'subtask', id: '0198c9a1-0000-7000-8000-000000000001' },
  type: 'subtask.completed',
  event_id: 1042,
  status: 'delivered' as const,
  attempts: [{ at: '2026-03-02T08:00:09.400Z', status: 204, latency_ms: 38, error: null, response: null }],
  next_attempt_at: null,
  created_at: '2026-03-02T08:00:09.350Z',
  ended_at: '2026-03-02T08:00:09.440Z',
  ended_reason: null,
}

const deliverySummarySchema = component('EventDeliverySummary', z.object(summaryShape), DELIVERY_EXAMPLE)
export const deliveryListSchema = listComponent('EventDeliveryList', deliverySummarySchema)

export const deliverySchema = component(
  'EventDelivery',
  z.object({ ...summaryShape, body: z.string().describe('What is sent, byte for byte; messages of channels are composed from it.') }),
  {
    ...DELIVERY_EXAMPLE,
    body: '{"type":"subtask.completed","timestamp":"2026-03-02T08:00:09.310Z","id":1042,…}',
  },
)

export function presentDeliverySummary(delivery: DeliverySummary): z.output<typeof deliverySummarySchema> {
  return {
    id: delivery.id,
    receiver: { kind: delivery.kind, id: delivery.receiverId },
    subject: delivery.subject,
    type: delivery.type,
    event_id: delivery.eventSeq,
    status: delivery.status,
    attempts: delivery.attempts,
    next_attempt_at: delivery.status === 'pending' ? toTime(delivery.dueAt) : null,
    created_at: toTime(delivery.createdAt),
    ended_at: toTimeOrNull(delivery.endedAt),
    ended_reason: delivery.endedReason,
  }
}

export function presentDelivery(delivery: Delivery): z.output<typeof deliverySchema> {
  return { ...presentDeliverySummary(delivery), body: delivery.body }
}
