import { DomainError, ERROR_CODES, type ErrorCode } from '@muster/domain'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiDeps } from '../api-deps.ts'

/** How each error shows at this door, besides what `ERROR_CODES` says: a new code does not compile until it is answered here. */
interface HttpError {
  /** For the reference of the API. */
  summary: string
  /** Sent as `Retry-After` where the error itself does not say. */
  retryAfterSeconds?: number
}

export const HTTP_ERRORS: Record<ErrorCode, HttpError> = {
  validation_failed: { summary: 'The request is not what the endpoint takes; `errors` names every problem.' },
  cursor_invalid: { summary: 'The cursor is not one that this list or log handed out.' },
  unauthenticated: { summary: 'No key came with the request, or it is unknown, expired or revoked.' },
  forbidden: { summary: 'The credential lacks the scope, or an open server was called from a web page.' },
  spawn_blocked: { summary: 'The caller is itself a subtask and asked for another one.' },
  not_found: { summary: 'There is no such thing, or it is not yours.' },
  subagent_not_found: { summary: 'No sub-agent has this name.' },
  method_not_allowed: { summary: 'The path exists, the method on it does not.' },
  conflict: { summary: 'The request contradicts something that is there already.' },
  invalid_transition: { summary: 'The state of the thing does not lead where the request wants to go.' },
  not_cancellable: { summary: 'The subtask has ended.' },
  not_steerable: { summary: 'The subtask is running and its runner takes no updates.' },
  tsg_in_use: { summary: 'The guide is linked to tasks; `task_ids` names some of them.' },
  request_in_progress: { summary: 'A request with the same `Idempotency-Key` is being worked on.', retryAfterSeconds: 1 },
  cursor_pruned: { summary: 'The events after this cursor are not kept any more.' },
  lease_lost: { summary: 'The `lease_token` is not the current one.' },
  revision_stale: { summary: 'The brief has changed since the revision in `If-Match`; `revision` is the current one.' },
  payload_too_large: { summary: 'The body is larger than the endpoint takes.' },
  uri_too_long: { summary: 'The address of the request is longer than the server reads.' },
  unsupported_media_type: { summary: 'The endpoint does not read this `Content-Type`, or the body is compressed.' },
  expectation_failed: { summary: 'The server does not meet what the header `Expect` asks for.' },
  idempotency_mismatch: { summary: 'The `Idempotency-Key` was used before with another request.' },
  outputs_missing: { summary: 'Required outputs are absent or fail their schema; `errors` names each.' },
  dependency_cycle: { summary: 'The task would wait for itself; `path` is the way around.' },
  schedule_ambiguous: { summary: 'The phrase can be read in more than one way; `candidates` are phrases that cannot.' },
  schedule_unparseable: { summary: 'The phrase was not understood as a whole.' },
  schedule_in_past: { summary: 'The time lies in the past.' },
  subagent_invalid: { summary: 'The definition cannot be used as it is; `errors` names every problem, with its line.' },
  background_mcp_blocked: { summary: 'The definition wants MCP tools, and none works in the background; `tools` names them.' },
  runner_unavailable: { summary: 'The runner is not known or not set up on this server.' },
  revision_required: { summary: 'The change of a brief has to say in `If-Match` which revision it was made from.' },
  rate_limited: { summary: 'Too many requests in too short a time.', retryAfterSeconds: 1 },
  pending_limit_reached: { summary: 'As many subtasks of this agent are waiting as its limit allows.', retryAfterSeconds: 5 },
  headers_too_large: { summary: 'The headers of the request are larger than the server reads.' },
  internal: { summary: 'A defect in the server; the log has the cause under `request_id`.' },
  method_not_implemented: { summary: 'The server does not know this HTTP method.' },
  unavailable: { summary: 'The database is not reachable, or the server is starting, stopping or too slow.', retryAfterSeconds: 1 },
  subtasks_disabled: { summary: 'The operator has switched subtasks off.', retryAfterSeconds: 60 },
  schedules_disabled: { summary: 'The operator has switched schedules off.', retryAfterSeconds: 60 },
}

/** Fastify's own errors, in the words of ours. Everything else it raises below 500 is a request it could not read. */
const FASTIFY_ERRORS: Record<string, (request: FastifyRequest) => DomainError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new DomainError('payload_too_large', 'The body is larger than this endpoint takes: 1 MiB, or 8 MiB for results, messages and evaluations.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: unsupportedMediaType,
  FST_ERR_HANDLER_TIMEOUT: tooLate,
}

