import { getEpisode } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { episodeSchema, presentEpisode } from './memory-schema.ts'

export const getEpisodeEndpoint = endpoint({
  operationId: 'getEpisode',
  method: 'GET',
  path: '/memory/episodes/{id}',
  tag: 'Memory',
  summary: 'Read an episode',
  description: 'The instructions and the result of an ended subtask. The id is that of the subtask.',
  access: 'memory:read',
  params: idParams('subtask'),
  answers: { 200: { description: 'The episode.', schema: episodeSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getEpisode(ctx, params.id),
  answer: (episode) => ({ status: 200, body: presentEpisode(episode) }),
})
