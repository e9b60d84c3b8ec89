import { errorOf, MusterError } from '../errors.ts'
import { OPERATIONS } from '../generated/operations.ts'
import type { InputOf, OperationId, OutputOf } from './operation.ts'
import { backoffMs, pause } from './pause.ts'

/** How one call is made. */
export interface CallOptions {
  /** Ends the call, which rejects with the reason of the signal. */
  signal?: AbortSignal | undefined
  /** The most that one try may take, beside the `wait_seconds` of a long poll. Default: that of the client. */
  timeoutMs?: number | undefined
  /** How many times the call is repeated where that is safe. Default: that of the client. */
  retries?: number | undefined
  /** Makes a POST safe to repeat, also by another process. Default: a new one for each call. */
  idempotencyKey?: string | undefined
  /** More headers, such as `If-Match`. */
  headers?: Record<string, string> | undefined
  /** The media type of the body, where it is not the usual one of the operation. */
  contentType?: string | undefined
}

export interface TransportOptions {
  url: string
  key: string | undefined
  timeoutMs: number
  retries: number
  fetch: typeof fetch
}

/** An answer with its headers, for a caller that needs them, such as the `ETag`. */
export interface Answered<O extends OperationId> {
  data: OutputOf<O>
  status: number
  headers: Headers
}

interface Loose {
  path?: Record<string, string> | undefined
  query?: Record<string, unknown> | undefined
  body?: unknown
}

/** A longer Retry-After is the caller's decision. */
const RETRY_AFTER_SECONDS_MAX = 60

/** Calls operations over HTTP: keys, time limits, repetition, errors. */
export class Transport {
  readonly options: TransportOptions

  constructor(options: TransportOptions) {
    this.options = options
  }

  /** Calls an operation. @throws MusterError, or the reason of the signal */
  async call<O extends OperationId>(operation: O, input?: InputOf<O>, options: CallOptions = {}): Promise<OutputOf<O>> {
    return (await this.answer(operation, input, options)).data
  }

  /** The same, with status and headers. */
  async answer<O extends OperationId>(operation: O, input?: InputOf<O>, options: CallOptions = {}): Promise<Answered<O>> {
    const request = this.#request(operation, input as Loose | undefined, options)
    const timeoutMs = (options.timeoutMs ?? this.options.timeoutMs) + waitMs(input as Loose | undefined)
    return this.#repeat(request, options, (signal) => {
      return within(timeoutMs, signal, request.name, async (limited) => {
        const response = await this.#send(request, limited)
        return { data: (await bodyOf(response)) as OutputOf<O>, status: response.status, headers: response.headers }
      })
    })
  }

  /** Opens an answer that arrives in pieces, and repeats only its beginning. The time limit counts until it begins. */
  async open<O extends OperationId>(operation: O, input?: InputOf<O>, options: CallOptions = {}): Promise<Response> {
    const request = this.#request(operation, input as Loose | undefined, options)
    const timeoutMs = options.timeoutMs ?? this.options.timeoutMs
    return this.#repeat(request, options, (signal) => {
      const hangUp = new AbortController()
      const either = signal === undefined ? hangUp.signal : AbortSignal.any([signal, hangUp.signal])
      const timer = setTimeout(() => hangUp.abort(new MusterError('timed_out', `${request.name} was not answered within ${timeoutMs} ms.`)), timeoutMs)
      return this.#send(request, either).finally(() => clearTimeout(timer))
    })
  }

  async #send(request: PreparedRequest, signal: AbortSignal | undefined): Promise<Response> {
    let response: Response
    try {
      response = await this.options.fetch(request.url, { ...request.init, ...(signal === undefined ? {} : { signal }) })
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason
      throw new MusterError('connection_failed', `${request.name}: ${this.options.url} could not be reached: ${reasonOf(error)}`, { cause: error })
    }
    if (!response.ok) throw await errorOf(response, request.name)
    return response
  }

  async #repeat<Value>(request: PreparedRequest, options: CallOptions, attempt: (signal: AbortSignal | undefined) => Promise<Value>): Promise<Value> {
    const retries = options.retries ?? this.options.retries
    for (let count = 0; ; count += 1) {
      try {
        return await attempt(options.signal)
      } catch (error) {
        if (options.signal?.aborted === true) throw options.signal.reason
        const delay = count < retries ? retryDelayMs(error, request.isRepeatable, count) : undefined
        if (delay === undefined) throw error
        await pause(delay, options.signal)
      }
    }
  }

  #request(operation: OperationId, input: Loose = {}, options: CallOptions): PreparedRequest {
    const [method = 'GET', template = '/', bodyType = 'application/json'] = OPERATIONS[operation].split(' ')
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = input.path?.[name]
      if (value === undefined || value === '') throw new TypeError(`${operation} needs ${name}.`)
      // A URL takes dots as the way up, also encoded: this would be another operation.
      if (value === '.' || value === '..') throw new TypeError(`${operation}: ${name} cannot be ${value}`)
      return encodeURIComponent(value)
    })
    const url = new URL(`${this.options.url}${path}`)
    for (const [name, value] of Object.entries(input.query ?? {})) if (value !== undefined && value !== null) url.searchParams.set(name, String(value))
    const headers = new Headers({ accept: 'application/json, */*;q=0.5', ...options.headers })
    if (this.options.key !== undefined && this.options.key !== '') headers.set('authorization', `Bearer ${this.options.key}`)
    if (method === 'POST') headers.set('idempotency-key', options.idempotencyKey ?? crypto.randomUUID())
    const type = options.contentType ?? bodyType
    const body = encode(input.body, type)
    // A form sets its own type, with the text that separates its parts.
    if (body !== undefined && !(body instanceof FormData)) headers.set('content-type', type)
    const init = { method, headers, ...(body === undefined ? {} : { body }) }
    return { name: `${method} ${path}`, url, init, isRepeatable: method !== 'PATCH' }
  }
}

