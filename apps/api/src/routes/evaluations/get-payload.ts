import { getEvaluationPayload } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { payloadSchema, presentPayload } from './evaluation-schema.ts'

export const getEvaluationPayloadEndpoint = endpoint({
  operationId: 'getEvaluationPayload',
  method: 'GET',
  path: '/evaluations/{id}/payload',
  tag: 'Evaluations',
  summary: 'Read the evaluated output',
  description: 'The complete output, whatever the recommendation is.',
  access: 'evaluations:read',
  params: idParams('evaluation'),
  deadlineMs: 30_000,
  answers: { 200: { description: 'The output.', schema: payloadSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getEvaluationPayload(ctx, params.id),
  answer: (payload) => ({ status: 200, body: presentPayload(payload) }),
})
