import { listSubagents } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { pageQuery } from '../../http/schemas.ts'
import { presentSubagentList, subagentListSchema } from './subagent-schema.ts'

export const listSubagentsEndpoint = endpoint({
  operationId: 'listSubagents',
  method: 'GET',
  path: '/subagents',
  tag: 'Sub-agents',
  summary: 'List sub-agents',
  description: 'Sorted by name, without instructions: definitions that were put, those in SUBAGENTS_DIRS, and built-in ones.',
  access: 'subagents:read',
  query: z.strictObject(pageQuery),
  answers: { 200: { description: 'A page of sub-agents.', schema: subagentListSchema } },
  errors: ['cursor_invalid'],
  handle: ({ ctx, query }) => listSubagents(ctx, query),
  answer: (list) => ({ status: 200, body: presentSubagentList(list) }),
})
