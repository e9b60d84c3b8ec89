import type { SubagentDefinition } from '@muster/domain'
import { putSubagent } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { TAG_HEADERS } from '../../http/entity-tag.ts'
import { expectedTag } from '../../http/if-match.ts'
import { presentPut, putSubagentSchema, subagentMarkdownSchema, subagentParams, subagentTag } from './subagent-schema.ts'

export const putSubagentEndpoint = endpoint({
  operationId: 'putSubagent',
  method: 'PUT',
  path: '/subagents/{name}',
  tag: 'Sub-agents',
  summary: 'Define a sub-agent',
  description: 'Creates or replaces a definition, for runs that start from now on. It takes precedence over a file or a built-in definition of this name.',
  access: 'subagents:write',
  params: subagentParams,
  markdown: subagentMarkdownSchema,
  takesIfMatch: 'optional',
  answers: {
    200: { description: 'Replaced the definition that was put before.', schema: putSubagentSchema, headers: TAG_HEADERS },
    201: { description: 'Created.', schema: putSubagentSchema, headers: ['Location', 'ETag'] },
  },
  errors: ['subagent_invalid', 'revision_stale', 'secrets_not_configured'],
  async handle({ ctx, deps, params, body, headers }) {
    const tagOf = (definition: SubagentDefinition) => subagentTag(deps, definition)
    const put = await putSubagent(ctx, params.name, body, expectedTag(headers, tagOf))
    return { put, etag: tagOf(put.definition) }
  },
  answer: ({ put, etag }) => ({
    status: put.created ? 201 : 200,
    headers: { etag, ...(put.created && { location: `/subagents/${put.definition.name}` }) },
    body: presentPut(put),
  }),
})
