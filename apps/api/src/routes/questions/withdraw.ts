import { withdrawQuestion } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { presentQuestion, questionSchema } from './question-schema.ts'

export const withdrawQuestionEndpoint = endpoint({
  operationId: 'withdrawQuestion',
  method: 'POST',
  path: '/questions/{id}/withdraw',
  tag: 'Questions',
  summary: 'Withdraw a question',
  description: 'No answer is needed any more. The session that asked may call this with its own credential.',
  access: 'tasks:write',
  params: idParams('question'),
  answers: { 200: { description: 'The withdrawn question.', schema: questionSchema } },
  errors: ['not_found', 'conflict'],
  handle: ({ ctx, params }) => withdrawQuestion(ctx, params.id),
  answer: (question) => ({ status: 200, body: presentQuestion(question) }),
})
