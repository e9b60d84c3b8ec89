import { listTaskRevisions } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, pageQuery } from '../../http/schemas.ts'
import { presentTaskRevision, taskRevisionListSchema } from './task-changes-schema.ts'

export const listTaskRevisionsEndpoint = endpoint({
  operationId: 'listTaskRevisions',
  method: 'GET',
  path: '/tasks/{id}/revisions',
  tag: 'Tasks',
  summary: 'List the revisions of a task',
  description: 'Newest first. Each has its author, its time and what changed.',
  access: 'tasks:read',
  params: idParams('task'),
  query: z.strictObject(pageQuery),
  answers: { 200: { description: 'A page of revisions.', schema: taskRevisionListSchema } },
  errors: ['not_found', 'cursor_invalid'],
  handle: ({ ctx, params, query }) => listTaskRevisions(ctx, params.id, query),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentTaskRevision), next_cursor: nextCursor } }),
})
