import rateLimit from '@fastify/rate-limit'
import { DomainError, type Settings } from '@muster/domain'
import type { FastifyInstance, FastifyReply } from 'fastify'

/** The rate is an average over this time, so that a short burst is no reason to refuse. */
const WINDOW_SECONDS = 10

/** So many requests a second of each credential, or of each address where there is none. Counted by every process for itself. */
export async function addRateLimit(app: FastifyInstance, { REQUESTS_PER_SECOND }: Settings): Promise<void> {
  await app.register(rateLimit, {
    max: REQUESTS_PER_SECOND * WINDOW_SECONDS,
    timeWindow: WINDOW_SECONDS * 1_000,
    cache: 10_000,
    // Runs after the hooks of the app, so that it is known who asks.
    hook: 'onRequest',
    keyGenerator: ({ actor, ip }) => (actor == null ? `address:${ip}` : `${actor.projectId}:${actor.kind}:${actor.id}`),
    errorResponseBuilder: (_request, { max, ttl }) =>
      new DomainError('rate_limited', `More than ${max} requests came in ${WINDOW_SECONDS} s. To wait for a subtask, use wait_seconds or its events.`, {
        retryAfterSeconds: Math.ceil(ttl / 1000),
      }),
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    nameHeaders(reply)
    done(null, payload)
  })
}

/** The plugin has only the older names of the headers; those of the current draft (RateLimit header fields for HTTP) stand beside them. */
function nameHeaders(reply: FastifyReply): void {
  const max = reply.getHeader('x-ratelimit-limit')
  if (max === undefined) return
  reply.header('ratelimit-policy', `"default";q=${max};w=${WINDOW_SECONDS}`)
  reply.header('ratelimit', `"default";r=${reply.getHeader('x-ratelimit-remaining')};t=${reply.getHeader('x-ratelimit-reset')}`)
}
