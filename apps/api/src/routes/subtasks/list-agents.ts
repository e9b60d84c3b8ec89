import { listAgents } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { component, listComponent, pageQuery } from '../../http/schemas.ts'

const agentSchema = component(
  'Agent',
  z.object({
    agent_id: z.string(),
    running: z.int(),
    pending: z.int().describe('Of those without a permit, at most 1,000 are counted.'),
    running_max: z.int().describe('Subtasks that may run at once, if the limit of the project allows it.'),
    pending_max: z.int().describe('Subtasks that may be pending, likewise.'),
  }),
  { agent_id: 'default', running: 3, pending: 2, running_max: 3, pending_max: 5 },
)

export const listAgentsEndpoint = endpoint({
  operationId: 'listAgents',
  method: 'GET',
  path: '/agents',
  tag: 'Subtasks',
  summary: 'List the agents with work',
  description: 'Those with subtasks that run or are pending, by name, with their limits. A key of one agent sees that agent alone.',
  access: 'subtasks:read',
  query: z.strictObject(pageQuery),
  answers: { 200: { description: 'A page of agents.', schema: listComponent('AgentList', agentSchema) } },
  errors: ['cursor_invalid'],
  handle: ({ ctx, query }) => listAgents(ctx, query),
  answer: ({ items, nextCursor }) => ({
    status: 200,
    body: {
      items: items.map(({ agentId, running, pending, runningMax, pendingMax }) => ({
        ...{ agent_id: agentId, running, pending },
        ...{ running_max: runningMax, pending_max: pendingMax },
      })),
      next_cursor: nextCursor,
    },
  }),
})
