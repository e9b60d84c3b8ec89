import { updateWebhook } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { presentWebhook, webhookPatchSchema, webhookSchema } from './webhook-schema.ts'

export const updateWebhookEndpoint = endpoint({
  operationId: 'updateWebhook',
  method: 'PATCH',
  path: '/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Change, disable or enable a webhook',
  description: 'Only what is given changes. Deliveries that wait go to a new URL; other fields apply from the next event.',
  access: 'webhooks:write',
  params: idParams('webhook'),
  body: webhookPatchSchema,
  needsNoRoom: 'it ends or changes deliveries',
  answers: { 200: { description: 'The webhook as it is now.', schema: webhookSchema } },
  errors: ['not_found'],
  handle: async ({ ctx, params, patched }) => {
    // None of its fields is an object.
    const { agent_id: agentId, session_id: sessionId, ordered: isOrdered, ...same } = patched({})
    return await updateWebhook(ctx, params.id, { ...same, agentId, sessionId, isOrdered })
  },
  answer: (webhook) => ({ status: 200, body: presentWebhook(webhook) }),
})
