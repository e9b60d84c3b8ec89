import { putSubagent } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { presentPut, putSubagentSchema, subagentMarkdownSchema, subagentParams } from './subagent-schema.ts'

export const putSubagentEndpoint = endpoint({
  operationId: 'putSubagent',
  method: 'PUT',
  path: '/subagents/{name}',
  tag: 'Sub-agents',
  summary: 'Define a sub-agent',
  description:
    'Creates or replaces a definition, as Markdown. It takes precedence over a file or a built-in definition of this name, for runs that start from now on.',
  access: 'subagents:write',
  params: subagentParams,
  markdown: subagentMarkdownSchema,
  answers: {
    200: { description: 'Replaced the definition that was put before.', schema: putSubagentSchema },
    201: { description: 'Created.', schema: putSubagentSchema, headers: ['Location'] },
  },
  errors: ['subagent_invalid'],
  handle: ({ ctx, params, body }) => putSubagent(ctx, params.name, body),
  answer: (put) =>
    put.created ? { status: 201, headers: { location: `/subagents/${put.definition.name}` }, body: presentPut(put) } : { status: 200, body: presentPut(put) },
})
