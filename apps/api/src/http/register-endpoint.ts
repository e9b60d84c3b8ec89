import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Actor, fieldNames, idsAmong, isLoopback, type Origin } from '@muster/domain'
import { type Ctx, Replay } from '@muster/usecases'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { ApiDeps } from '../api-deps.ts'
import { createEventSink } from '../events/sink.ts'
import { onCredentialEnd } from '../plugins/auth.ts'
import { DEPRECATION_HEADERS, isDeprecated } from './deprecation.ts'
import { type Answer, type Endpoint, needsRoom, type RawCall } from './endpoint.ts'
import { namesTag } from './entity-tag.ts'
import { tooLate } from './errors.ts'
import { FILES_TYPES } from './files-body.ts'
import { readIdempotency } from './idempotency.ts'
import { MERGE_PATCH } from './json-body.ts'
import { logIds } from './request-id.ts'
import { withRoom } from './room.ts'

/** The time limit of a handler, in milliseconds. After it, the caller gets 503 and can retry. */
const DEADLINE_MS = 5_000

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `loopback`: without a key, for calls to a loopback address that come from no web page. */
    access?: Endpoint['access'] | 'loopback'
    repairsText?: boolean
    spawns?: boolean
    /** Whether errors are answered with an empty 200. */
    yields?: boolean
    /** What a body may be, best first. */
    bodyTypes?: readonly string[]
    /** What the parameters of the path have to be, where it has any. */
    params?: z.ZodType | undefined
  }
}

/** Registers an endpoint with the app. Everything that all endpoints share happens here. */
export function registerEndpoint(app: FastifyInstance, deps: ApiDeps, endpoint: Endpoint): void {
  const isPublic = endpoint.isPublicOnLoopback === true && isLoopback(deps.settings.HOST)
  app.route({
    method: endpoint.method,
    url: endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: {
      access: isPublic ? 'loopback' : endpoint.access,
      repairsText: endpoint.repairsText ?? false,
      spawns: endpoint.spawns ?? false,
      yields: endpoint.yieldsAfterMs !== undefined,
      bodyTypes: bodyTypesOf(endpoint),
      params: endpoint.params,
      answersSecret: endpoint.answersSecret,
    },
    handlerTimeout: endpoint.yieldsAfterMs ?? endpoint.bodyDeadlineMs ?? endpoint.deadlineMs ?? DEADLINE_MS,
    ...(endpoint.bodyBytesMax === undefined ? {} : { bodyLimit: endpoint.bodyBytesMax }),
    // A stream cannot be asked for its headers alone without being opened.
    exposeHeadRoute: endpoint.method === 'GET' && endpoint.open === undefined && endpoint.lines === undefined,
    handler: (request, reply) => serve(deps, endpoint, request, reply),
  })
}

/** An endpoint without a body ignores a JSON body. A change of fields may come as RFC 7396 calls it. */
function bodyTypesOf({ method, body, markdown, takesFiles }: Endpoint): string[] {
  if (takesFiles === true) return [...FILES_TYPES]
  if (method === 'PATCH') return ['application/json', MERGE_PATCH]
  return [...(body !== undefined || markdown === undefined ? ['application/json'] : []), ...(markdown === undefined ? [] : ['text/markdown'])]
}

async function serve(deps: ApiDeps, endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const call = toCall(deps, endpoint, request, reply)
  if (isDeprecated(endpoint, request.query as Record<string, unknown>)) reply.headers(DEPRECATION_HEADERS)
  if (endpoint.open !== undefined) {
    const opened = await endpoint.open(call)
    if (opened === null) return reply.status(204).send()
    return sendStream(deps, request, reply, opened.stream)
  }
  if (endpoint.lines !== undefined) return sendLines(deps, endpoint, request, reply, endpoint.lines(call))
  try {
    const { answer } = await inTime(serveWithRoom(endpoint, call, request), (endpoint.deadlineMs ?? DEADLINE_MS) - reply.elapsedTime)
    if (answer.onSent !== undefined) callWhenSent(deps, request, reply.raw, answer.onSent)
    const isKnown = endpoint.takesIfNoneMatch === true && namesTag(request.headers['if-none-match'], answer.headers?.etag)
    return send(reply, isKnown ? { status: 304, headers: { etag: answer.headers?.etag ?? '' } } : answer)
  } catch (error) {
    if (!(error instanceof Replay)) throw error
    const { status, headers, body } = error.answer
    return send(reply.header('idempotent-replayed', 'true'), { status, headers, ...(body === null ? {} : { body }) })
  }
}

/** Serves a call, whose content has room where it stores any. */
async function serveWithRoom(endpoint: Endpoint, call: RawCall, { headers, body }: FastifyRequest): ReturnType<Endpoint['serve']> {
  if (!needsRoom(endpoint)) return await endpoint.serve(call)
  const bytes = Number(headers['content-length'] ?? Buffer.byteLength(JSON.stringify(body ?? null)))
  const withinMs = endpoint.bodyDeadlineMs ?? endpoint.deadlineMs ?? DEADLINE_MS
  return await withRoom(call.ctx, bytes, () => endpoint.serve(call), Math.max(0, withinMs - call.elapsedMs()))
}

