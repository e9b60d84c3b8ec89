import { forgetEpisode } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'

export const forgetEpisodeEndpoint = endpoint({
  operationId: 'forgetEpisode',
  method: 'DELETE',
  path: '/memory/episodes/{id}',
  tag: 'Memory',
  summary: 'Forget an episode',
  description: 'Searches never find the episode again. The subtask stays. A subtask’s own credential may not call this.',
  access: 'memory:write',
  params: idParams('subtask'),
  answers: { 204: { description: 'Forgotten.' } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => forgetEpisode(ctx, params.id),
  answer: () => ({ status: 204 }),
})
