import { askAboutTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { newTaskQuestionSchema, presentQuestion, questionSchema, toNewQuestion } from './question-schema.ts'

export const askAboutTaskEndpoint = endpoint({
  operationId: 'askAboutTask',
  method: 'POST',
  path: '/tasks/{id}/questions',
  tag: 'Questions',
  summary: 'Ask about a task',
  description:
    'Puts the question into the inbox of the parent session. The assignee receives the answer as an update. The assignee’s own credential may call this.',
  access: 'tasks:write',
  params: idParams('task'),
  body: newTaskQuestionSchema,
  answers: { 201: { description: 'The question.', schema: questionSchema, headers: ['Location'] } },
  errors: ['not_found', 'invalid_transition', 'conflict'],
  handle: ({ ctx, params, body }) => askAboutTask(ctx, params.id, toNewQuestion(body)),
  answer: (question) => ({ status: 201, headers: { location: `/questions/${question.id}` }, body: presentQuestion(question) }),
})
