import { completeLease } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { presentSubtask, subtaskSchema } from '../subtasks/subtask-schema.ts'
import { completeSchema, toUsage } from './lease-schema.ts'

export const completeLeaseEndpoint = endpoint({
  operationId: 'completeSubtask',
  method: 'POST',
  path: '/subtasks/{id}/complete',
  tag: 'Outside workers',
  summary: 'Complete a subtask',
  description:
    'Ends the attempt with a result. One that is empty, only announces or acknowledges the work, or lacks required outputs is rejected: the subtask returns to pending with the reason as `feedback`, or fails. One that only asks a question ends as `incomplete_blocked` with the question as `error`. Valid required outputs always count as a result.',
  access: 'subtasks:claim',
  needsNoRoom: 'accepted work goes on',
  unaudited: 'the traffic of an outside worker, fenced by its lease; the events of the subtask name the worker',
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
