import { getEvaluation } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { evaluationSchema, presentEvaluation } from './evaluation-schema.ts'

export const getEvaluationEndpoint = endpoint({
  operationId: 'getEvaluation',
  method: 'GET',
  path: '/evaluations/{id}',
  tag: 'Evaluations',
  summary: 'Read an evaluation',
  description: 'An evaluation never changes. The verdicts of a judge are another one, named by `judge`.',
  access: 'evaluations:read',
  params: idParams('evaluation'),
  answers: { 200: { description: 'The evaluation.', schema: evaluationSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getEvaluation(ctx, params.id),
  answer: (evaluation) => ({ status: 200, body: presentEvaluation(evaluation) }),
})
