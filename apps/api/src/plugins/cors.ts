import cors from '@fastify/cors'
import type { Settings } from '@muster/domain'
import type { FastifyInstance } from 'fastify'

const HOUR_SECONDS = 3_600

/** What pages may send beyond what every browser sends. Without `X-CSRF-Token`, which goes with the cookie of the dashboard. */
const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'Mcp-Protocol-Version',
  'Mcp-Session-Id',
  'Muster-Agent-Id',
  'Muster-Session-Id',
  'X-Request-Id',
  'traceparent',
  'tracestate',
]
/** What pages may read of an answer. */
const EXPOSED_HEADERS = [
  'Deprecation',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'Mcp-Session-Id',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-Request-Id',
  'traceparent',
]

/**
 * Lets pages of other origins call the endpoints that are registered with this app, if the operator has named these origins. Never with credentials that a
 * browser keeps: a page sends its own key. Comes before whatever refuses requests, so that pages can read why.
 */
export async function addCors(app: FastifyInstance, { CORS_ORIGINS: origins }: Pick<Settings, 'CORS_ORIGINS'>): Promise<void> {
  if (origins.length === 0) return
  await app.register(cors, {
    origin: origins.includes('*') ? '*' : origins,
    credentials: false,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: HOUR_SECONDS,
    strictPreflight: false,
  })
}
