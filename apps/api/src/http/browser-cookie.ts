import { timingSafeEqual } from 'node:crypto'
import { DomainError, isLoopback } from '@muster/domain'
import type { FastifyReply, FastifyRequest } from 'fastify'

const NAME = 'muster_session'
const CSRF_HEADER = 'x-csrf-token'

/** The token in the cookie of a browser that is signed in; null without one. */
export function browserToken(request: FastifyRequest): string | null {
  return request.cookies[NAME] ?? null
}

/** No page can read the cookie, and no other site can make a browser send it. Off this machine it needs HTTPS. */
function attributes(request: FastifyRequest) {
  return { path: '/', httpOnly: true, sameSite: 'strict', secure: request.protocol === 'https' || !isLoopback(request.hostname) } as const
}

export function setBrowserCookie(request: FastifyRequest, reply: FastifyReply, token: string, expiresAt: Date): void {
  reply.setCookie(NAME, token, { ...attributes(request), expires: expiresAt })
}

export function clearBrowserCookie(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(NAME, attributes(request))
}

/** @throws DomainError `forbidden` for a write that a page of another site may have caused */
export function requireCsrfToken(request: FastifyRequest, csrfToken: string): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const sent = request.headers[CSRF_HEADER]
  if (typeof sent === 'string' && sent.length === csrfToken.length && timingSafeEqual(Buffer.from(sent), Buffer.from(csrfToken))) return
  throw new DomainError('forbidden', 'A write with the cookie of the dashboard needs the header X-CSRF-Token with the token from GET /ui/session.')
}
