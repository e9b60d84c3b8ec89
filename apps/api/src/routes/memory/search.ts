import { MEMORY_LIMITS } from '@muster/domain'
import { searchMemory } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { printableId, queryNumber, text } from '../../http/schemas.ts'
import { memoryKindSchema, memorySearchSchema, presentMemory } from './memory-schema.ts'

export const searchMemoryEndpoint = endpoint({
  operationId: 'searchMemory',
  method: 'GET',
  path: '/memory/search',
  tag: 'Memory',
  summary: 'Search memory',
  description:
    'Finds items with every word of `q`; if there are none, with some of them. Facts are found at once, subtasks about one second after their end. A subtask’s own credential searches the whole project.',
  access: 'memory:read',
  query: z.strictObject({
    q: text(MEMORY_LIMITS.query).describe('Words or a sentence; `"…"`, `OR` and `-` as in a search engine.'),
    kind: memoryKindSchema.optional().describe('Only items of this kind.'),
    agent_id: printableId('Only those of this agent.', 'default').optional(),
    limit: queryNumber(1, MEMORY_LIMITS.found).default(10).describe('The maximum number of items.'),
  }),
  answers: { 200: { description: 'The found items.', schema: memorySearchSchema } },
  handle: ({ ctx, query: { agent_id, ...query } }) => searchMemory(ctx, { ...query, agentId: agent_id }),
  answer: (items) => ({ status: 200, body: { items: items.map(presentMemory) } }),
})
