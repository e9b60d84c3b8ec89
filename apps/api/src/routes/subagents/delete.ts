import { deleteSubagent } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { expectedTag } from '../../http/if-match.ts'
import { subagentParams, subagentTag } from './subagent-schema.ts'

export const deleteSubagentEndpoint = endpoint({
  operationId: 'deleteSubagent',
  method: 'DELETE',
  path: '/subagents/{name}',
  tag: 'Sub-agents',
  summary: 'Delete a definition',
  description: 'Deletes the definition that was put under this name; a file or a built-in definition becomes current again. Active runs continue.',
  access: 'subagents:write',
  params: subagentParams,
  takesIfMatch: 'optional',
  answers: { 204: { description: 'Deleted.' } },
  errors: ['subagent_not_found', 'revision_stale'],
  handle: ({ ctx, deps, params, headers }) =>
    deleteSubagent(
      ctx,
      params.name,
      expectedTag(headers, (definition) => subagentTag(deps, definition)),
    ),
  answer: () => ({ status: 204 }),
})
