import { endpoint } from '../../http/endpoint.ts'
import { presentRunner, runnerListSchema } from './runner-schema.ts'

export const listRunnersEndpoint = endpoint({
  operationId: 'listRunners',
  method: 'GET',
  path: '/runners',
  tag: 'Runners',
  summary: 'List the runners',
  description: 'The runners of this server, and what unavailable runners lack.',
  access: 'subtasks:read',
  answers: { 200: { description: 'All runners.', schema: runnerListSchema } },
  handle: async ({ deps }) => deps.runners(),
  answer: (runners) => ({ status: 200, body: { items: runners.map(presentRunner) } }),
})
