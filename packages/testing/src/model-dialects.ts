/**
 * How the answers of models look on the wire, for the scripted servers of tests: one turn, in the dialects of Anthropic and of OpenAI,
 * old (chat completions) and new (responses), as a stream or whole.
 */

/** What a model says when it is called. */
export interface ScriptedTurn {
  /** Its text, in the pieces in which it is sent. */
  text?: string | string[]
  /** Tool calls; `rawInput` in place of `input` is sent as it is, JSON or not. */
  toolCalls?: { name: string; input?: unknown; rawInput?: string }[]
  /** Why it stops, where that does not follow from the tool calls. */
  finish?: 'length' | 'refusal'
  usage?: { input: number; output: number }
  /** `stall`: text and tool calls, then nothing for ever. `cut`: the connection breaks off there. */
  ending?: 'stall' | 'cut'
  /** Instead of an answer: an HTTP error. */
  status?: number
  headers?: Record<string, string>
  /** The message of the error. */
  error?: string
  /** Instead of the rest: an error inside of the stream, after the text. */
  streamError?: { type: string; message: string }
}

export type Dialect = 'anthropic' | 'openai-chat' | 'openai-responses'

const DEFAULT_USAGE = { input: 10, output: 5 }

/** The events of a turn up to its end, and those of the end. */
export function renderTurn(dialect: Dialect, turn: ScriptedTurn, model: string, serial: number): { begin: string[]; end: string[] } {
  return RENDERERS[dialect](turn, model, serial)
}

/** The text of a turn as one answer, for a caller that did not ask for a stream. */
export function renderWhole(dialect: Dialect, turn: ScriptedTurn, model: string, serial: number): string {
  const text = pieces(turn).join('')
  const { input, output } = turn.usage ?? DEFAULT_USAGE
  const counted = { input_tokens: input, output_tokens: output }
  const totals = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
  const message = { role: 'assistant', content: text, refusal: null }
  const part = { type: 'output_text', text, annotations: [] }
  const item = { id: `msg_${serial}`, type: 'message', role: 'assistant', status: 'completed', content: [part] }
  const answers: Record<Dialect, object> = {
    anthropic: {
      ...{ id: `msg_${serial}`, type: 'message', role: 'assistant', model, content: [{ type: 'text', text }] },
      ...{ stop_reason: 'end_turn', stop_sequence: null, usage: counted },
    },
    'openai-chat': {
      ...{ id: `chatcmpl-${serial}`, object: 'chat.completion', created: 1_700_000_000, model },
      ...{ choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }], usage: totals },
    },
    'openai-responses': {
      ...{ id: `resp_${serial}`, object: 'response', created_at: 1_700_000_000, model, status: 'completed', output: [item] },
      ...{ parallel_tool_calls: true, tool_choice: 'auto', tools: [], usage: { ...counted, total_tokens: input + output } },
    },
  }
  return JSON.stringify(answers[dialect])
}

export function renderError(dialect: Dialect, turn: ScriptedTurn): string {
  const message = turn.error ?? `scripted error ${turn.status}`
  const type = ERROR_TYPES[turn.status ?? 500] ?? 'api_error'
  return JSON.stringify(dialect === 'anthropic' ? { type: 'error', error: { type, message } } : { error: { message, type, code: null, param: null } })
}

const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

const RENDERERS: Record<Dialect, (turn: ScriptedTurn, model: string, serial: number) => { begin: string[]; end: string[] }> = {
  anthropic: renderAnthropic,
  'openai-chat': renderChat,
  'openai-responses': renderResponses,
}

const pieces = ({ text = [] }: ScriptedTurn): string[] => (typeof text === 'string' ? [text] : text)
const inputOf = (call: { input?: unknown; rawInput?: string }): string => call.rawInput ?? JSON.stringify(call.input ?? {})
const callId = (serial: number, index: number): string => `call_${serial}_${index}`
const halves = (text: string): string[] => [text.slice(0, Math.ceil(text.length / 2)), text.slice(Math.ceil(text.length / 2))]

