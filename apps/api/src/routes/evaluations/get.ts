import { getEvaluation } from '@muster/usecases'
import { endpoint } from '../../endpoint.ts'
import { evaluationSchema, presentEvaluation } from '../../schemas/evaluation.ts'
import { idParams } from '../../schemas/fields.ts'

export const getEvaluationEndpoint = endpoint({
  operationId: 'getEvaluation',
  method: 'GET',
  path: '/evaluations/{id}',
  tag: 'Evaluations',
  summary: 'Read an evaluation',
  description: 'It never changes. A model’s verdicts make an evaluation of their own, which `judge` names.',
  access: 'evaluations:read',
  params: idParams('evaluation'),
  answers: { 200: { description: 'The evaluation.', schema: evaluationSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getEvaluation(ctx, params.id),
  answer: (evaluation) => ({ status: 200, body: presentEvaluation(evaluation) }),
})
