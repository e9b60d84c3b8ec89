import { listWorkers } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { pageQuery } from '../../http/schemas.ts'
import { presentWorker, workerListSchema } from './worker-schema.ts'

export const listWorkersEndpoint = endpoint({
  operationId: 'listWorkers',
  method: 'GET',
  path: '/workers',
  tag: 'Workers',
  summary: 'List the workers',
  description:
    'The worker processes of this installation, the latest first. One that died stays for a day as `lost`. Outside workers are not listed. Workers serve all projects, so the key has to be one of the default project.',
  access: 'admin',
  query: z.strictObject(pageQuery),
  answers: { 200: { description: 'A page of workers.', schema: workerListSchema } },
  errors: ['cursor_invalid'],
  handle: ({ ctx, query }) => listWorkers(ctx, query),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentWorker), next_cursor: nextCursor } }),
})
