import { getFact } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { factSchema, presentFact } from './memory-schema.ts'

export const getFactEndpoint = endpoint({
  operationId: 'getFact',
  method: 'GET',
  path: '/memory/facts/{id}',
  tag: 'Memory',
  summary: 'Read a fact',
  description: 'The complete fact and its source.',
  access: 'memory:read',
  params: idParams('fact'),
  answers: { 200: { description: 'The fact.', schema: factSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getFact(ctx, params.id),
  answer: (fact) => ({ status: 200, body: presentFact(fact) }),
})