function renderAnthropic(turn: ScriptedTurn, model: string, serial: number) {
  const event = (data: { type: string; [field: string]: unknown }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const usage = turn.usage ?? DEFAULT_USAGE
  const begin = [
    event({
      type: 'message_start',
      message: {
        id: `msg_${serial}`,
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: usage.input, output_tokens: 1 },
      },
    }),
    event({ type: 'ping' }),
  ]
  let index = 0
  const block = (contentBlock: object, deltas: object[]) => {
    begin.push(
      event({ type: 'content_block_start', index, content_block: contentBlock }),
      ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    )
    index += 1
    return event({ type: 'content_block_stop', index: index - 1 })
  }
  const end: string[] = []
  // The last block stays open, for turns that end in the middle of it.
  const close = (stop: string) => end.push(stop)
  if (pieces(turn).length > 0) {
    close(
      block(
        { type: 'text', text: '' },
        pieces(turn).map((text) => ({ type: 'text_delta', text })),
      ),
    )
  }
  for (const [callIndex, call] of (turn.toolCalls ?? []).entries()) {
    begin.push(...end.splice(0))
    close(
      block(
        { type: 'tool_use', id: callId(serial, callIndex), name: call.name, input: {} },
        halves(inputOf(call)).map((partial) => ({ type: 'input_json_delta', partial_json: partial })),
      ),
    )
  }
  if (turn.streamError !== undefined) return { begin, end: [event({ type: 'error', error: turn.streamError })] }
  const reasons = { length: 'max_tokens', refusal: 'refusal' }
  const reason = turn.finish === undefined ? (turn.toolCalls === undefined ? 'end_turn' : 'tool_use') : reasons[turn.finish]
  end.push(event({ type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: usage.output } }))
  end.push(event({ type: 'message_stop' }))
  return { begin, end }
}

function renderChat(turn: ScriptedTurn, model: string, serial: number) {
  const chunk = (choice: object | null, more: object = {}) =>
    `data: ${JSON.stringify({ id: `chatcmpl-${serial}`, object: 'chat.completion.chunk', created: 1_700_000_000, model, choices: choice === null ? [] : [{ index: 0, finish_reason: null, ...choice }], ...more })}\n\n`
  const usage = turn.usage ?? DEFAULT_USAGE
  const isRefusal = turn.finish === 'refusal'
  const begin = [
    chunk({ delta: { role: 'assistant', content: '' } }),
    ...pieces(turn).map((text) => chunk({ delta: isRefusal ? { refusal: text } : { content: text } })),
    ...(turn.toolCalls ?? []).flatMap((call, index) => {
      const [first, second] = halves(inputOf(call))
      return [
        chunk({ delta: { tool_calls: [{ index, id: callId(serial, index), type: 'function', function: { name: call.name, arguments: first } }] } }),
        chunk({ delta: { tool_calls: [{ index, function: { arguments: second } }] } }),
      ]
    }),
  ]
  if (turn.streamError !== undefined) return { begin, end: [`data: ${JSON.stringify({ error: { ...turn.streamError, code: null } })}\n\n`] }
  const reason = turn.finish === 'length' ? 'length' : turn.toolCalls === undefined ? 'stop' : 'tool_calls'
  const total = usage.input + usage.output
  return {
    begin,
    end: [
      chunk({ delta: {}, finish_reason: reason }),
      chunk(null, { usage: { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: total } }),
      'data: [DONE]\n\n',
    ],
  }
}

function renderResponses(turn: ScriptedTurn, model: string, serial: number) {
  let sequence = 0
  const event = (data: { type: string; [field: string]: unknown }) => {
    sequence += 1
    return `event: ${data.type}\ndata: ${JSON.stringify({ ...data, sequence_number: sequence })}\n\n`
  }
  const id = `resp_${serial}`
  const usage = turn.usage ?? DEFAULT_USAGE
  const begin = [event({ type: 'response.created', response: { id, object: 'response', created_at: 1_700_000_000, model, status: 'in_progress' } })]
  const end: string[] = []
  if (pieces(turn).length > 0) {
    const item = { id: `msg_${serial}`, type: 'message', role: 'assistant' }
    begin.push(event({ type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } }))
    begin.push(...pieces(turn).map((delta) => event({ type: 'response.output_text.delta', item_id: item.id, output_index: 0, content_index: 0, delta })))
    const content = [{ type: 'output_text', text: pieces(turn).join(''), annotations: [] }]
    end.push(event({ type: 'response.output_item.done', output_index: 0, item: { ...item, status: 'completed', content } }))
  }
  for (const [index, call] of (turn.toolCalls ?? []).entries()) {
    begin.push(...end.splice(0))
    const item = { id: `fc_${serial}_${index}`, type: 'function_call', call_id: callId(serial, index), name: call.name }
    begin.push(event({ type: 'response.output_item.added', output_index: index + 1, item: { ...item, arguments: '', status: 'in_progress' } }))
    begin.push(event({ type: 'response.function_call_arguments.delta', item_id: item.id, output_index: index + 1, delta: inputOf(call) }))
    end.push(event({ type: 'response.output_item.done', output_index: index + 1, item: { ...item, arguments: inputOf(call), status: 'completed' } }))
  }
  const isLong = turn.finish === 'length'
  const response = {
    id,
    object: 'response',
    created_at: 1_700_000_000,
    model,
    status: isLong ? 'incomplete' : 'completed',
    ...(isLong && { incomplete_details: { reason: 'max_output_tokens' } }),
    usage: { input_tokens: usage.input, output_tokens: usage.output, total_tokens: usage.input + usage.output },
  }
  end.push(event({ type: isLong ? 'response.incomplete' : 'response.completed', response }))
  return { begin, end }
}
