import type { ErrorCode, Problem } from './generated/openapi.ts'

/**
 * Codes of the client itself: the server could not be reached, it took longer than `timeoutMs`, or something else than Muster answered,
 * such as a proxy.
 */
export type ClientErrorCode = 'connection_failed' | 'timed_out' | 'answer_invalid'

export interface MusterErrorInit {
  /** Undefined where no problem was answered. */
  problem?: Problem
  status?: number
  retryAfterSeconds?: number
  cause?: unknown
}

/** Why a call failed. Decide by `code`: the reference of errors (docs/errors.md) has a section for each. */
export class MusterError extends Error {
  override readonly name = 'MusterError'
  readonly code: ErrorCode | ClientErrorCode
  /** HTTP status; 0 without an answer. */
  readonly status: number
  /** The whole problem as the server sent it, with what only this code has, such as `revision`. */
  readonly problem: Problem | undefined
  /** Whether the same call may succeed later without being changed. */
  readonly retryable: boolean
  /** How long the server asks to wait before the call is repeated. */
  readonly retryAfterSeconds: number | undefined
  /** Quote it when you report a problem. */
  readonly requestId: string | undefined

  constructor(code: ErrorCode | ClientErrorCode, message: string, init: MusterErrorInit = {}) {
    super(message, { cause: init.cause })
    this.code = code
    this.status = init.status ?? init.problem?.status ?? 0
    this.problem = init.problem
    this.retryable = init.problem?.retryable ?? (code !== 'answer_invalid' || [502, 503, 504].includes(this.status))
    this.retryAfterSeconds = init.retryAfterSeconds
    this.requestId = init.problem?.request_id
  }

  /** Whether it is an error of one of these codes. */
  is(...codes: (ErrorCode | ClientErrorCode)[]): boolean {
    return codes.includes(this.code)
  }

  /** Whether something that was thrown is an error of Muster, and of one of these codes where some are given. */
  static is(error: unknown, ...codes: (ErrorCode | ClientErrorCode)[]): error is MusterError {
    return error instanceof MusterError && (codes.length === 0 || error.is(...codes))
  }
}

/** The error of an answer whose status is none of success. */
export async function errorOf(response: Response, call: string): Promise<MusterError> {
  const text = await response.text().catch(() => '')
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const shared = { status: response.status, ...(Number.isFinite(retryAfter) ? { retryAfterSeconds: retryAfter } : {}) }
  const problem = problemOf(text)
  if (problem !== undefined) return new MusterError(problem.code, problem.detail, { ...shared, problem })
  const start = text.trim().slice(0, 200)
  return new MusterError('answer_invalid', `${call} was answered with ${response.status}, and not by Muster${start === '' ? '.' : `: ${start}`}`, shared)
}

function problemOf(text: string): Problem | undefined {
  try {
    const parsed = JSON.parse(text) as Partial<Problem> | null
    return typeof parsed?.code === 'string' && typeof parsed.detail === 'string' ? (parsed as Problem) : undefined
  } catch {
    return undefined
  }
}
