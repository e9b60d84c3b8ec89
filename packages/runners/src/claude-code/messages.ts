import { toStorableJson } from '@muster/domain'
import { z } from 'zod'
import { isTooDeep } from '../command/protocol.ts'

/**
 * What the program writes with `--output-format stream-json`, one JSON object a line, as far as it is looked at here. Its types are those of
 * `@anthropic-ai/claude-agent-sdk`; more fields and more kinds of lines come with every version, and are passed over.
 */
export type ProgramMessage = z.infer<typeof message>
export type ResultMessage = Extract<ProgramMessage, { type: 'result' }>
export type ContentBlock = z.infer<typeof block>

const text = z.string()
/** An invalid count is ignored, and the rest of its line is kept. */
const tokens = z.number().nonnegative().max(1_000_000_000).transform(Math.round).nullish().catch(null)
const usage = z.object({
  input_tokens: tokens,
  cache_creation_input_tokens: tokens,
  cache_read_input_tokens: tokens,
  output_tokens: tokens,
})

const block = z.object({
  type: text,
  text: text.optional(),
  id: text.optional(),
  name: text.optional(),
  input: z.unknown().optional(),
  tool_use_id: text.optional(),
  content: z.unknown().optional(),
  is_error: z.boolean().nullish(),
})
/** Set where it is of an agent inside of this one. */
const parent = text.nullish()

export type PermissionRequest = z.infer<typeof permissionRequest>
const permissionRequest = z.object({
  subtype: z.literal('can_use_tool'),
  tool_name: text,
  input: z.record(text, z.unknown()),
  /** What kind of rule or check the program stopped at. */
  decision_reason_type: text.optional(),
})

const message = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('assistant'),
    parent_tool_use_id: parent,
    message: z.object({ content: z.array(block) }),
    /** It was broken off. */
    aborted: z.boolean().optional(),
    /** The program speaks, not the model. */
    is_api_error_message: z.boolean().optional(),
  }),
  z.object({
    type: z.literal('user'),
    parent_tool_use_id: parent,
    message: z.object({ content: z.union([text, z.array(block)]) }),
    uuid: text.optional(),
    /** It is one that was written to the program, and now is before its model. */
    isReplay: z.boolean().optional(),
  }),
  z.object({
    type: z.literal('stream_event'),
    parent_tool_use_id: parent,
    event: z.object({
      type: text,
      message: z.object({ model: text.optional(), usage: usage.optional() }).optional(),
      usage: usage.optional(),
      delta: z.object({ stop_reason: text.nullish() }).optional(),
    }),
  }),
  z.object({
    type: z.literal('system'),
    subtype: text,
    error_status: z.number().nullish(),
    retry_delay_ms: z.number().optional(),
  }),
  z.object({
    type: z.literal('result'),
    subtype: text,
    is_error: z.boolean(),
    result: text.optional(),
    structured_output: z.unknown().optional(),
    errors: z.array(text).optional(),
    stop_reason: text.nullish(),
    /** Why the turn ended. */
    terminal_reason: text.nullish(),
    api_error_status: z.number().nullish(),
    /** All of the session so far, by the prices that the program knows. */
    total_cost_usd: z.number().nonnegative().max(1_000_000).optional().catch(undefined),
    modelUsage: z
      .record(
        text,
        z.object({ inputTokens: tokens, outputTokens: tokens, cacheReadInputTokens: tokens, cacheCreationInputTokens: tokens, costUSD: z.number().nullish() }),
      )
      .optional(),
    queued_turn_count: z.number().optional(),
    user_message_uuids: z.array(text).optional(),
  }),
  /** The state of a message that was written to the program: queued, started, completed, cancelled. */
  z.object({ type: z.literal('command_lifecycle'), command_uuid: text, state: text }),
  z.object({ type: z.literal('control_request'), request_id: text, request: z.unknown().optional() }),
  /** It needs no answer any more to a request of its own. */
  z.object({ type: z.literal('control_cancel_request'), request_id: text }),
])

/** Null for what is none of these. Never throws. */
export function parseMessage(line: string): ProgramMessage | null {
  try {
    const value: unknown = JSON.parse(line)
    if (isTooDeep(value)) return null
    const parsed = message.safeParse(toStorableJson(value))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}

/** A message to the model. Sent as composed: the program does not look for commands or files in it. */
export function userMessage(uuid: string, content: string): object {
  return { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, uuid, client_composed: true }
}

/** Breaks off what the model and its tools do. */
export function interruptRequest(requestId: string): object {
  return { type: 'control_request', request_id: requestId, request: { subtype: 'interrupt' } }
}

/** The question whether a tool may be used; null for every other request. */
export function permissionRequestOf({ request }: Extract<ProgramMessage, { type: 'control_request' }>): PermissionRequest | null {
  const parsed = permissionRequest.safeParse(request)
  return parsed.success ? parsed.data : null
}

/** The answer to a request of the program. */
export function responseTo(requestId: string, response: object): object {
  return { type: 'control_response', response: { subtype: 'success', request_id: requestId, response } }
}

/** Whatever the program asks its host for, this one does not have. */
export function refusalOf(requestId: string): object {
  return { type: 'control_response', response: { subtype: 'error', request_id: requestId, error: 'No user is present to answer.' } }
}

/** What a tool has answered, as text. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return content == null ? '' : JSON.stringify(content)
  return content
    .map((part: { type?: unknown; text?: unknown }) => (typeof part?.text === 'string' ? part.text : `[${String(part?.type ?? 'data')}]`))
    .join('\n')
}
