import { acknowledgeInbox } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { printableId, uuid } from '../../http/schemas.ts'

export const acknowledgeInboxEndpoint = endpoint({
  operationId: 'acknowledgeInbox',
  method: 'POST',
  path: '/sessions/{id}/inbox/claim/{claim_id}/ack',
  tag: 'Sessions',
  summary: 'Acknowledge an inbox claim',
  description: 'Ends a claim that was made with `ack: manual`: its items are not delivered again.',
  access: 'sessions:write',
  unaudited: 'the traffic of a session, at each of its steps',
  params: z.strictObject({ id: printableId('The session, as its harness names it.', 'research-1'), claim_id: uuid('`claim_id` of the claim.') }),
  answers: { 204: { description: 'Acknowledged.' } },
  errors: ['not_found'],
  async handle({ ctx, params }) {
    await acknowledgeInbox(ctx, params.id, params.claim_id)
  },
  answer: () => ({ status: 204 }),
})
