import { forgetEpisode } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/fields-schemas.ts'

export const forgetEpisodeEndpoint = endpoint({
  operationId: 'forgetEpisode',
  method: 'DELETE',
  path: '/memory/episodes/{id}',
  tag: 'Memory',
  summary: 'Forget an episode',
  description: 'Memory never brings it up again, however often it is forgotten. The subtask itself stays. The credential of a subtask may not.',
  access: 'memory:write',
  params: idParams('subtask'),
  answers: { 204: { description: 'Forgotten.' } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => forgetEpisode(ctx, params.id),
  answer: () => ({ status: 204 }),
})
