import { drainWorker } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, toTime } from '../../http/schemas.ts'
import { drainSchema, newDrainSchema } from './worker-schema.ts'

export const drainWorkerEndpoint = endpoint({
  operationId: 'drainWorker',
  method: 'POST',
  path: '/workers/{id}/drain',
  tag: 'Workers',
  summary: 'Drain a worker',
  description:
    'Asks a worker to take no more work, which it obeys within half a second: it finishes or releases its runs and then shows `drained` in `GET /workers`. It never takes work again, and stays until it is stopped. `release` after `finish` releases what still runs. The key has to be one of the default project.',
  access: 'admin',
  params: idParams('worker'),
  body: newDrainSchema,
  bodyOptional: true,
  needsNoRoom: 'it ends work',
  answers: { 202: { description: 'The worker will drain.', schema: drainSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params, body }) => drainWorker(ctx, params.id, body.runs),
  answer: ({ workerId, drain, requestedAt }) => ({ status: 202, body: { worker_id: workerId, runs: drain, requested_at: toTime(requestedAt) } }),
})
