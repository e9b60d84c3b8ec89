import { recordTsgFeedback } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { presentTsgUsage, tsgFeedbackSchema, tsgParams, tsgUsageSchema } from './tsg-schema.ts'

export const recordTsgFeedbackEndpoint = endpoint({
  operationId: 'recordTsgFeedback',
  method: 'POST',
  path: '/tsgs/{tsg_id}/feedback',
  tag: 'Troubleshooting guides',
  summary: 'Record whether a guide helped',
  description: 'A sub-agent’s own credential may call this.',
  access: 'tsgs:read',
  params: tsgParams,
  body: tsgFeedbackSchema,
  needsNoRoom: 'a count is stored',
  answers: { 200: { description: 'Recorded.', schema: tsgUsageSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params, body }) =>
    recordTsgFeedback(ctx, params.tsg_id, { resolved: body.resolved, sessionId: body.session_id ?? undefined, taskId: body.task_id ?? undefined }),
  answer: ({ tsgId, usage }) => ({ status: 200, body: presentTsgUsage(tsgId, usage) }),
})
