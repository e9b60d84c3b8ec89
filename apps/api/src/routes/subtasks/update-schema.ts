import type { Update } from '@muster/usecases'
import { z } from 'zod'
import { component, formerly, listComponent, referenceSchema, time, toTime, toTimeOrNull } from '../../http/schemas.ts'

export const deliverySchema = component(
  'Delivery',
  z
    .enum(['next_step', 'interrupt'])
    .describe('next_step: before the next step. interrupt: stop the current step and deliver this first, if the runner supports it.'),
)

const updateTypeSchema = component('UpdateType', z.enum(['instructions', 'acceptance_criteria', 'context', 'note', 'revision_request']))

const updateStatusSchema = component(
  'UpdateStatus',
  z
    .enum(['queued', 'delivered', 'acknowledged', 'superseded', 'expired'])
    .describe(
      'The receipt. delivered: the agent received it. acknowledged: the agent confirmed it. superseded: a newer delivery replaced it. expired: the work ended before delivery.',
    ),
)

export const senderSchema = referenceSchema

export const updateSchema = component(
  'Update',
  z.object({
    id: z.uuid(),
    update_id: formerly(z.uuid(), 'id'),
    subtask_id: z.uuid().nullable(),
    task_id: z.uuid().nullable(),
    update_type: updateTypeSchema,
    fields: z.array(z.string()),
    content: z.string(),
    diff: z.unknown().describe('The change of the brief; null for a note.'),
    revision: z.int().nullable(),
    sender: senderSchema,
    delivery: deliverySchema,
    status: updateStatusSchema,
    delivered_to: z.string().nullable().describe('The session that received it.'),
    created_at: time(),
    delivered_at: time().nullable(),
    acknowledged_at: time('When the agent took it in.').nullable(),
  }),
  {
    id: '0198c9a3-11b2-7d4e-8a55-0c9e7d1f3b20',
    update_id: '0198c9a3-11b2-7d4e-8a55-0c9e7d1f3b20',
    subtask_id: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47',
    task_id: null,
    update_type: 'note',
    fields: [],
    content: 'Leave out the test files.',
    diff: null,
    revision: null,
    sender: { kind: 'key', id: '0198c9a0-0000-7000-8000-00000000000a', name: 'planner' },
    delivery: 'next_step',
    status: 'queued',
    delivered_to: null,
    created_at: '2026-03-02T08:00:05.000Z',
    delivered_at: null,
    acknowledged_at: null,
  },
)

export const updateListSchema = listComponent('UpdateList', updateSchema)

export function presentSender({ kind, id, name = null }: Update['sender']): z.output<typeof senderSchema> {
  return { kind, id, name }
}

export function presentUpdate(update: Update): z.output<typeof updateSchema> {
  return {
    id: update.updateId,
    update_id: update.updateId,
    subtask_id: update.subtaskId,
    task_id: update.taskId,
    update_type: update.updateType as z.output<typeof updateTypeSchema>,
    fields: update.fields,
    content: update.content,
    diff: update.diff,
    revision: update.revision,
    sender: presentSender(update.sender),
    delivery: update.delivery,
    status: update.status,
    delivered_to: update.deliveredTo,
    created_at: toTime(update.createdAt),
    delivered_at: toTimeOrNull(update.deliveredAt),
    acknowledged_at: toTimeOrNull(update.acknowledgedAt),
  }
}
