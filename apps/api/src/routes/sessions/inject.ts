import { type Injection, injectSession } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { component, printableId, requestComponent, storable, time, toTimeOrNull } from '../../http/schemas.ts'
import { ackSchema } from './inbox-schema.ts'

const MESSAGES_MAX = 3

const EXAMPLE_TEXT = `[Task Update: Note]\nTask: Document the public functions (0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47)\nUpdate id: 0198c9a3-11b2-7d4e-8a55-0c9e7d1f3b20\nRevision: 1\nSender: API key "planner"\nTime: 2026-03-02T08:00:05.000Z\nConfirm: confirm_update("0198c9a3-11b2-7d4e-8a55-0c9e7d1f3b20")\n<content-4f9a2c71d0e8>\nLeave out the test files.\n</content-4f9a2c71d0e8>`

const injectionRequestSchema = requestComponent(
  'InjectionRequest',
  z.strictObject({
    messages: z.array(storable(z.string())).max(MESSAGES_MAX).default([]).describe('The latest messages, which are scanned for failures that guides cover.'),
  }),
  { messages: ['Error: EACCES: permission denied, open /var/lib/data'] },
)

const itemKindSchema = component(
  'InjectionItemKind',
  z
    .enum(['assignment', 'update', 'tsg_notice', 'inbox'])
    .describe(
      'assignment: a whole brief. update: a change to a brief or a note. tsg_notice: a guide for a recent failure. inbox: the end of a subtask, or the end or review of a task.',
    ),
)

const injectionItemSchema = component(
  'InjectionItem',
  z.object({
    kind: itemKindSchema,
    id: z.string().describe('The id of the task, update, guide or inbox item.'),
    update_id: z.uuid().nullable().describe('The id to confirm the update with.'),
    task_id: z.uuid().nullable(),
    revision: z.int().nullable().describe('The revision of the brief after the update.'),
    text: z.string(),
  }),
)

const injectionSchema = component(
  'Injection',
  z.object({
    claim_id: z.uuid().nullable().describe('The id to acknowledge; null if there is nothing to acknowledge.'),
    text: z.string().describe('All items as one text for the next model request; empty if there is nothing new.'),
    items: z.array(injectionItemSchema),
    lease_expires_at: time('When the items come again unless they are acknowledged.').nullable(),
  }),
  {
    claim_id: null,
    text: EXAMPLE_TEXT,
    items: [
      {
        kind: 'update',
        id: '0198c9a3-11b2-7d4e-8a55-0c9e7d1f3b20',
        update_id: '0198c9a3-11b2-7d4e-8a55-0c9e7d1f3b20',
        task_id: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47',
        revision: 1,
        text: EXAMPLE_TEXT,
      },
    ],
    lease_expires_at: null,
  },
)

function presentInjection(injection: Injection): z.output<typeof injectionSchema> {
  return {
    claim_id: injection.claimId,
    text: injection.text,
    items: injection.items.map((item) => ({
      kind: item.kind,
      id: item.id,
      update_id: item.updateId,
      task_id: item.taskId,
      revision: item.revision,
      text: item.text,
    })),
    lease_expires_at: toTimeOrNull(injection.leaseExpiresAt),
  }
}

export const injectSessionEndpoint = endpoint({
  operationId: 'injectSession',
  method: 'POST',
  path: '/sessions/{id}/injections',
  tag: 'Sessions',
  summary: 'Get new context for a session',
  description:
    'Call it before each model request and put `text` in front of the request. It delivers, each once: assigned briefs, their changes, guides for recent failures, and results of subtasks. To survive a lost answer, send an `Idempotency-Key`, or use `ack=manual`: all items come again after 60 s unless acknowledged; new ones wait until then.',
  access: 'sessions:write',
  needsNoRoom: 'it stores what was delivered',
  unaudited: 'the traffic of a session, at each of its steps',
  params: z.strictObject({ id: printableId('The session, as its harness names it.', 'research-1') }),
  query: z.strictObject({ ack: ackSchema.default('auto') }),
  body: injectionRequestSchema,
  bodyOptional: true,
  answers: { 200: { description: 'The undelivered items of the session; empty if there are none.', schema: injectionSchema } },
  handle: ({ ctx, params, query, body }) => injectSession(ctx, params.id, { ack: query.ack, messages: body.messages }),
  answer: (injection) => ({ status: 200, body: presentInjection(injection) }),
})
