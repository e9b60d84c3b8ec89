import { defaultRunner, renderSubagentMarkdown, toolWarnings } from '@muster/domain'
import { getSubagent } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { presentSubagent, subagentMarkdownSchema, subagentParams, subagentSchema } from './subagent-schema.ts'

export const getSubagentEndpoint = endpoint({
  operationId: 'getSubagent',
  method: 'GET',
  path: '/subagents/{name}',
  tag: 'Sub-agents',
  summary: 'Read a sub-agent',
  description:
    'The current definition of this name, the runner of its runs, and the tools that this runner lacks. With `Accept: text/markdown`, the answer is the front matter and instructions that `PUT` accepts.',
  access: 'subagents:read',
  params: subagentParams,
  answers: { 200: { description: 'The definition.', schema: subagentSchema, markdown: subagentMarkdownSchema } },
  errors: ['subagent_not_found', 'subagent_invalid'],
  async handle({ ctx, deps, params }) {
    const definition = await getSubagent(ctx, params.name)
    const runner = defaultRunner(deps.runners(), { subagent: true, configured: deps.settings.DEFAULT_RUNNER })?.runner.name ?? null
    const warnings = runner === null ? [] : toolWarnings(definition, { runner, background: definition.background, settings: deps.settings })
    return { definition, runner, warnings }
  },
  answer: ({ definition, runner, warnings }) => ({ status: 200, body: presentSubagent(definition, runner, warnings) }),
  answerMarkdown: ({ definition }) => renderSubagentMarkdown(definition),
})
