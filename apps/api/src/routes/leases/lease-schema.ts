import { toStorableJson, toStorableText } from '@muster/domain'
import type { ClaimedSubtask, RenderedUpdate } from '@muster/usecases'
import { z } from 'zod'
import { component, printableId, requestComponent, text, time, toMicros, toTime } from '../../http/schemas.ts'
import { stepKindSchema } from '../subtasks/step-schema.ts'
import { presentRequiredOutputs, presentSubtask, requiredOutputSchema, subtaskSchema } from '../subtasks/subtask-schema.ts'
import { presentUpdate, updateSchema } from '../subtasks/update-schema.ts'

const AMOUNT_MAX = 1_000_000_000_000
const CONTINUATION_BYTES_MAX = 1_048_576

/** Amounts to add: usage since the last report. */
const usageDelta = z
  .strictObject({
    input_tokens: z.int().min(0).max(AMOUNT_MAX).default(0),
    cached_input_tokens: z.int().min(0).max(AMOUNT_MAX).default(0).describe('Of the input tokens, those that the provider read from its cache.'),
    output_tokens: z.int().min(0).max(AMOUNT_MAX).default(0),
    cost_usd: z.number().min(0).max(1_000_000).default(0),
    tool_calls: z.int().min(0).max(1_000_000).default(0),
    model: text(200).optional().describe('The model that was used. Without `cost_usd`, `GET /usage` prices the tokens by it.'),
  })
  .describe('Usage since the last report: amounts to add, not totals.')

const usageDeltaSchema = requestComponent('UsageDelta', usageDelta, { input_tokens: 1200, output_tokens: 310, cost_usd: 0.004, tool_calls: 2 })

const leaseToken = text(512).describe('`lease.token` of the claim.')

/** What an agent wrote is never refused for its characters: what cannot be stored becomes U+FFFD. */
const agentText = z.string().transform(toStorableText)

export const claimSchema = requestComponent(
  'ClaimRequest',
  z.strictObject({
    runner: text(64).default('external').describe('The runner whose queue to claim from.'),
    worker_id: printableId('Name of the worker, shown as `worker_id` of the subtask.', 'worker-7'),
    lease_seconds: z.int().min(1).max(600).default(60).describe('Seconds that the lease lasts without a heartbeat.'),
    wait_seconds: z.int().min(0).max(60).default(0).describe('Seconds to wait for work.'),
  }),
  { worker_id: 'worker-7', lease_seconds: 60, wait_seconds: 30 },
)

export const heartbeatSchema = requestComponent(
  'HeartbeatRequest',
  z.strictObject({
    lease_token: leaseToken,
    ack_update_ids: z.array(z.uuid()).max(1_000).default([]).describe('Ids of updates that the agent acknowledges.'),
    steps: z
      .array(requestComponent('NewStep', z.strictObject({ kind: stepKindSchema, content: z.unknown().transform(toStorableJson) })))
      .max(1_000)
      .default([])
      .describe('Steps since the last heartbeat, for the transcript.'),
    usage: usageDeltaSchema.optional(),
  }),
  { lease_token: 'mlt_9YkR…', ack_update_ids: [], steps: [{ kind: 'message', content: 'Reading src/' }] },
)

export const completeSchema = requestComponent(
  'CompleteRequest',
  z
    .strictObject({
      lease_token: leaseToken,
      result: agentText.optional().describe('The result. More than 1 MiB is cut. Required, unless the work is blocked.'),
      outputs: z.record(z.string(), z.unknown()).transform(toStorableJson).optional().describe('Values of the required outputs, by name.'),
      summary: agentText.optional(),
      usage: usageDeltaSchema.optional(),
      blocked_reason: agentText.optional().describe('Set it if the work cannot continue. The subtask ends as `incomplete_blocked`.'),
    })
    .check((context) => {
      if (context.value.result !== undefined || context.value.blocked_reason !== undefined) return
      context.issues.push({ code: 'custom', message: 'is required', input: undefined, path: ['result'] })
    }),
  { lease_token: 'mlt_9YkR…', result: 'Four public functions: …', outputs: { functions: ['parse', 'render'] } },
)

export const failSchema = requestComponent(
  'FailRequest',
  z.strictObject({
    lease_token: leaseToken,
    error: agentText.describe('What went wrong. The caller of the subtask reads this text.'),
    retryable: z.boolean().default(true).describe('Whether another attempt may succeed.'),
    usage: usageDeltaSchema.optional(),
  }),
  { lease_token: 'mlt_9YkR…', error: 'The model did not answer.', retryable: true },
)

export const releaseSchema = requestComponent('ReleaseRequest', z.strictObject({ lease_token: leaseToken }), { lease_token: 'mlt_9YkR…' })

