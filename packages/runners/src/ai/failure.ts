import { cutToCodePoints } from '@muster/domain'
import type { ModelChoice } from './models.ts'
import type { Redact } from './redact.ts'

/** Why a model call brought no answer, in words that may be shown. */
export interface Failure {
  /** Says what happened and, where an operator can help, what to do. Never a key, never a prompt. */
  message: string
  /** Whether the same call may succeed later. */
  retryable: boolean
  /** What the provider asks to wait, in milliseconds. */
  retryAfterMs: number | null
}

/** The stream stood still for too long. */
export class ModelSilent extends Error {
  constructor(seconds: number) {
    super(`sent nothing for ${seconds} s`)
    this.name = 'ModelSilent'
  }
}

const PROVIDER_TITLES = { anthropic: 'Anthropic', openai: 'The OpenAI server' } as const
const KEY_NAMES = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY' } as const
const URL_NAMES = { anthropic: 'ANTHROPIC_BASE_URL', openai: 'OPENAI_BASE_URL' } as const
const DETAIL_LENGTH_MAX = 500
/** Errors of the SDK about what we have sent: the same call fails the same way. */
const OUR_FAULT =
  /^AI_(InvalidPrompt|InvalidArgument|UnsupportedFunctionality|LoadAPIKey|LoadSetting|NoSuchModel|InvalidDataContent|InvalidMessageRole|MessageConversion)Error$/

/** What an error of the SDKs, of the network or of the provider means. */
export function describeFailure(error: unknown, { provider, modelId }: ModelChoice, redact: Redact): Failure {
  const title = PROVIDER_TITLES[provider]
  const detail = cutToCodePoints(redact(messageOf(error)), DETAIL_LENGTH_MAX)
  const permanent = (message: string): Failure => ({ message, retryable: false, retryAfterMs: null })
  const transient = (message: string): Failure => ({ message, retryable: true, retryAfterMs: retryAfterMs(error) })
  const status = statusOf(error)

  if (error instanceof ModelSilent) return transient(`${title} ${error.message} (MODEL_IDLE_TIMEOUT).`)
  // What providers say of a refused key shows parts of it, so it is left out.
  if (status === 401 || status === 403) return permanent(`${title} refused the key (${status}). Set a valid ${KEY_NAMES[provider]} that may use "${modelId}".`)
  if (status === 402 || isOutOfCredit(error))
    return permanent(`${title} says that the account of ${KEY_NAMES[provider]} has no credit left. Top it up, or set another key.`)
  if (status === 404) {
    return permanent(`${title} does not know the model "${modelId}" (404). Check the name, MODEL_ALIASES and ${URL_NAMES[provider]}. It said: ${detail}`)
  }
  if (status === 429) return transient(`${title} limits the calls (429): ${detail}`)
  if (status === 408 || status === 409 || (status !== null && status >= 500)) return transient(`${title} failed (${status}): ${detail}`)
  if (status !== null && status >= 400) return permanent(`${title} refused the request to "${modelId}" (${status}): ${detail}`)
  if (OUR_FAULT.test(nameOf(error))) return permanent(`The request to "${modelId}" could not be made: ${detail}`)
  const cause = causeCode(error)
  if (cause !== null) return transient(`${title} could not be reached, or broke the connection off (${cause}). Check ${URL_NAMES[provider]} if this stays.`)
  return transient(`${title} broke its answer off: ${detail}`)
}

function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message
  const message = (error as { message?: unknown } | null)?.message
  return typeof message === 'string' ? message : 'an error without a message'
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : ''
}

function statusOf(error: unknown): number | null {
  const { statusCode } = (error ?? {}) as { statusCode?: unknown }
  if (typeof statusCode === 'number' && statusCode >= 400) return statusCode
  const byType = STREAMED_ERRORS[String((error as { type?: unknown } | null)?.type)]
  return byType ?? null
}

/** Errors inside of a stream that has begun with status 200. */
const STREAMED_ERRORS: Record<string, number> = {
  overloaded_error: 529,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
}

function isOutOfCredit(error: unknown): boolean {
  const { responseBody, code } = (error ?? {}) as { responseBody?: unknown; code?: unknown }
  return code === 'insufficient_quota' || (typeof responseBody === 'string' && responseBody.includes('"insufficient_quota"'))
}

/** A code such as ECONNREFUSED, of the error or of what caused it. */
function causeCode(error: unknown): string | null {
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1) {
    const { code } = current as { code?: unknown }
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code)) return code
  }
  return null
}

/** `Retry-After` in its forms. A date is read against the response's own, so that the clocks need not agree. */
function retryAfterMs(error: unknown): number | null {
  const headers = (error as { responseHeaders?: Record<string, string> } | null)?.responseHeaders ?? {}
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds)
  const given = headers['retry-after']
  if (given === undefined) return null
  const seconds = Number(given)
  const wait = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(given) - Date.parse(headers.date ?? '')
  return Number.isFinite(wait) ? Math.max(0, wait) : null
}
