import { deleteTsg } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { tsgParams } from './tsg-schema.ts'

export const deleteTsgEndpoint = endpoint({
  operationId: 'deleteTsg',
  method: 'DELETE',
  path: '/tsgs/{tsg_id}',
  tag: 'Troubleshooting guides',
  summary: 'Delete a guide',
  description: 'Refused while tasks have it, unless it is forced. Its figures are kept, should a guide of this id come again.',
  access: 'tsgs:write',
  params: tsgParams,
  query: z.strictObject({
    force: z
      .enum(['true', 'false', ''])
      .default('false')
      .transform((force) => force !== 'false')
      .describe('Also when tasks have it: it is unlinked from them. The name alone means true.'),
  }),
  answers: { 204: { description: 'Deleted.' } },
  errors: ['not_found', 'tsg_in_use'],
  handle: ({ ctx, params, query }) => deleteTsg(ctx, params.tsg_id, { force: query.force }),
  answer: () => ({ status: 204 }),
})