export const waitSchema = requestComponent(
  'WaitRequest',
  z.strictObject({
    lease_token: leaseToken,
    question_id: z.uuid().describe('A question of this subtask.'),
    continuation: agentText
      .refine((given) => Buffer.byteLength(given) <= CONTINUATION_BYTES_MAX, 'must be at most 1 MiB of UTF-8')
      .optional()
      .describe('What the next attempt needs to go on: `brief.continuation.state` of its claim. At most 1 MiB of UTF-8.'),
    usage: usageDeltaSchema.optional(),
  }),
  { lease_token: 'mlt_9YkR…', question_id: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47', continuation: '{"done":["src/parse.ts"]}' },
)

const leaseSchema = component(
  'Lease',
  z.object({
    token: z.string().describe('The proof of the lease. Every write needs it.'),
    attempt: z.int(),
    expires_at: time('When the lease expires, unless a heartbeat renews it.'),
  }),
)

const criterionSchema = component('BriefCriterion', z.object({ id: z.string(), text: z.string() }))

const leaseSubagentSchema = component(
  'BriefSubagent',
  z
    .object({
      name: z.string(),
      version: z.int(),
      instructions: z.string().describe('Already part of `text`.'),
      tools: z.array(z.string()).describe('Allowed tools; `*` allows every tool.'),
      disallowed_tools: z.array(z.string()),
      max_turns: z.int().nullable().describe('The maximum number of model requests.'),
    })
    .describe('The sub-agent of the run, whose tools the worker must enforce.'),
)

const briefSchema = component(
  'Brief',
  z.object({
    text: z.string().describe('The complete prompt as one text for the agent.'),
    task: z.string(),
    criteria: z.array(criterionSchema),
    required_outputs: z.array(requiredOutputSchema),
    revision: z.int().nullable(),
    feedback: z.string().nullable().describe('Why the last result was rejected.'),
    subagent: leaseSubagentSchema.nullable(),
    continuation: component(
      'BriefContinuation',
      z.object({
        state: z.string().describe('What the last attempt left with `POST /subtasks/{id}/wait`.'),
        updates: z.string().describe('What has reached the subtask since: the answer, and other updates. Part of `text` as well.'),
      }),
    )
      .nullable()
      .describe('In an attempt that goes on after a wait.'),
  }),
)

export const claimedSubtaskSchema = component(
  'ClaimedSubtask',
  z.object({
    subtask: subtaskSchema,
    session_id: z.string(),
    credential: z.string().describe('Opens this subtask only, and cannot start work.'),
    traceparent: z.string().nullable().describe('The span that asked for the subtask (W3C Trace Context). Null without a trace.'),
    lease: leaseSchema,
    brief: briefSchema,
  }),
)

const wordedUpdateSchema = component(
  'WordedUpdate',
  updateSchema.extend({ text: z.string().describe('The update as text for the agent: a header, and the content in a block.') }),
)

export const heartbeatAnswerSchema = component(
  'HeartbeatAnswer',
  z.object({
    expires_at: time('Until when the lease holds now.'),
    cancel_requested: z.boolean().describe('True: stop the work and call fail or release.'),
    updates: z.array(wordedUpdateSchema).describe('Repeated until they are acknowledged.'),
  }),
  { expires_at: '2026-03-02T08:01:00.000Z', cancel_requested: false, updates: [] },
)

export function presentWordedUpdate(update: RenderedUpdate): z.output<typeof wordedUpdateSchema> {
  return { ...presentUpdate(update), text: update.text }
}

export function presentClaim(claim: ClaimedSubtask): z.output<typeof claimedSubtaskSchema> {
  return {
    subtask: presentSubtask(claim.subtask),
    session_id: claim.sessionId,
    credential: claim.credential,
    traceparent: claim.traceparent,
    lease: { token: claim.lease.token, attempt: claim.lease.attempt, expires_at: toTime(claim.lease.expiresAt) },
    brief: {
      text: claim.brief.text,
      task: claim.brief.task,
      criteria: claim.brief.criteria.map((criterion) => ({ id: criterion.id, text: criterion.text })),
      required_outputs: presentRequiredOutputs(claim.brief.requiredOutputs),
      revision: claim.brief.revision,
      feedback: claim.brief.feedback,
      subagent: presentLeaseSubagent(claim.brief.subagent),
      continuation: claim.brief.continuation,
    },
  }
}

function presentLeaseSubagent(subagent: ClaimedSubtask['brief']['subagent']): z.output<typeof leaseSubagentSchema> | null {
  if (subagent === null) return null
  const { name, version, instructions, tools, disallowedTools, maxTurns } = subagent
  return { name, version, instructions, tools, disallowed_tools: disallowedTools, max_turns: maxTurns }
}

/** Wire to use-case. */
export function toUsage(given: z.output<typeof usageDelta> | undefined) {
  return {
    inputTokens: given?.input_tokens ?? 0,
    outputTokens: given?.output_tokens ?? 0,
    costUsdMicros: toMicros(given?.cost_usd ?? 0),
    toolCalls: given?.tool_calls ?? 0,
    cachedInputTokens: given?.cached_input_tokens ?? 0,
    model: given?.model ?? null,
  }
}
