import { listQuestions } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { pageQuery } from '../../http/schemas.ts'
import { presentQuestion, questionListSchema, questionStatusSchema, sessionFilter } from './question-schema.ts'

export const listQuestionsEndpoint = endpoint({
  operationId: 'listQuestions',
  method: 'GET',
  path: '/questions',
  tag: 'Questions',
  summary: 'List questions',
  description: 'Newest first. A sub-agent’s own credential sees what its session asked.',
  access: 'tasks:read',
  query: z.strictObject({
    status: questionStatusSchema.optional().describe('Only questions in this state.'),
    session_id: sessionFilter,
    task_id: z.uuid().optional().describe('Only questions about this task, also those of the subtasks that run it.'),
    ...pageQuery,
  }),
  queryAliases: { session: 'session_id', task: 'task_id' },
  answers: { 200: { description: 'A page of questions.', schema: questionListSchema } },
  errors: ['cursor_invalid'],
  handle: ({ ctx, query }) =>
    listQuestions(ctx, { status: query.status, session: query.session_id, taskId: query.task_id, limit: query.limit, cursor: query.cursor }),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentQuestion), next_cursor: nextCursor } }),
})
