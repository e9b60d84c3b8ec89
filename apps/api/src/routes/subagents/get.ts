import { renderSubagentMarkdown } from '@muster/domain'
import { getSubagent } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { NOT_MODIFIED, TAG_HEADERS, tagged } from '../../http/entity-tag.ts'
import { readSubagent, subagentMarkdownSchema, subagentParams, subagentSchema } from './subagent-schema.ts'

export const getSubagentEndpoint = endpoint({
  operationId: 'getSubagent',
  method: 'GET',
  path: '/subagents/{name}',
  tag: 'Sub-agents',
  summary: 'Read a sub-agent',
  description:
    'The current definition, the runner of its runs, and the tools that this runner lacks. With `Accept: text/markdown`, the answer is what `PUT` accepts.',
  access: 'subagents:read',
  params: subagentParams,
  takesIfNoneMatch: true,
  answers: { 200: { description: 'The definition.', schema: subagentSchema, markdown: subagentMarkdownSchema, headers: TAG_HEADERS }, 304: NOT_MODIFIED },
  errors: ['subagent_not_found', 'subagent_invalid'],
  async handle({ ctx, deps, params }) {
    const definition = await getSubagent(ctx, params.name)
    return { definition, read: readSubagent(deps, definition) }
  },
  answer: ({ read }) => tagged(read),
  answerMarkdown: ({ definition }) => renderSubagentMarkdown(definition),
})
