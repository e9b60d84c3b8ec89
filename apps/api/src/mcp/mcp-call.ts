import type { Ctx } from '@muster/usecases'
import type { FastifyRequest } from 'fastify'

/** One HTTP request to `/mcp`, and who makes it. */
export interface McpCall {
  request: FastifyRequest
  ctx: Ctx
  /** Aborted when the caller has hung up. */
  gone: AbortSignal
}
