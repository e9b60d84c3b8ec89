import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'

/** What may stand in logs and answers as it is: no blanks, quotes, control or other characters that could look like a part of them. */
const SANE = /^[A-Za-z0-9._:@/+=-]{1,128}$/

/** The id that the caller sent, so that its logs and those of the server name the same request; otherwise a new one. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const sent = request.headers['x-request-id']
  // A new one needs no order: a UUIDv7 would ask the system for random bytes at each request.
  return typeof sent === 'string' && SANE.test(sent) ? sent : randomUUID()
}

/** What log lines about a request have to find it by: its id, and that of its trace where it is traced. */
export interface LogIds {
  request_id: string
  trace_id?: string
}

export function logIds({ id, span }: Pick<FastifyRequest, 'id' | 'span'>): LogIds {
  // Requests that Fastify refuses before any hook have no span yet.
  const traceId = span?.traceId
  return traceId === undefined ? { request_id: id } : { request_id: id, trace_id: traceId }
}
