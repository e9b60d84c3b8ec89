import { releaseLease } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { presentSubtask, subtaskSchema } from '../subtasks/subtask-schema.ts'
import { releaseSchema } from './lease-schema.ts'

export const releaseLeaseEndpoint = endpoint({
  operationId: 'releaseSubtask',
  method: 'POST',
  path: '/subtasks/{id}/release',
  tag: 'Outside workers',
  summary: 'Release a lease',
  description: 'Returns the subtask to pending without counting a failure. Use it at shutdown.',
  access: 'subtasks:claim',
  needsNoRoom: 'accepted work goes on',
  unaudited: 'the traffic of an outside worker, fenced by its lease; the events of the subtask name the worker',
  params: idParams('subtask'),
  body: releaseSchema,
  answers: { 200: { description: 'The subtask as it is now.', schema: subtaskSchema } },
  errors: ['not_found', 'lease_lost'],
  handle: ({ ctx, params, body }) => releaseLease(ctx, params.id, { leaseToken: body.lease_token }),
  answer: (subtask) => ({ status: 200, body: presentSubtask(subtask) }),
})