/** Fastify's own `handlerTimeout` covers what comes before the body, and all of a request without one: reading a body to its end clears it. */
async function inTime<T>(work: Promise<T>, leftMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooLate()), Math.max(0, leftMs))
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The whole answer has left this process then, over a connection that was still there. */
function callWhenSent(deps: ApiDeps, request: FastifyRequest, response: ServerResponse, onSent: () => Promise<void>): void {
  const { socket } = response
  response.once('finish', () => {
    if (socket?.destroyed === true) return
    onSent().catch((error: unknown) => deps.log.warn({ err: error, ...logIds(request) }, 'what an answer delivered could not be recorded, and comes again'))
  })
}

function send(reply: FastifyReply, { status, headers = {}, body }: Answer): FastifyReply {
  return reply.status(status).headers(headers).send(body)
}

function toCall(deps: ApiDeps, endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): RawCall {
  const idempotency = readIdempotency(endpoint, request)
  // Public endpoints have no actor, and call no use-case that would ask for one.
  const origin = originOf(endpoint, request)
  const ctx: Ctx = {
    ...deps,
    actor: request.actor as Actor,
    ...(idempotency === undefined ? {} : { idempotency }),
    ...(origin === undefined ? {} : { origin }),
    ...(request.traceparent === null ? {} : { traceparent: request.traceparent }),
  }
  const { params, query, body, headers } = request
  return {
    ctx,
    deps,
    params,
    query,
    body,
    headers,
    url: request.url,
    elapsedMs: () => reply.elapsedTime,
    gone: () => goneSignal(reply.raw),
    authorizeAgain: () => request.authorizeAgain(),
  }
}

/** What the audit log says of a write of this request; undefined where it says nothing. */
function originOf({ method, operationId, unaudited }: Endpoint, { ip, id, params, body }: FastifyRequest): Origin | undefined {
  if (method === 'GET' || unaudited !== undefined) return undefined
  return { door: 'http', address: ip, operation: operationId, requestId: id, ids: idsAmong(params as Record<string, unknown>), fields: fieldNames(body) }
}

/** Made once: a signal that is aborted without a reason makes an error with a stack, and every response closes. */
const GONE = new DOMException('The caller has hung up, or has the whole answer.', 'AbortError')

/** Aborted when the caller has hung up, or has the whole answer. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort(GONE))
  if (response.destroyed) gone.abort(GONE)
  return gone.signal
}

/** Takes the response out of the app's hands, with the headers it has got so far. */
function sendStream(
  deps: ApiDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  stream: NonNullable<Awaited<ReturnType<NonNullable<Endpoint['open']>>>>['stream'],
) {
  reply.hijack()
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string | string[]>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    // Nothing is gained by keeping it afterwards, and a server that stops would have to wait for it.
    connection: 'close',
    // Proxies that buffer would hold events back.
    'x-accel-buffering': 'no',
  })
  const sink = createEventSink(reply.raw, deps.stopping)
  const unwatch = onCredentialEnd(deps, request, sink.end)
  sink.closed.addEventListener('abort', unwatch)
  if (sink.closed.aborted) unwatch()
  stream(sink)
    .catch((error: unknown) => deps.log.warn({ err: error, ...logIds(request) }, 'event stream ended early'))
    .finally(() => sink.end())
  return reply
}

/**
 * Sends lines as fast as the client reads them, and stops when the client disconnects or the server stops. An error before the first line is
 * answered like any other; after it, the response breaks off without its end, which clients can detect.
 */
async function sendLines(
  deps: ApiDeps,
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  lines: AsyncGenerator<string, void, undefined>,
): Promise<FastifyReply> {
  const first = await lines.next()
  // It took too long, and has been answered so.
  if (reply.sent) return reply
  reply.hijack()
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string | string[]>),
    'content-type': `${endpoint.answers[200]?.contentType}; charset=utf-8`,
  })
  const all = async function* () {
    if (first.done !== true) yield first.value
    yield* lines
  }
  // One line ahead: each may be of megabytes.
  const ended = new AbortController()
  const unwatch = onCredentialEnd(deps, request, () => ended.abort())
  const signal = AbortSignal.any([deps.stopping, ended.signal])
  pipeline(Readable.from(all(), { highWaterMark: 1 }), reply.raw, { signal })
    .catch((error: unknown) => {
      const isGone = signal.aborted || (error as { code?: unknown }).code === 'ERR_STREAM_PREMATURE_CLOSE'
      if (!isGone) deps.log.warn({ err: error, ...logIds(request) }, 'lines ended early')
    })
    .finally(unwatch)
  return reply
}
