import { deleteSubagent } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { subagentParams } from './subagent-schema.ts'

export const deleteSubagentEndpoint = endpoint({
  operationId: 'deleteSubagent',
  method: 'DELETE',
  path: '/subagents/{name}',
  tag: 'Sub-agents',
  summary: 'Take a definition back',
  description: 'Takes back what was put under this name. A file or a built-in of this name counts again; that cannot be deleted. Runs under way go on.',
  access: 'subagents:write',
  params: subagentParams,
  answers: { 204: { description: 'Taken back.' } },
  errors: ['subagent_not_found'],
  handle: ({ ctx, params }) => deleteSubagent(ctx, params.name),
  answer: () => ({ status: 204 }),
})
