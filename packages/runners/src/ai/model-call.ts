import type { AssistantModelMessage, LanguageModel, ModelMessage, ToolSet } from 'ai'
import type { CallUsage } from './budget.ts'
import { ModelSilent } from './failure.ts'

/** A tool call of a model. `problem` says why it cannot be run as it is: the tool was not offered, or its arguments are not JSON or do not match. */
export interface ToolRequest {
  id: string
  name: string
  input: unknown
  problem: string | null
}

export interface ModelAnswer {
  text: string
  /** What to go on with: the answer as the provider wants it back. */
  messages: AssistantModelMessage[]
  toolRequests: ToolRequest[]
  finish: 'stop' | 'length' | 'refused'
  usage: CallUsage
}

/** How one call ended: with an answer, by the signal, or by an error, which may have come after some text. */
export type CallEnd = { kind: 'answer'; answer: ModelAnswer } | { kind: 'aborted'; text: string } | { kind: 'failed'; error: unknown; text: string }

export interface CallOptions {
  model: LanguageModel
  instructions: string
  messages: ModelMessage[]
  tools: ToolSet
  signal: AbortSignal
  /** Seconds without a sign of life after which the call has failed. */
  idleSeconds: number
  /** How long the answer may be, in tokens; absent for as long as the model likes. */
  answerTokensMax?: number | undefined
}

/** Longer than any intended answer. A server that never stops must not fill the worker's memory. */
const ANSWER_LENGTH_MAX = 8 * 1024 * 1024
/** Where a server does not say how many tokens it has used, they are guessed by this. */
const CHARACTERS_PER_TOKEN = 4

/** Calls a model once, and reads its answer as it streams. Never throws. */
export async function callModel({ model, instructions, messages, tools, signal, idleSeconds, answerTokensMax }: CallOptions): Promise<CallEnd> {
  const { streamText } = await loadSdk()
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(new ModelSilent(idleSeconds)), idleSeconds * 1_000)
  let text = ''
  let length = 0
  let end: Extract<Part, { type: 'finish-step' }> | null = null
  let failure: { error: unknown } | null = null
  const toolRequests: ToolRequest[] = []

  function addLength(piece: string) {
    length += piece.length
    if (length > ANSWER_LENGTH_MAX) ending.abort(new Error(`the answer has more than ${ANSWER_LENGTH_MAX} characters`))
  }

  function take(part: Part) {
    timer.refresh()
    switch (part.type) {
      case 'text-delta':
        text += part.text
        addLength(part.text)
        break
      case 'reasoning-delta':
        addLength(part.text)
        break
      case 'tool-input-delta':
        addLength(part.delta)
        break
      case 'tool-call':
        toolRequests.push({
          id: part.toolCallId,
          name: part.toolName,
          input: part.input,
          problem: part.invalid === true ? inputProblem(part.error) : null,
        })
        break
      case 'error':
        failure ??= { error: part.error }
        break
      case 'finish-step':
        end = part
        break
    }
  }

  try {
    const result = streamText({
      model,
      instructions,
      messages,
      tools,
      maxRetries: 0,
      ...(answerTokensMax === undefined ? {} : { maxOutputTokens: answerTokensMax }),
      abortSignal: AbortSignal.any([signal, ending.signal]),
      // Without it the SDK prints errors, with prompts in them, to the console.
      onError: () => {},
    })
    for await (const part of result.stream) take(part)
    if (signal.aborted) return { kind: 'aborted', text }
    if (ending.signal.aborted) return { kind: 'failed', error: ending.signal.reason, text }
    if (failure !== null) return { kind: 'failed', error: (failure as { error: unknown }).error, text }
    // Assigned in a function, which the compiler does not follow.
    const finish = end as Extract<Part, { type: 'finish-step' }> | null
    if (finish === null || finish.finishReason === 'error' || finish.finishReason === 'interrupted') {
      return { kind: 'failed', error: new Error('the stream ended before the answer did'), text }
    }
    const said = (await result.responseMessages).filter((message) => message.role === 'assistant')
    const usage = usageOf(
      finish.usage,
      () => lengthOf(instructions, messages),
      () => text.length + JSON.stringify(toolRequests).length,
    )
    return { kind: 'answer', answer: { text, messages: said, toolRequests, finish: finishOf(finish.finishReason), usage } }
  } catch (error) {
    if (signal.aborted) return { kind: 'aborted', text }
    return { kind: 'failed', error: ending.signal.aborted ? ending.signal.reason : error, text }
  } finally {
    clearTimeout(timer)
  }
}

type Sdk = typeof import('ai')
type Part = ReturnType<Sdk['streamText']>['stream'] extends AsyncIterable<infer Item> ? Item : never

/** The SDK prints warnings about models to the console by default. */
async function loadSdk(): Promise<Sdk> {
  globalThis.AI_SDK_LOG_WARNINGS = false
  return await import('ai')
}

function finishOf(reason: string): ModelAnswer['finish'] {
  return reason === 'length' ? 'length' : reason === 'content-filter' ? 'refused' : 'stop'
}

/** Why the arguments of a call cannot be used, without the SDK's repetition of them. */
function inputProblem(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const parser = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return parser instanceof Error ? parser.message.slice(0, 1_000) : 'the arguments cannot be read'
}

function usageOf(
  usage: {
    inputTokens: number | undefined
    inputTokenDetails?: { cacheReadTokens?: number | undefined }
    outputTokens: number | undefined
    raw?: unknown
  },
  inputLength: () => number,
  outputLength: () => number,
): CallUsage {
  const guess = (length: number) => Math.ceil(length / CHARACTERS_PER_TOKEN)
  const { cost } = (usage.raw ?? {}) as { cost?: unknown }
  return {
    inputTokens: counted(usage.inputTokens) ?? guess(inputLength()),
    cachedInputTokens: counted(usage.inputTokenDetails?.cacheReadTokens) ?? 0,
    outputTokens: counted(usage.outputTokens) ?? guess(outputLength()),
    // Some servers, such as OpenRouter, say what a call has cost.
    costUsd: typeof cost === 'number' && cost >= 0 && cost <= COST_USD_MAX ? cost : null,
  }
}

/** What a server may say that one call has used; more is no count of anything, and could not be stored. */
const TOKENS_MAX = 1_000_000_000
const COST_USD_MAX = 1_000_000

function counted(tokens: number | undefined): number | undefined {
  return tokens !== undefined && tokens >= 0 && tokens <= TOKENS_MAX ? Math.round(tokens) : undefined
}

function lengthOf(instructions: string, messages: readonly ModelMessage[]): number {
  return instructions.length + JSON.stringify(messages).length
}
