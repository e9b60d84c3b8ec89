import { completeLease } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/fields-schemas.ts'
import { presentSubtask, subtaskSchema } from '../subtasks/subtask-schema.ts'
import { completeSchema, toUsage } from './lease-schema.ts'

export const completeLeaseEndpoint = endpoint({
  operationId: 'completeSubtask',
  method: 'POST',
  path: '/subtasks/{id}/complete',
  tag: 'Outside workers',
  summary: 'Hand in a result',
  description:
    'Ends the attempt. A result that is empty, only announces or acknowledges the work, or lacks required outputs (empty ones without a schema count as absent) is refused: the subtask goes back to pending with the reason as `feedback`, or fails. A result that only asks a question ends as `incomplete_blocked` with the question as `error`. Valid required outputs are a result whatever the text announces or asks.',
  access: 'subtasks:claim',
  params: idParams('subtask'),
  body: completeSchema,
  repairsText: true,
  // A result of 1 MiB, escaped as JSON.
  bodyBytesMax: 8 * 1_048_576,
  deadlineMs: 30_000,
  answers: { 200: { description: 'The subtask as it is now.', schema: subtaskSchema } },
  errors: ['not_found', 'lease_lost'],
  handle: ({ ctx, params, body }) =>
    completeLease(ctx, params.id, {
      leaseToken: body.lease_token,
      result: body.result ?? '',
      outputs: body.outputs,
      summary: body.summary,
      usage: toUsage(body.usage),
      blockedReason: body.blocked_reason,
    }),
  answer: (subtask) => ({ status: 200, body: presentSubtask(subtask) }),
})
