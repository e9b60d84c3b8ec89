import { learnFact } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { factSchema, newFactSchema, presentFact } from './memory-schema.ts'

export const learnFactEndpoint = endpoint({
  operationId: 'learnFact',
  method: 'POST',
  path: '/memory/facts',
  tag: 'Memory',
  summary: 'Store a fact',
  description: 'Every search of the project finds the fact from now on. A subtask’s own credential may call this.',
  access: 'memory:write',
  body: newFactSchema,
  answers: { 201: { description: 'Stored.', schema: factSchema, headers: ['Location'] } },
  handle: ({ ctx, body: { source_subtask_id, ...fact } }) => learnFact(ctx, { ...fact, sourceSubtaskId: source_subtask_id }),
  answer: (fact) => ({ status: 201, headers: { location: `/memory/facts/${fact.id}` }, body: presentFact(fact) }),
})
