import { EVENT_PATTERNS, isWebhookSecret, RECEIVER_STATUSES, WEBHOOK_EVENTS_MAX, WEBHOOK_URL_LENGTH_MAX } from '@muster/domain'
import type { Receiver, WebhookFields } from '@muster/usecases'
import { z } from 'zod'
import { component, listComponent, printableId, requestComponent, text, time, toTime, toTimeOrNull } from '../../http/schemas.ts'

const ID = '0198c9b0-0000-7000-8000-00000000000b'

const url = text(WEBHOOK_URL_LENGTH_MAX).meta({ format: 'uri', examples: ['https://example.com/muster'] })

const patternSchema = component(
  'EventPattern',
  z.enum(EVENT_PATTERNS as [string, ...string[]]).describe('A type of events, all types of a noun such as `subtask.*`, or `*`.'),
)

const fields = {
  url: url.describe('Where events are sent to, with POST. Public addresses only, unless operator and project allow more.'),
  events: z
    .array(patternSchema)
    .min(1)
    .max(WEBHOOK_EVENTS_MAX)
    .transform((events) => [...new Set(events)])
    .describe('The types of events that are sent.'),
  subject: printableId('Only events of this subject: the id of a subtask, task, schedule or evaluation, or the `tsg_id` of a guide.', ID).nullish(),
  agent_id: printableId('Only events of subtasks and slots of this agent.', 'docs-writer').nullish(),
  session_id: printableId('Only events of work whose parent session this is, or of tasks that it holds.', 'research-1').nullish(),
  ordered: z.boolean().describe('true: the events of one subject are sent one after the other.'),
  description: text(500).nullish(),
}

export const newWebhookSchema = requestComponent('NewWebhook', z.strictObject({ ...fields, ordered: fields.ordered.default(false) }), {
  url: 'https://example.com/muster',
  events: ['subtask.completed', 'subtask.failed', 'question.asked'],
  description: 'The build server',
})

export const webhookPatchSchema = requestComponent(
  'WebhookPatch',
  z.strictObject({
    url: fields.url.optional(),
    events: fields.events.optional(),
    subject: fields.subject,
    agent_id: fields.agent_id,
    session_id: fields.session_id,
    ordered: fields.ordered.optional(),
    description: fields.description,
    enabled: z.boolean().optional().describe('false: nothing is sent any more, and what waits is given up. true: enables it again, also after a 410.'),
  }),
  { events: ['subtask.*'], enabled: true },
)

export function toWebhookFields(body: z.output<typeof newWebhookSchema>): WebhookFields {
  return {
    url: body.url,
    events: body.events,
    subject: body.subject ?? null,
    agentId: body.agent_id ?? null,
    sessionId: body.session_id ?? null,
    isOrdered: body.ordered,
    description: body.description ?? null,
  }
}

const webhookShape = {
  id: z.uuid(),
  url: z.string(),
  events: z.array(patternSchema),
  subject: z.string().nullable(),
  agent_id: z.string().nullable(),
  session_id: z.string().nullable(),
  ordered: z.boolean(),
  description: z.string().nullable(),
  status: component('WebhookStatus', z.enum(RECEIVER_STATUSES)),
  disabled_reason: z.string().nullable(),
  disabled_at: time().nullable(),
  previous_secret_until: time('Until when deliveries have a second signature, by the secret before the last rotation.').nullable(),
  created_at: time(),
}

const EXAMPLE = {
  id: ID,
  url: 'https://example.com/muster',
  events: ['subtask.completed', 'subtask.failed', 'question.asked'],
  subject: null,
  agent_id: null,
  session_id: null,
  ordered: false,
  description: 'The build server',
  status: 'enabled' as const,
  disabled_reason: null,
  disabled_at: null,
  previous_secret_until: null,
  created_at: '2026-03-02T08:00:00.000Z',
}

export const webhookSchema = component('Webhook', z.object(webhookShape), EXAMPLE)
export const webhookListSchema = listComponent('WebhookList', webhookSchema)

export const webhookWithSecretSchema = component(
  'WebhookWithSecret',
  z.object({
    ...webhookShape,
    secret: z.string().nullable().describe('Signs its deliveries. Shown once; null when the answer is repeated.'),
  }),
  { ...EXAMPLE, secret: 'whsec_…' },
)

export function presentWebhook(webhook: Receiver): z.output<typeof webhookSchema> {
  return {
    id: webhook.id,
    url: webhook.url as string,
    events: webhook.events,
    subject: webhook.subjectName ?? webhook.subjectId,
    agent_id: webhook.agentId,
    session_id: webhook.sessionId,
    ordered: webhook.isOrdered,
    description: webhook.description,
    status: webhook.status,
    disabled_reason: webhook.disabledReason,
    disabled_at: toTimeOrNull(webhook.disabledAt),
    previous_secret_until: toTimeOrNull(webhook.previousUntil),
    created_at: toTime(webhook.createdAt),
  }
}

export const deliveryParams = z.strictObject({ id: z.uuid().describe('Id of the webhook.'), delivery_id: z.uuid().describe('Id of the delivery.') })

/** A callback of one subtask or task. */
export const callbackSchema = requestComponent(
  'Callback',
  z
    .strictObject({
      url: url.describe('As of a webhook.'),
      secret: z
        .string()
        .refine(isWebhookSecret, { error: 'must be whsec_ and 24 to 64 bytes in base64' })
        .optional()
        .describe('Signs the request by Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. Without it, the request is not signed.'),
    })
    .describe('A webhook for this one only, which gets the event of its end, such as `subtask.completed`.'),
  { url: 'https://example.com/done' },
)
