import { DomainError, ERROR_CODES, type ErrorCode } from '@muster/domain'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiDeps } from '../api-deps.ts'
import { logIds } from './request-id.ts'

/** How HTTP answers each error, in addition to `ERROR_CODES`. A new code does not compile until it has an entry here. */
interface HttpError {
  /** Shown in the API reference. */
  summary: string
  /** The default for `Retry-After`, if the error itself sets none. */
  retryAfterSeconds?: number
}

export const HTTP_ERRORS: Record<ErrorCode, HttpError> = {
  validation_failed: { summary: 'The request is invalid; `errors` lists every problem.' },
  cursor_invalid: { summary: 'The cursor does not belong to this list or log.' },
  unauthenticated: { summary: 'The request has no key, or the key is unknown, expired or revoked.' },
  forbidden: { summary: 'The credential lacks the scope, or a web page called an open server.' },
  spawn_blocked: { summary: 'The caller is a subtask and may not start another one.' },
  not_found: { summary: 'Not found. Missing and foreign resources answer alike by design.' },
  subagent_not_found: { summary: 'No sub-agent has this name.' },
  method_not_allowed: { summary: 'The path exists but does not support this method.' },
  conflict: { summary: 'The request conflicts with existing data.' },
  invalid_transition: { summary: 'The current state does not allow this transition.' },
  not_cancellable: { summary: 'The subtask has ended.' },
  not_steerable: { summary: 'The subtask is running and its runner does not accept updates.' },
  tsg_in_use: { summary: 'The guide is linked to tasks; `task_ids` names some of them.' },
  request_in_progress: { summary: 'A request with the same `Idempotency-Key` is still in progress.', retryAfterSeconds: 1 },
  cursor_pruned: { summary: 'The events after this cursor have been deleted.' },
  lease_lost: { summary: 'The `lease_token` is not the current one.' },
  revision_stale: { summary: 'It has changed since the `ETag` in `If-Match`. For a task, `revision` is the current one.' },
  payload_too_large: { summary: 'The body is larger than the endpoint accepts.' },
  uri_too_long: { summary: 'The URL of the request is longer than the server accepts.' },
  unsupported_media_type: { summary: 'The endpoint does not accept this `Content-Type`, or the body is compressed.' },
  expectation_failed: { summary: 'The server does not support this `Expect` header.' },
  idempotency_mismatch: { summary: 'The `Idempotency-Key` was used before with another request.' },
  outputs_missing: { summary: 'Required outputs are missing or do not match their schema; `errors` lists each.' },
  dependency_cycle: { summary: 'The task would depend on itself; `path` is the cycle.' },
  schedule_ambiguous: { summary: 'The phrase is ambiguous; `candidates` are unambiguous phrases.' },
  schedule_unparseable: { summary: 'The phrase was not understood completely.' },
  schedule_in_past: { summary: 'The time is in the past.' },
  subagent_invalid: { summary: 'The definition is invalid; `errors` lists every problem with its line.' },
  background_mcp_blocked: { summary: 'The definition requires MCP tools, which are not available in the background; `tools` lists them.' },
  runner_unavailable: { summary: 'The runner is unknown or not set up on this server.' },
  revision_required: { summary: 'A change of a brief requires `If-Match` with the revision that it is based on.' },
  rate_limited: { summary: 'Too many requests in too short a time.', retryAfterSeconds: 1 },
  quota_exceeded: { summary: 'The project or the run has stored as many bytes as it may; `limited_by` says which.' },
  budget_exhausted: { summary: 'The budget of the project, the agent or the task has too little room.', retryAfterSeconds: 60 },
  pending_limit_reached: { summary: 'The agent or the project has reached its limit of pending subtasks.', retryAfterSeconds: 5 },
  headers_too_large: { summary: 'The headers of the request are larger than the server accepts.' },
  internal: { summary: 'A defect in the server; the log has the cause under `request_id`.' },
  method_not_implemented: { summary: 'The server does not know this HTTP method.' },
  unavailable: { summary: 'The database is not reachable, or the server is starting, stopping or too slow.', retryAfterSeconds: 1 },
  subtasks_disabled: { summary: 'The operator has switched subtasks off.', retryAfterSeconds: 60 },
  secrets_not_configured: { summary: 'The server has no key to encrypt secrets with, or not the one that encrypted this secret.' },
  schedules_disabled: { summary: 'The operator has switched schedules off.', retryAfterSeconds: 60 },
}

/** Fastify's own errors as ours. Every other error below 500 that Fastify raises means an unreadable request. */
const FASTIFY_ERRORS: Record<string, (request: FastifyRequest) => DomainError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new DomainError('payload_too_large', 'The body is larger than this endpoint accepts: 1 MiB, or 8 MiB for results, messages and evaluations.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: unsupportedMediaType,
  FST_ERR_HANDLER_TIMEOUT: tooLate,
}

/** For a body of a type that the endpoint does not accept. */
export function unsupportedMediaType(request: Pick<FastifyRequest, 'routeOptions'>): DomainError {
  const [first = 'application/json', ...others] = request.routeOptions.config.bodyTypes ?? []
  return new DomainError('unsupported_media_type', `This endpoint does not accept this type of body. Send Content-Type: ${[first, ...others].join(' or ')}.`)
}

/** For a handler that exceeded its time limit. */
export function tooLate(): DomainError {
  return new DomainError('unavailable', 'The request took longer than the server waits. It may still take effect; repeat it with the same Idempotency-Key.')
}

/** The error that a caller receives for any thrown value. */
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
  // The standard members come first, and no extension may override them.
  return { ...problem, ...extensions, ...problem }
}

/** The errors that endpoints with `yields` answer as well: the caller may not call them at all. */
const REFUSALS: readonly ErrorCode[] = ['unauthenticated', 'forbidden']

/** Sends an error. The only place that does, so that all of them look alike. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, deps: ApiDeps): FastifyReply {
  const domainError = toDomainError(error, request, deps)
  if (request.routeOptions.config.yields === true && !REFUSALS.includes(domainError.code)) {
    deps.log.warn({ err: error, ...logIds(request), path: pathOf(request) }, 'a request that must not fail was answered with nothing')
    return reply.status(200).send()
  }
  if (domainError.code === 'internal') deps.log.error({ err: error, ...logIds(request), method: request.method, path: pathOf(request) }, 'request failed')
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

/** The path without the query, which may hold secrets. */
export function pathOf(request: { url: string }): string {
  return request.url.split('?', 1)[0] ?? request.url
}

const HOST = /^[a-z0-9.\-_[\]:]{1,255}$/i

/** The URL of the error pages, as the caller reaches this server. */
function errorDocsUrl(deps: Pick<ApiDeps, 'settings'>, request: FastifyRequest): string {
  const own = deps.settings.PUBLIC_URL
  if (own !== undefined) return new URL('/docs/errors', own).href
  return HOST.test(request.host) ? `${request.protocol}://${request.host}/docs/errors` : '/docs/errors'
}

/** For paths that lead nowhere. */
export function noSuchPath(method: string, path: string): DomainError {
  return new DomainError('not_found', `There is nothing at ${method} ${path}. /docs lists the methods of each path.`)
}
