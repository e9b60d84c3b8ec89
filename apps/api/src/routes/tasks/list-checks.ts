import { listTaskChecks } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, pageQuery } from '../../http/schemas.ts'
import { checkRunListSchema, presentCheckRun } from './check-run-schema.ts'

export const listTaskChecksEndpoint = endpoint({
  operationId: 'listTaskChecks',
  method: 'GET',
  path: '/tasks/{id}/checks',
  tag: 'Tasks',
  summary: 'List the executed checks of a task',
  description: 'Newest first. Each has its exit code and the last part of its output.',
  access: 'tasks:read',
  params: idParams('task'),
  query: z.strictObject(pageQuery),
  answers: { 200: { description: 'A page of checks.', schema: checkRunListSchema } },
  errors: ['not_found', 'cursor_invalid'],
  handle: ({ ctx, params, query }) => listTaskChecks(ctx, params.id, query),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentCheckRun), next_cursor: nextCursor } }),
})
