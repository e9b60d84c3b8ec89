import { claimInbox } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { printableId } from '../../http/schemas.ts'
import { claimedInboxSchema, inboxClaimSchema, presentClaimedInbox } from './inbox-schema.ts'

export const claimInboxEndpoint = endpoint({
  operationId: 'claimInbox',
  method: 'POST',
  path: '/sessions/{id}/inbox/claim',
  tag: 'Sessions',
  summary: 'Claim waiting results',
  description:
    'Delivers the waiting items of a session, each once: ends of its subtasks, and questions, ends and reviews of work whose parent session it is. To survive a lost answer, send an `Idempotency-Key`, or use `ack: manual`: the items come again after 60 s unless the claim is acknowledged.',
  access: 'sessions:write',
  needsNoRoom: 'it stores a time',
  unaudited: 'the traffic of a session, at each of its steps',
  params: z.strictObject({ id: printableId('The session, as its harness names it.', 'research-1') }),
  body: inboxClaimSchema,
  bodyOptional: true,
  answers: { 200: { description: 'The waiting items, oldest first.', schema: claimedInboxSchema } },
  handle: ({ ctx, params, body }) => claimInbox(ctx, params.id, { limit: body.limit, ack: body.ack }),
  answer: (claim) => ({ status: 200, body: presentClaimedInbox(claim) }),
})
