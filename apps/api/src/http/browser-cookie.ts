import { timingSafeEqual } from 'node:crypto'
import { DomainError, isLoopback } from '@muster/domain'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** With this prefix, browsers take the cookie over HTTPS only, and only from this host: a page without TLS cannot plant one, a sibling domain cannot either. */
const SECURE_NAME = '__Host-muster_session'
/** Without TLS, as on loopback, browsers refuse the prefix. */
const LOOPBACK_NAME = 'muster_session'
const CSRF_HEADER = 'x-csrf-token'

/** The token in the cookie of a browser that is signed in; null without one. */
export function browserToken(request: FastifyRequest): string | null {
  return request.cookies[nameFor(request)] ?? null
}

/** Off this machine the cookie needs HTTPS. */
function isSecure(request: FastifyRequest): boolean {
  return request.protocol === 'https' || !isLoopback(request.hostname)
}

function nameFor(request: FastifyRequest): string {
  return isSecure(request) ? SECURE_NAME : LOOPBACK_NAME
}

/** No page can read the cookie, and no other site can make a browser send it. */
function attributes(request: FastifyRequest) {
  return { path: '/', httpOnly: true, sameSite: 'strict', secure: isSecure(request) } as const
}

export function setBrowserCookie(request: FastifyRequest, reply: FastifyReply, token: string, expiresAt: Date): void {
  reply.setCookie(nameFor(request), token, { ...attributes(request), expires: expiresAt })
}

export function clearBrowserCookie(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(nameFor(request), attributes(request))
}

/** @throws DomainError `forbidden` for a write that a page of another site may have caused */
export function requireCsrfToken(request: FastifyRequest, csrfToken: string): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const sent = request.headers[CSRF_HEADER]
  if (typeof sent === 'string' && sent.length === csrfToken.length && timingSafeEqual(Buffer.from(sent), Buffer.from(csrfToken))) return
  throw new DomainError('forbidden', 'A write with the cookie of the dashboard needs the header X-CSRF-Token with the token from GET /ui/session.')
}
