import { injectSession } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { printableId } from '../../http/fields-schemas.ts'
import { ackSchema } from './inbox-schema.ts'
import { injectionRequestSchema, injectionSchema, presentInjection } from './injection-schema.ts'

export const injectSessionEndpoint = endpoint({
  operationId: 'injectSession',
  method: 'POST',
  path: '/sessions/{id}/injections',
  tag: 'Sessions',
  summary: 'Take what is new for a session',
  description:
    'Call it before each model request and put `text` in front of it: assigned briefs first, then their changes, guides for what has just failed, results of subtasks. Each comes once. With an `Idempotency-Key` the call can be repeated after a lost answer; with `ack=manual` everything comes again after 60 s unless acknowledged, and nothing new until then.',
  access: 'sessions:write',
  params: z.strictObject({ id: printableId('The session, as its harness names it.', 'research-1') }),
  query: z.strictObject({ ack: ackSchema.default('auto') }),
  body: injectionRequestSchema,
  bodyOptional: true,
  answers: { 200: { description: 'What this session has not seen; empty where there is nothing.', schema: injectionSchema } },
  handle: ({ ctx, params, query, body }) => injectSession(ctx, params.id, { ack: query.ack, messages: body.messages }),
  answer: (injection) => ({ status: 200, body: presentInjection(injection) }),
})
