import { createTsg } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { tagged } from '../../http/entity-tag.ts'
import { newTsgSchema, presentTsg, tsgSchema } from './tsg-schema.ts'

export const createTsgEndpoint = endpoint({
  operationId: 'createTsg',
  method: 'POST',
  path: '/tsgs',
  tag: 'Troubleshooting guides',
  summary: 'Create a guide',
  description:
    'From now on the guide is announced wherever one of its patterns matches. Without an id, the id is made from the title, with a number if the id is taken.',
  access: 'tsgs:write',
  body: newTsgSchema,
  answers: { 201: { description: 'Stored.', schema: tsgSchema, headers: ['Location', 'ETag'] } },
  errors: ['conflict'],
  handle: ({ ctx, body: { id, tsg_id, ...content } }) => createTsg(ctx, { tsgId: id ?? tsg_id, ...content }),
  answer: (tsg) => tagged(presentTsg(tsg), 201, { location: `/tsgs/${tsg.tsgId}` }),
})
