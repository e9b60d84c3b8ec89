import { injectSession } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { printableId } from '../../http/schemas.ts'
import { ackSchema } from './inbox-schema.ts'
import { injectionRequestSchema, injectionSchema, presentInjection } from './injection-schema.ts'

export const injectSessionEndpoint = endpoint({
  operationId: 'injectSession',
  method: 'POST',
  path: '/sessions/{id}/injections',
  tag: 'Sessions',
  summary: 'Get new context for a session',
  description:
    'Call it before each model request and put `text` in front of the request. It delivers, each once: assigned briefs, their changes, guides for recent failures, and results of subtasks. To survive a lost answer, send an `Idempotency-Key`, or use `ack=manual`: then all items are delivered again after 60 s unless acknowledged, and new items wait until then.',
  access: 'sessions:write',
  params: z.strictObject({ id: printableId('The session, as its harness names it.', 'research-1') }),
  query: z.strictObject({ ack: ackSchema.default('auto') }),
  body: injectionRequestSchema,
  bodyOptional: true,
  answers: { 200: { description: 'The undelivered items of the session; empty if there are none.', schema: injectionSchema } },
  handle: ({ ctx, params, query, body }) => injectSession(ctx, params.id, { ack: query.ack, messages: body.messages }),
  answer: (injection) => ({ status: 200, body: presentInjection(injection) }),
})
