import { endpoint } from '../../http/endpoint.ts'
import { presentRunner, runnerListSchema } from './runner-schema.ts'

export const listRunnersEndpoint = endpoint({
  operationId: 'listRunners',
  method: 'GET',
  path: '/runners',
  tag: 'Runners',
  summary: 'List the runners',
  description: 'What can execute a subtask on this server, and what the others lack.',
  access: 'subtasks:read',
  answers: { 200: { description: 'All runners.', schema: runnerListSchema } },
  handle: async ({ deps }) => deps.runners(),
  answer: (runners) => ({ status: 200, body: { items: runners.map(presentRunner) } }),
})
