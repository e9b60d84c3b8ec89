import { deleteFact } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/fields-schemas.ts'

export const deleteFactEndpoint = endpoint({
  operationId: 'deleteFact',
  method: 'DELETE',
  path: '/memory/facts/{id}',
  tag: 'Memory',
  summary: 'Delete a fact',
  description: 'What is not there is deleted already: the answer is the same. The credential of a subtask may not.',
  access: 'memory:write',
  params: idParams('fact'),
  answers: { 204: { description: 'There is no such fact any more.' } },
  handle: ({ ctx, params }) => deleteFact(ctx, params.id),
  answer: () => ({ status: 204 }),
})
