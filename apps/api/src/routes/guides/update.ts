import { updateTsg } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { presentTsg, tsgParams, tsgPatchSchema, tsgSchema } from './tsg-schema.ts'

export const updateTsgEndpoint = endpoint({
  operationId: 'updateTsg',
  method: 'PATCH',
  path: '/tsgs/{tsg_id}',
  tag: 'Troubleshooting guides',
  summary: 'Change a guide',
  description: 'Fields that are not sent stay. A list replaces the stored list. The last write wins.',
  access: 'tsgs:write',
  params: tsgParams,
  body: tsgPatchSchema,
  answers: { 200: { description: 'The guide as it is now.', schema: tsgSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params, body }) => updateTsg(ctx, params.tsg_id, body),
  answer: (tsg) => ({ status: 200, body: presentTsg(tsg) }),
})
