import { acknowledgeInjection } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { printableId, uuid } from '../../http/fields-schemas.ts'

export const acknowledgeInjectionEndpoint = endpoint({
  operationId: 'acknowledgeInjection',
  method: 'POST',
  path: '/sessions/{id}/injections/{claim_id}/ack',
  tag: 'Sessions',
  summary: 'Confirm that an injection arrived',
  description:
    'Ends an injection that was taken with `ack=manual`: its items do not come again. Repeating it changes nothing; a late one counts as long as the items were not handed out again.',
  access: 'sessions:write',
  params: z.strictObject({ id: printableId('The session, as its harness names it.', 'research-1'), claim_id: uuid('`claim_id` of the injection.') }),
  answers: { 204: { description: 'Confirmed.' } },
  errors: ['not_found', 'conflict'],
  async handle({ ctx, params }) {
    await acknowledgeInjection(ctx, params.id, params.claim_id)
  },
  answer: () => ({ status: 204 }),
})
