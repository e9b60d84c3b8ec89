import { deleteFact } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'

export const deleteFactEndpoint = endpoint({
  operationId: 'deleteFact',
  method: 'DELETE',
  path: '/memory/facts/{id}',
  tag: 'Memory',
  summary: 'Delete a fact',
  description: 'Deleting an unknown fact gives the same answer. A subtask’s own credential may not call this.',
  access: 'memory:write',
  params: idParams('fact'),
  answers: { 204: { description: 'The fact does not exist any more.' } },
  handle: ({ ctx, params }) => deleteFact(ctx, params.id),
  answer: () => ({ status: 204 }),
})
