import { heartbeat } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, toTime } from '../../http/schemas.ts'
import { heartbeatAnswerSchema, heartbeatSchema, presentWordedUpdate, toUsage } from './lease-schema.ts'

export const heartbeatEndpoint = endpoint({
  operationId: 'heartbeat',
  method: 'POST',
  path: '/subtasks/{id}/heartbeat',
  tag: 'Outside workers',
  summary: 'Renew a lease',
  description: 'Renews the lease, reports steps and usage, and returns updates and a cancel request. Send it well before `expires_at`.',
  access: 'subtasks:claim',
  needsNoRoom: 'its steps do, and nothing else of it',
  unaudited: 'the traffic of an outside worker, fenced by its lease; the events of the subtask name the worker',
  params: idParams('subtask'),
  body: heartbeatSchema,
  repairsText: true,
  answers: { 200: { description: 'The lease holds until `expires_at`.', schema: heartbeatAnswerSchema } },
  errors: ['not_found', 'lease_lost', 'quota_exceeded'],
  handle: ({ ctx, params, body }) =>
    heartbeat(ctx, params.id, {
      leaseToken: body.lease_token,
      ackUpdateIds: body.ack_update_ids,
      steps: body.steps.map(({ kind, content }) => ({ kind, content: content ?? null })),
      usage: toUsage(body.usage),
    }),
  answer: (held) => ({
    status: 200,
    body: { expires_at: toTime(held.expiresAt), cancel_requested: held.cancelRequested, updates: held.updates.map(presentWordedUpdate) },
  }),
})
