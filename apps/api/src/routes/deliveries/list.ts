import { listDeliveries } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { pageQuery, printableId, uuid } from '../../http/schemas.ts'
import { deliveryListSchema, deliveryStatusSchema, presentDeliverySummary, receiverKindSchema } from './delivery-schema.ts'

export const listDeliveriesEndpoint = endpoint({
  operationId: 'listDeliveries',
  method: 'GET',
  path: '/deliveries',
  tag: 'Deliveries',
  summary: 'List the deliveries',
  description: 'Newest first: what was sent to webhooks, callbacks and channels of the project, also removed ones, and what they answered.',
  access: 'webhooks:write',
  query: z.strictObject({
    ...pageQuery,
    receiver_kind: receiverKindSchema.optional(),
    receiver_id: uuid('Only deliveries to this one.').optional(),
    status: deliveryStatusSchema.optional(),
    subject: printableId(
      'Only events of this subject: the id of a subtask, task, schedule or evaluation, or the `tsg_id` of a guide.',
      '0198c9a1-0000-7000-8000-000000000001',
    ).optional(),
    since: z.iso
      .datetime({ offset: true })
      .transform((value) => new Date(value))
      .optional()
      .describe('Only deliveries that were made at this time or later.')
      .meta({ examples: ['2026-03-01T00:00:00Z'] }),
  }),
  answers: { 200: { description: 'A page of deliveries.', schema: deliveryListSchema } },
  errors: ['cursor_invalid'],
  handle: ({ ctx, query: { receiver_kind: receiverKind, receiver_id: receiverId, ...query } }) =>
    listDeliveries(ctx, null, { ...query, receiverKind, receiverId }),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentDeliverySummary), next_cursor: nextCursor } }),
})