/** For a body of a type that the endpoint does not read. */
export function unsupportedMediaType(request: Pick<FastifyRequest, 'routeOptions'>): DomainError {
  const [first = 'application/json', ...others] = request.routeOptions.config.bodyTypes ?? []
  return new DomainError('unsupported_media_type', `This endpoint reads another type of body: send Content-Type: ${[first, ...others].join(' or ')}.`)
}

/** For a handler that has not ended in its time. */
export function tooLate(): DomainError {
  return new DomainError('unavailable', 'The request took longer than the server waits. It may still take effect; repeat it with the same Idempotency-Key.')
}

/** What a caller is told about anything that was thrown. */
function toDomainError(error: unknown, request: FastifyRequest, deps: Pick<ApiDeps, 'isUnavailable' | 'unavailable'>): DomainError {
  if (error instanceof DomainError) return error
  if (deps.isUnavailable(error)) return deps.unavailable(error, request.method === 'GET' || request.method === 'HEAD')
  const { code, statusCode, message } = error as Partial<FastifyError>
  const known = code === undefined ? undefined : FASTIFY_ERRORS[code]
  if (known !== undefined) return known(request)
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return new DomainError('validation_failed', `The request cannot be read: ${message}.`)
  return new DomainError('internal', 'Something went wrong in the server. Its log has the cause under this request_id.')
}

/** The body of an error answer, RFC 9457. */
export function toProblem(error: DomainError, request: { path: string; requestId: string; docsUrl: string }) {
  const { errors, retryAfterSeconds: _, ...extensions } = error.details
  const { status, title, retryable } = ERROR_CODES[error.code]
  const problem = {
    type: `${request.docsUrl}#${error.code}`,
    title,
    status,
    detail: error.message,
    instance: request.path,
    code: error.code,
    request_id: request.requestId,
    retryable,
    ...(errors === undefined ? {} : { errors }),
  }
  // What every problem has comes first, and no extension may take its place.
  return { ...problem, ...extensions, ...problem }
}

/** What even a caller is told who is never to hear of an error: that it may not call at all. */
const REFUSALS: readonly ErrorCode[] = ['unauthenticated', 'forbidden']

/** Sends an error. The only place that does, so that all of them look alike. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, deps: ApiDeps): FastifyReply {
  const domainError = toDomainError(error, request, deps)
  if (request.routeOptions.config.yields === true && !REFUSALS.includes(domainError.code)) {
    deps.log.warn({ err: error, request_id: request.id, path: pathOf(request) }, 'a request that must not fail was answered with nothing')
    return reply.status(200).send()
  }
  if (domainError.code === 'internal') deps.log.error({ err: error, request_id: request.id, method: request.method, path: pathOf(request) }, 'request failed')
  for (const [name, value] of Object.entries(headersOf(domainError))) reply.header(name, value)
  const body = toProblem(domainError, { path: pathOf(request), requestId: request.id, docsUrl: errorDocsUrl(deps, request) })
  return reply
    .status(ERROR_CODES[domainError.code].status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .serializer((value: unknown) => JSON.stringify(value))
    .send(body)
}

function headersOf(error: DomainError): Record<string, string> {
  const headers: Record<string, string> = {}
  const retryAfter = error.details.retryAfterSeconds ?? HTTP_ERRORS[error.code].retryAfterSeconds
  if (retryAfter !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfter)))
  if (error.code === 'unauthenticated') headers['www-authenticate'] = 'Bearer realm="muster"'
  return headers
}

/** The path alone: a query may hold what nobody else should read. */
export function pathOf(request: { url: string }): string {
  return request.url.split('?', 1)[0] ?? request.url
}

const HOST = /^[a-z0-9.\-_[\]:]{1,255}$/i

/** Where this server explains its errors, as the caller reaches it. */
function errorDocsUrl(deps: Pick<ApiDeps, 'settings'>, request: FastifyRequest): string {
  const own = deps.settings.PUBLIC_URL
  if (own !== undefined) return new URL('/docs/errors', own).href
  return HOST.test(request.host) ? `${request.protocol}://${request.host}/docs/errors` : '/docs/errors'
}

/** For paths that lead nowhere. */
export function noSuchPath(method: string, path: string): DomainError {
  return new DomainError('not_found', `There is nothing at ${method} ${path}. The calls are listed at /docs.`)
}
