import { acknowledgeInjection } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { printableId, uuid } from '../../http/schemas.ts'

export const acknowledgeInjectionEndpoint = endpoint({
  operationId: 'acknowledgeInjection',
  method: 'POST',
  path: '/sessions/{id}/injections/{claim_id}/ack',
  tag: 'Sessions',
  summary: 'Acknowledge an injection',
  description: 'Ends an injection that was made with `ack=manual`: its items are not delivered again. A late acknowledgement counts until they are.',
  access: 'sessions:write',
  unaudited: 'the traffic of a session, at each of its steps',
  params: z.strictObject({ id: printableId('The session, as its harness names it.', 'research-1'), claim_id: uuid('`claim_id` of the injection.') }),
  answers: { 204: { description: 'Acknowledged.' } },
  errors: ['not_found', 'conflict'],
  async handle({ ctx, params }) {
    await acknowledgeInjection(ctx, params.id, params.claim_id)
  },
  answer: () => ({ status: 204 }),
})
