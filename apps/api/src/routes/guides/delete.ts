import { deleteTsg } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { expectedTag } from '../../http/if-match.ts'
import { tsgParams, tsgTag } from './tsg-schema.ts'

export const deleteTsgEndpoint = endpoint({
  operationId: 'deleteTsg',
  method: 'DELETE',
  path: '/tsgs/{tsg_id}',
  tag: 'Troubleshooting guides',
  summary: 'Delete a guide',
  description: 'Refused while tasks link the guide, unless `force` is set. Its usage figures are kept for a later guide with the same id.',
  access: 'tsgs:write',
  params: tsgParams,
  query: z.strictObject({
    force: z
      .enum(['true', 'false', ''])
      .meta({ type: 'boolean', enum: undefined })
      .optional()
      .transform((force) => force !== undefined && force !== 'false')
      .describe('Delete the guide even if tasks link it. Without a value: true.'),
  }),
  takesIfMatch: 'optional',
  answers: { 204: { description: 'Deleted.' } },
  errors: ['not_found', 'tsg_in_use', 'revision_stale'],
  handle: ({ ctx, params, query, headers }) => deleteTsg(ctx, params.tsg_id, { force: query.force }, expectedTag(headers, tsgTag)),
  answer: () => ({ status: 204 }),
})
