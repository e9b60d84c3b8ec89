import { DomainError, ERROR_CODES, type ErrorCode } from '@muster/domain'
import { type Endpoint, needsRoom } from '../http/endpoint.ts'
import { HTTP_ERRORS, toProblem } from '../http/errors.ts'
import { problemSchema } from '../http/problem-schema.ts'
import { schemaInPlace } from './json-schemas.ts'

/** What any operation can answer, any POST, and any with a body; the document says it once. */
export const COMMON_ERRORS = {
  any: ['validation_failed', 'unauthenticated', 'forbidden', 'rate_limited', 'internal', 'unavailable'],
  post: ['request_in_progress', 'idempotency_mismatch'],
  body: ['payload_too_large', 'unsupported_media_type'],
} as const satisfies Record<string, readonly ErrorCode[]>

const ORDER = Object.keys(ERROR_CODES)

export function commonErrorsOf(method: string, hasBody: boolean): ErrorCode[] {
  const { any, post, body } = COMMON_ERRORS
  return [...any, ...(method === 'POST' ? post : []), ...(hasBody ? body : [])]
}

/** The codes that an endpoint can answer beside the common ones, whether of its own or because of what it is. Statuses that it answers otherwise are left out. */
export function errorsOf(endpoint: Endpoint): ErrorCode[] {
  if (endpoint.yieldsAfterMs !== undefined) return []
  const common = commonErrorsOf(endpoint.method, endpoint.body !== undefined || endpoint.markdown !== undefined || endpoint.takesFiles === true)
  const codes: ErrorCode[] = [...(endpoint.errors ?? [])]
  if (needsRoom(endpoint)) codes.push('quota_exceeded')
  const answered = codes.filter((code) => !common.includes(code) && !(String(ERROR_CODES[code].status) in endpoint.answers))
  return [...new Set(answered)].sort((left, right) => ORDER.indexOf(left) - ORDER.indexOf(right))
}

/** What each code means, once for the whole document; operations name the codes in `x-errors`. */
export function errorCatalogue(): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(ERROR_CODES).map(([code, { status, retryable }]) => [code, { status, retryable, summary: HTTP_ERRORS[code as ErrorCode].summary }]),
  )
}

/** The one answer for every error, which operations have as `default`: clients get one error type instead of one for each combination. */
export function problemResponse(): Record<string, unknown> {
  const headers = ['Retry-After', 'WWW-Authenticate', 'X-Request-Id', 'RateLimit', 'RateLimit-Policy']
  return {
    description: 'An error. `code` says which; `x-errors` of the operation lists the codes that it can answer, beside the `x-common-errors`.',
    headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: {
      'application/problem+json': {
        schema: schemaInPlace(problemSchema, 'output'),
        examples: { validation_failed: { value: exampleProblem() } },
      },
    },
  }
}

function exampleProblem(): object {
  const errors = [{ pointer: '/task', field: 'task', reason: 'must not be empty', value: '' }]
  const error = new DomainError('validation_failed', 'The request has a problem: task must not be empty.', { errors })
  return toProblem(error, { path: '/subtasks', requestId: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47', docsUrl: 'http://127.0.0.1:7300/docs/errors' })
}
