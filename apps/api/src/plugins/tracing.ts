import { readTraceparent, type Span } from '@muster/domain'
import type { FastifyInstance } from 'fastify'
import type { ApiDeps } from '../api-deps.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of this request; null where nothing is traced. */
    span: Span | null
    /** The parent of what this request starts: its span, otherwise what the caller sent. */
    traceparent: string | null
  }
}

/** Paths that only supervision asks for: their spans would be most of all. */
const UNTRACED = new Set(['/healthz', '/readyz', '/metrics'])

/** Takes `traceparent` from callers and returns it with the span of the request. Without a collector, it is passed on as it came. */
export function addTracing(app: FastifyInstance, { tracing }: Pick<ApiDeps, 'tracing'>): void {
  app.decorateRequest('span', null)
  app.decorateRequest('traceparent', null)
  app.addHook('onRequest', (request, reply, done) => {
    request.traceparent = readTraceparent(request.headers.traceparent)
    const route = request.is404 ? undefined : request.routeOptions.url
    if (tracing !== undefined && route !== undefined && !UNTRACED.has(route)) {
      request.span = tracing.start(`${request.method} ${route}`, {
        kind: 'server',
        parent: request.traceparent,
        attributes: { 'http.request.method': request.method, 'http.route': route, 'muster.request.id': request.id },
      })
      request.traceparent = request.span.traceparent
    }
    if (request.traceparent !== null) reply.header('traceparent', request.traceparent)
    done()
  })
  if (tracing === undefined) return
  app.addHook('onResponse', (request, reply, done) => {
    request.span?.set({ 'http.response.status_code': reply.statusCode })
    request.span?.end(reply.statusCode >= 500 ? String(reply.statusCode) : undefined)
    done()
  })
}
