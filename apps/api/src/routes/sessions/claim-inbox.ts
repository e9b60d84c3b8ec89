import { claimInbox } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { printableId } from '../../http/fields-schemas.ts'
import { claimedInboxSchema, inboxClaimSchema, presentClaimedInbox } from './inbox-schema.ts'

export const claimInboxEndpoint = endpoint({
  operationId: 'claimInbox',
  method: 'POST',
  path: '/sessions/{id}/inbox/claim',
  tag: 'Sessions',
  summary: 'Take the waiting results',
  description:
    'Hands over what waits for a session, each item exactly once: the ends of its subtasks, and the ends and reviews of assigned tasks that name it as their parent session. With an `Idempotency-Key` the call can be repeated after a lost answer; with `ack: manual` the results come again after 60 s unless the claim is acknowledged.',
  access: 'sessions:write',
  params: z.strictObject({ id: printableId('The session, as its harness names it.', 'research-1') }),
  body: inboxClaimSchema,
  bodyOptional: true,
  answers: { 200: { description: 'What was waiting, oldest first.', schema: claimedInboxSchema } },
  handle: ({ ctx, params, body }) => claimInbox(ctx, params.id, { limit: body.limit, ack: body.ack }),
  answer: (claim) => ({ status: 200, body: presentClaimedInbox(claim) }),
})
