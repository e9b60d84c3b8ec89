import { listSteps } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, pageQuery } from '../../http/schemas.ts'
import { presentStep, stepListSchema } from './step-schema.ts'

export const listStepsEndpoint = endpoint({
  operationId: 'listSubtaskSteps',
  method: 'GET',
  path: '/subtasks/{id}/steps',
  tag: 'Subtasks',
  summary: 'Read the transcript',
  description: 'The steps of the runner over all attempts, oldest first.',
  access: 'subtasks:read',
  params: idParams('subtask'),
  query: z.strictObject(pageQuery),
  answers: { 200: { description: 'A page of steps.', schema: stepListSchema } },
  errors: ['not_found', 'cursor_invalid'],
  handle: ({ ctx, params, query }) => listSteps(ctx, params.id, query),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentStep), next_cursor: nextCursor } }),
})
