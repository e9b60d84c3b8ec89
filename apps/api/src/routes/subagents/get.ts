import { renderSubagentMarkdown } from '@muster/domain'
import { getSubagent } from '@muster/usecases'
import { endpoint } from '../../endpoint.ts'
import { presentSubagent, subagentMarkdownSchema, subagentParams, subagentSchema } from '../../schemas/subagent.ts'

export const getSubagentEndpoint = endpoint({
  operationId: 'getSubagent',
  method: 'GET',
  path: '/subagents/{name}',
  tag: 'Sub-agents',
  summary: 'Read a sub-agent',
  description: 'The definition that counts under this name. With `Accept: text/markdown` it comes as front matter and instructions, as `PUT` takes it.',
  access: 'subagents:read',
  params: subagentParams,
  answers: { 200: { description: 'The definition.', schema: subagentSchema, markdown: subagentMarkdownSchema } },
  errors: ['subagent_not_found', 'subagent_invalid'],
  handle: ({ ctx, params }) => getSubagent(ctx, params.name),
  answer: (definition) => ({ status: 200, body: presentSubagent(definition) }),
  answerMarkdown: renderSubagentMarkdown,
})
