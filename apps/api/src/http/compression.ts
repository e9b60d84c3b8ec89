import { constants, gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

/** Shorter answers gain nothing: the headers are longer than what is saved. */
const BYTES_MIN = 1_024
/** Fast: the time of a stronger level is longer than what its fewer bytes save on most networks. */
const OPTIONS = { level: constants.Z_BEST_SPEED }
const COMPRESSIBLE = /^(?:application\/(?:json|problem\+json|yaml)|text\/(?:plain|markdown|html))/

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether an answer may have a secret in it. */
    answersSecret?: boolean
  }
}

/**
 * Compresses answers for callers who accept gzip. Streams of events and of lines bypass it: they are written past Fastify.
 *
 * The length of a compressed answer tells whether a text that an attacker chose occurs in it (BREACH). That takes a browser which sends the credential of a
 * victim along with requests of the attacker. No other site can make a browser send `Authorization` or the cookie of the dashboard, which is
 * `SameSite=Strict`. Answers with a secret in them are not compressed all the same.
 *
 * A strong `ETag` stays as it is: it stands for a revision, and Muster answers no ranges, for which alone the bytes would matter.
 */
export function addCompression(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload)
    if (!isText || payload.length < BYTES_MIN || Buffer.byteLength(payload) < BYTES_MIN) return done(null, payload)
    if (request.routeOptions.config.answersSecret === true || !COMPRESSIBLE.test(String(reply.getHeader('content-type') ?? ''))) return done(null, payload)
    const vary = reply.getHeader('vary')
    reply.header('vary', vary === undefined ? 'accept-encoding' : `${String(vary)}, accept-encoding`)
    if (!acceptsGzip(request.headers['accept-encoding'])) return done(null, payload)
    gzip(payload, OPTIONS, (error, compressed) => {
      if (error !== null) return done(error)
      reply.header('content-encoding', 'gzip').header('content-length', compressed.byteLength)
      done(null, compressed)
    })
  })
}

/** Whether gzip, or `*`, is named with a weight above 0. */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  const weights = new Map<string, number>()
  for (const each of String(header ?? '').split(',')) {
    const [coding = '', ...parameters] = each
      .toLowerCase()
      .split(';')
      .map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(coding, weight === undefined ? 1 : Number(weight.slice(2)))
  }
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0
}
