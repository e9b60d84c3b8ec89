import { answerQuestion } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { newAnswerSchema, presentQuestion, questionSchema, toAnswer } from './question-schema.ts'

export const answerQuestionEndpoint = endpoint({
  operationId: 'answerQuestion',
  method: 'POST',
  path: '/questions/{id}/answer',
  tag: 'Questions',
  summary: 'Answer a question',
  description: 'The first answer counts; another one is a `conflict` that names who answered. The run or assignee receives the answer once, as an update.',
  access: 'tasks:write',
  needsNoRoom: 'accepted work goes on',
  params: idParams('question'),
  body: newAnswerSchema,
  answers: { 200: { description: 'The answered question.', schema: questionSchema } },
  errors: ['not_found', 'conflict', 'invalid_transition', 'revision_stale'],
  handle: ({ ctx, params, body: { revision, ...answer } }) => answerQuestion(ctx, params.id, { ...toAnswer(answer), revision }),
  answer: (question) => ({ status: 200, body: presentQuestion(question) }),
})
