import { listEvaluations } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { pageQuery } from '../../http/schemas.ts'
import { evaluationListSchema, presentEvaluationSummary } from './evaluation-schema.ts'

export const listEvaluationsEndpoint = endpoint({
  operationId: 'listEvaluations',
  method: 'GET',
  path: '/evaluations',
  tag: 'Evaluations',
  summary: 'List evaluations',
  description: 'Newest first, without warnings, reflection and verdicts.',
  access: 'evaluations:read',
  query: z.strictObject({
    task_id: z.uuid().optional().describe('Only evaluations about this task.'),
    subtask_id: z.uuid().optional().describe('Only evaluations of the result of this subtask.'),
    ...pageQuery,
  }),
  answers: { 200: { description: 'A page of evaluations.', schema: evaluationListSchema } },
  errors: ['cursor_invalid'],
  handle: ({ ctx, query }) => listEvaluations(ctx, { taskId: query.task_id, subtaskId: query.subtask_id, limit: query.limit, cursor: query.cursor }),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentEvaluationSummary), next_cursor: nextCursor } }),
})
