import { checkSubagentTool } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { presentToolAnswer, subagentParams, toolAnswerSchema, toolCheckSchema } from './subagent-schema.ts'

export const checkToolEndpoint = endpoint({
  operationId: 'checkSubagentTool',
  method: 'POST',
  path: '/subagents/{name}/tool-check',
  tag: 'Sub-agents',
  summary: 'Ask whether a sub-agent may use a tool',
  description: 'Answers by the definition as it is now, and says why. One that is defined to run in the background is answered for the background.',
  access: 'subagents:read',
  params: subagentParams,
  body: toolCheckSchema,
  answers: { 200: { description: 'Whether it may.', schema: toolAnswerSchema } },
  errors: ['subagent_not_found', 'subagent_invalid'],
  handle: ({ ctx, params, body }) => checkSubagentTool(ctx, params.name, { toolName: body.tool_name, background: body.background }),
  answer: (answer) => ({ status: 200, body: presentToolAnswer(answer) }),
})
