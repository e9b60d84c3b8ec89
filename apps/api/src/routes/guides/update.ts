import { updateTsg } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { TAG_HEADERS, tagged } from '../../http/entity-tag.ts'
import { expectedTag } from '../../http/if-match.ts'
import { presentTsg, tsgParams, tsgPatchSchema, tsgSchema, tsgTag } from './tsg-schema.ts'

export const updateTsgEndpoint = endpoint({
  operationId: 'updateTsg',
  method: 'PATCH',
  path: '/tsgs/{tsg_id}',
  tag: 'Troubleshooting guides',
  summary: 'Change a guide',
  description: 'Fields that are not sent stay. A list replaces the stored list.',
  access: 'tsgs:write',
  params: tsgParams,
  body: tsgPatchSchema,
  takesIfMatch: 'optional',
  answers: { 200: { description: 'The guide as it is now.', schema: tsgSchema, headers: TAG_HEADERS } },
  errors: ['not_found', 'revision_stale'],
  handle: ({ ctx, params, patched, headers }) => updateTsg(ctx, params.tsg_id, patched, expectedTag(headers, tsgTag)),
  answer: (tsg) => tagged(presentTsg(tsg)),
})
