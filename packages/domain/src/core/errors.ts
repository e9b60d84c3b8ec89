/**
 * Every error that a caller can receive. `status` is the HTTP status; `retryable` says
 * whether the same request may succeed later without being changed. Each code has its section in `docs/errors.md`.
 */
export const ERROR_CODES = {
  validation_failed: { status: 400, title: 'Validation failed', retryable: false },
  cursor_invalid: { status: 400, title: 'Cursor invalid', retryable: false },
  unauthenticated: { status: 401, title: 'Unauthenticated', retryable: false },
  forbidden: { status: 403, title: 'Forbidden', retryable: false },
  spawn_blocked: { status: 403, title: 'SpawnBlocked', retryable: false },
  not_found: { status: 404, title: 'Not found', retryable: false },
  subagent_not_found: { status: 404, title: 'SubagentNotFound', retryable: false },
  method_not_allowed: { status: 405, title: 'Method not allowed', retryable: false },
  conflict: { status: 409, title: 'Conflict', retryable: false },
  invalid_transition: { status: 409, title: 'Invalid transition', retryable: false },
  not_cancellable: { status: 409, title: 'Not cancellable', retryable: false },
  not_steerable: { status: 409, title: 'Not steerable', retryable: false },
  tsg_in_use: { status: 409, title: 'Guide in use', retryable: false },
  request_in_progress: { status: 409, title: 'Request in progress', retryable: true },
  cursor_pruned: { status: 410, title: 'Cursor pruned', retryable: false },
  lease_lost: { status: 412, title: 'Lease lost', retryable: false },
  revision_stale: { status: 412, title: 'Revision stale', retryable: false },
  payload_too_large: { status: 413, title: 'Payload too large', retryable: false },
  uri_too_long: { status: 414, title: 'URI too long', retryable: false },
  unsupported_media_type: { status: 415, title: 'Unsupported media type', retryable: false },
  expectation_failed: { status: 417, title: 'Expectation failed', retryable: false },
  idempotency_mismatch: { status: 422, title: 'Idempotency mismatch', retryable: false },
  outputs_missing: { status: 422, title: 'Outputs missing', retryable: false },
  dependency_cycle: { status: 422, title: 'Dependency cycle', retryable: false },
  schedule_ambiguous: { status: 422, title: 'Schedule ambiguous', retryable: false },
  schedule_unparseable: { status: 422, title: 'Schedule unparseable', retryable: false },
  schedule_in_past: { status: 422, title: 'Schedule in the past', retryable: false },
  subagent_invalid: { status: 422, title: 'SubagentInvalid', retryable: false },
  background_mcp_blocked: { status: 422, title: 'BackgroundMcpBlocked', retryable: false },
  runner_unavailable: { status: 422, title: 'Runner unavailable', retryable: false },
  revision_required: { status: 428, title: 'Revision required', retryable: false },
  rate_limited: { status: 429, title: 'Rate limited', retryable: true },
  pending_limit_reached: { status: 429, title: 'Pending limit reached', retryable: true },
  quota_exceeded: { status: 429, title: 'Quota exceeded', retryable: false },
  budget_exhausted: { status: 429, title: 'Budget exhausted', retryable: true },
  headers_too_large: { status: 431, title: 'Headers too large', retryable: false },
  internal: { status: 500, title: 'Internal error', retryable: false },
  method_not_implemented: { status: 501, title: 'Method not implemented', retryable: false },
  unavailable: { status: 503, title: 'Unavailable', retryable: true },
  subtasks_disabled: { status: 503, title: 'Subtasks disabled', retryable: true },
  secrets_not_configured: { status: 503, title: 'Secrets not configured', retryable: false },
  schedules_disabled: { status: 503, title: 'Schedules disabled', retryable: true },
} as const satisfies Record<string, { status: number; title: string; retryable: boolean }>

export type ErrorCode = keyof typeof ERROR_CODES

/** One problem of an input. `pointer` is a JSON pointer into the body, or `?name` for a query parameter. */
export interface FieldProblem {
  pointer: string
  field: string
  reason: string
  value?: unknown
  /** Where the input is a text of lines: which one, from 1. */
  line?: number
}

/** How many problems, and how many warnings, one error carries. */
export const PROBLEMS_SHOWN = 50

/** What an error tells besides its message. A new field joins the list in the Problem of the API reference, which does not compile without it. */
export interface ErrorDetails {
  /** At most `PROBLEMS_SHOWN`, as are `warnings`. */
  errors?: FieldProblem[]
  /** How many more there are; absent where `errors` has all. */
  errors_omitted?: number
  /** What was changed or ignored in an input that has problems as well. */
  warnings?: { field: string; message: string; timestamp: string }[]
  warnings_omitted?: number
  /** Seconds after which a retry makes sense. */
  retryAfterSeconds?: number
  /** What it is that cannot be changed, or waited for. */
  id?: string
  subtask_id?: string | null
  task_ids?: string[]
  tsg_id?: string | undefined
  agent_id?: string
  subagent_type?: string
  /** The status that does not allow the request, and what holds it. */
  status_now?: string
  blocked_by?: string[]
  answered_by?: { kind: string; id: string }
  answered_at?: string | undefined
  /** The current revision, and the digest of the arguments that a question is about. */
  revision?: number
  arguments_digest?: string | null
  /** The ids of a cycle. */
  path?: string[]
  /** Unambiguous phrases. */
  candidates?: { phrase: string; reading: string; next_fire_at: string }[]
  required_scope?: string
  tool?: string | undefined
  tools?: string[]
  /** What a runner lacks. */
  missing?: string[]
  available?: string[]
  /** The oldest event that is kept. */
  oldest?: number
  /** What is exhausted, and by how much. */
  limit?: number
  limited_by?: string
  budget?: { scope: string; window: string; unit: string; agent_id?: string | null; task_id?: string | null }
  used?: number
  reserved?: number
  requested?: number
  resets_at?: string | null
}

/** A refusal or failure that the caller receives. `message` says what is wrong and what to do. */
export class DomainError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message)
    this.name = 'DomainError'
    this.code = code
    this.details = { ...details, ...shorten('errors', details.errors), ...shorten('warnings', details.warnings) }
  }
}

/** A caller needs the first problems and their number; a request can be wrong in tens of thousands of places. */
function shorten(name: 'errors' | 'warnings', listed: unknown): ErrorDetails {
  if (!Array.isArray(listed) || listed.length <= PROBLEMS_SHOWN) return {}
  return { [name]: listed.slice(0, PROBLEMS_SHOWN), [`${name}_omitted`]: listed.length - PROBLEMS_SHOWN }
}

/** Missing and foreign resources answer alike by design. */
export function notFound(what: string): DomainError {
  return new DomainError('not_found', `There is no such ${what}, or it is not yours.`)
}

/** @throws DomainError `not_found` for null */
export function requireFound<T>(thing: T | null, what: string): T {
  if (thing === null) throw notFound(what)
  return thing
}

/** What a log may say of an error: no detail, query or parameter, which hold what callers and programs have sent. */
export function errorForLog(error: unknown): { type: string; message: string; code?: unknown; stack?: string | undefined } {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const code = (error as { code?: unknown }).code
  return { type: error.name, message: error.message, ...(code === undefined ? {} : { code }), stack: error.stack }
}
