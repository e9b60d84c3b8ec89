import { MEMORY_LIMITS } from '@muster/domain'
import { searchMemory } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { printableId, queryNumber, text } from '../../http/fields-schemas.ts'
import { memoryKindSchema, memorySearchSchema, presentMemory } from './memory-schema.ts'

export const searchMemoryEndpoint = endpoint({
  operationId: 'searchMemory',
  method: 'GET',
  path: '/memory/search',
  tag: 'Memory',
  summary: 'Ask memory',
  description:
    'What has every word that was asked for; where nothing has, what has some of them. Facts are found at once, subtasks about a second after they have ended. The credential of a subtask searches all of its project.',
  access: 'memory:read',
  query: z.strictObject({
    q: text(MEMORY_LIMITS.query).describe('Words or a sentence; `"…"`, `OR` and `-` as in a search engine.'),
    kind: memoryKindSchema.optional().describe('Only these.'),
    agent_id: printableId('Only those of this agent.', 'default').optional(),
    limit: queryNumber(1, MEMORY_LIMITS.found).default(10).describe('How many items at most.'),
  }),
  answers: { 200: { description: 'What was found.', schema: memorySearchSchema } },
  handle: ({ ctx, query: { agent_id, ...query } }) => searchMemory(ctx, { ...query, agentId: agent_id }),
  answer: (items) => ({ status: 200, body: { items: items.map(presentMemory) } }),
})
