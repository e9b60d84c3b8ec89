import { checkSubagentTool } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { presentToolAnswer, subagentParams, toolAnswerSchema, toolCheckSchema } from './subagent-schema.ts'

export const checkToolEndpoint = endpoint({
  operationId: 'checkSubagentTool',
  method: 'POST',
  path: '/subagents/{name}/tool-check',
  tag: 'Sub-agents',
  summary: 'Ask whether a sub-agent may use a tool',
  description: 'Checks the tool against the current definition and gives the reason.',
  access: 'subagents:read',
  needsNoRoom: 'it stores nothing',
  unaudited: 'stores nothing but the answer to repeat',
  params: subagentParams,
  body: toolCheckSchema,
  answers: { 200: { description: 'Whether the tool is allowed.', schema: toolAnswerSchema } },
  errors: ['subagent_not_found', 'subagent_invalid'],
  handle: ({ ctx, params, body }) => checkSubagentTool(ctx, params.name, { toolName: body.tool_name, background: body.background }),
  answer: (answer) => ({ status: 200, body: presentToolAnswer(answer) }),
})
