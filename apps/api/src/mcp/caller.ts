import type { FieldProblem } from '@muster/domain'
import type { Ctx } from '@muster/usecases'
import type { FastifyRequest } from 'fastify'
import { printableId } from '../http/fields-schemas.ts'
import { check, validationFailed } from '../http/validation.ts'
import type { McpCaller } from './tool.ts'

/** In the `_meta` of a request. */
const SESSION_META = 'muster/session_id'

const session = printableId('The session that the caller is in.', 'research-1')

/**
 * Who calls, first found: the credential of a sub-agent, `_meta`, the header `Muster-Session-Id`, `?session=`. What a caller says of itself decides
 * over nothing but in whose name something is counted.
 *
 * @throws DomainError `validation_failed` for what can be no session
 */
export function callerOf(ctx: Ctx, request: Pick<FastifyRequest, 'headers' | 'query'>, meta: Record<string, unknown> | undefined): McpCaller {
  const { lineage } = ctx.actor
  if (lineage !== null) return { ctx, sessionId: lineage.sessionId }
  const claimed = meta?.[SESSION_META] ?? request.headers['muster-session-id'] ?? (request.query as Record<string, unknown>).session
  if (claimed === undefined) return { ctx, sessionId: undefined }
  const problems: FieldProblem[] = []
  const sessionId = check(session, claimed, 'body', problems)
  if (problems.length > 0) throw validationFailed(problems.map((problem) => ({ ...problem, pointer: `/_meta/${SESSION_META}`, field: SESSION_META })))
  return { ctx, sessionId }
}
