import type { CallToolResult } from '@modelcontextprotocol/server'
import { DomainError, ERROR_CODES } from '@muster/domain'
import type { ApiDeps } from '../api-deps.ts'
import { MCP_HINTS } from './hints.ts'
import { toolText } from './tool.ts'

/**
 * An error as the result of a tool: what REST answers as a problem, with a hint at what to do next. As text alone, since `structuredContent` has to
 * be what the tool promises.
 */
export function toToolError(
  error: unknown,
  deps: Pick<ApiDeps, 'isUnavailable' | 'unavailable' | 'log'>,
  about: { request_id: string; tool: string },
): CallToolResult {
  const { code, message, details } = toDomainError(error, deps, about)
  const { title, retryable } = ERROR_CODES[code]
  const { errors, retryAfterSeconds, ...extensions } = details
  const problem = {
    ...extensions,
    code,
    title,
    detail: message,
    hint: MCP_HINTS[code],
    retryable,
    ...(retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds }),
    ...(errors === undefined ? {} : { errors }),
    request_id: about.request_id,
  }
  return { isError: true, content: toolText(problem) }
}

function toDomainError(error: unknown, deps: Pick<ApiDeps, 'isUnavailable' | 'unavailable' | 'log'>, about: { request_id: string; tool: string }): DomainError {
  if (error instanceof DomainError) return error
  if (deps.isUnavailable(error)) return deps.unavailable(error)
  deps.log.error({ err: error, ...about }, 'a tool failed')
  return new DomainError('internal', 'Something went wrong in the server. Its log has the cause under this request_id.')
}
