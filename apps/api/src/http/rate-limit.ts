import rateLimit from '@fastify/rate-limit'
import { DomainError } from '@muster/domain'
import type { FastifyInstance } from 'fastify'

/**
 * Protects against runaway loops; it is not a quota: 5,000 requests a second over ten seconds for each credential, or for each
 * address where there is none. Counted by every process for itself.
 */
const RATE = { max: 50_000, timeWindow: 10_000, cache: 10_000 }

export async function addRateLimit(app: FastifyInstance): Promise<void> {
  await app.register(rateLimit, {
    ...RATE,
    // Runs after the hooks of the app, so that it is known who asks.
    hook: 'onRequest',
    keyGenerator: ({ actor, ip }) => (actor == null ? `address:${ip}` : `${actor.projectId}:${actor.kind}:${actor.id}`),
    errorResponseBuilder: (_request, { max, ttl }) =>
      new DomainError('rate_limited', `More than ${max} requests came in ${RATE.timeWindow / 1000} s. To wait for a subtask, use wait_seconds or its events.`, {
        retryAfterSeconds: Math.ceil(ttl / 1000),
      }),
  })
}
