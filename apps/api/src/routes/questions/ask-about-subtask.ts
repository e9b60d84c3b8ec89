import { askAboutSubtask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { newSubtaskQuestionSchema, presentQuestion, questionSchema, toNewQuestion } from './question-schema.ts'

export const askAboutSubtaskEndpoint = endpoint({
  operationId: 'askAboutSubtask',
  method: 'POST',
  path: '/subtasks/{id}/questions',
  tag: 'Questions',
  summary: 'Ask from a running subtask',
  description:
    'Puts the question into the inbox of the parent session. The run goes on and receives the answer as an update, or waits with `GET /questions/{id}?wait_seconds=60`. Needs the subtask’s own credential, the lease token, or the scope `subtasks:write`.',
  access: 'subtasks:read',
  params: idParams('subtask'),
  body: newSubtaskQuestionSchema,
  answers: { 201: { description: 'The question.', schema: questionSchema, headers: ['Location'] } },
  errors: ['not_found', 'invalid_transition', 'lease_lost', 'conflict'],
  handle: ({ ctx, params, body }) => askAboutSubtask(ctx, params.id, { ...toNewQuestion(body), leaseToken: body.lease_token }),
  answer: (question) => ({ status: 201, headers: { location: `/questions/${question.id}` }, body: presentQuestion(question) }),
})
