import { failLease } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { presentSubtask, subtaskSchema } from '../subtasks/subtask-schema.ts'
import { failSchema, toUsage } from './lease-schema.ts'

export const failLeaseEndpoint = endpoint({
  operationId: 'failSubtask',
  method: 'POST',
  path: '/subtasks/{id}/fail',
  tag: 'Outside workers',
  summary: 'Fail an attempt',
  description: 'A retryable failure returns the subtask to pending until `max_attempts` is reached. Any other failure ends the subtask.',
  access: 'subtasks:claim',
  needsNoRoom: 'accepted work goes on',
  unaudited: 'the traffic of an outside worker, fenced by its lease; the events of the subtask name the worker',
  params: idParams('subtask'),
  body: failSchema,
  repairsText: true,
  answers: { 200: { description: 'The subtask as it is now.', schema: subtaskSchema } },
  errors: ['not_found', 'lease_lost'],
  handle: ({ ctx, params, body }) =>
    failLease(ctx, params.id, { leaseToken: body.lease_token, error: body.error, retryable: body.retryable, usage: toUsage(body.usage) }),
  answer: (subtask) => ({ status: 200, body: presentSubtask(subtask) }),
})
