import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** What may stand in logs and answers as it is: no blanks, quotes, control or other characters that could look like a part of them. */
const SANE = /^[A-Za-z0-9._:@/+=-]{1,128}$/

/** The id that the caller sent, so that its logs and those of the server name the same request; otherwise a new one. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const sent = request.headers['x-request-id']
  // A new one needs no order: a UUIDv7 would ask the system for random bytes at each request.
  return typeof sent === 'string' && SANE.test(sent) ? sent : randomUUID()
}