interface PreparedRequest {
  name: string
  url: URL
  init: RequestInit
  /** A PATCH takes no Idempotency-Key, so its second try could be refused because the first was successful. */
  isRepeatable: boolean
}

/** How long to wait before a repetition, or undefined where there must be none. */
function retryDelayMs(error: unknown, isRepeatable: boolean, count: number): number | undefined {
  if (!(error instanceof MusterError) || !error.retryable) return undefined
  // Refused with this status, or no connection at all: nothing was done.
  const wasNotDone = [429, 503].includes(error.status) || (error.cause as { cause?: { code?: unknown } } | undefined)?.cause?.code === 'ECONNREFUSED'
  if (!isRepeatable && !wasNotDone) return undefined
  if (error.retryAfterSeconds === undefined) return backoffMs(count)
  if (error.retryAfterSeconds > RETRY_AFTER_SECONDS_MAX) return undefined
  // Not all at once, where many clients were refused together.
  return error.retryAfterSeconds * 1000 + Math.random() * 250
}

async function within<Value>(timeoutMs: number, signal: AbortSignal | undefined, name: string, work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(new MusterError('timed_out', `${name} was not answered within ${timeoutMs} ms.`)), timeoutMs)
  try {
    return await work(signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]))
  } finally {
    clearTimeout(timer)
  }
}

/** The body of an answer. @throws MusterError if the connection broke while it was read */
async function bodyOf(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    if (error instanceof MusterError) throw error
    throw new MusterError('connection_failed', `The connection broke while the answer was read: ${reasonOf(error)}`, { cause: error })
  }
  if (response.headers.get('content-type')?.includes('json') !== true) return text
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new MusterError('answer_invalid', 'The answer is not JSON, although it says so.', { status: response.status, cause: error })
  }
}

type Sendable = string | Uint8Array<ArrayBuffer> | Blob | FormData

function encode(body: unknown, type: string): Sendable | undefined {
  if (body === undefined) return undefined
  return type === 'application/json' ? JSON.stringify(body) : (body as Sendable)
}

function waitMs(input: Loose | undefined): number {
  const seconds = input?.query?.wait_seconds ?? (input?.body as { wait_seconds?: unknown } | undefined)?.wait_seconds
  return typeof seconds === 'number' ? seconds * 1000 : 0
}

/** What fetch says is "fetch failed"; the reason is in its cause. */
function reasonOf(error: unknown): string {
  const cause = (error as { cause?: unknown }).cause
  if (cause instanceof Error && cause.message !== '') return cause.message
  return error instanceof Error ? error.message : String(error)
}
