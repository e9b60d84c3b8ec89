import { DomainError } from '@muster/domain'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { unsupportedMediaType } from '../errors.ts'

/** How deep JSON may be nested. What walks through it does so recursively, and must not run out of stack. */
const DEPTH_MAX = 64

const strict = new TextDecoder('utf-8', { fatal: true })
const repairing = new TextDecoder('utf-8')

/** Reads JSON bodies, saying what is wrong with those that are none. An empty body counts as absent. */
export function addJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    requireBodyType(request, 'application/json')
    if (body.length === 0) return undefined
    return parseJson(decodeBody(request, body))
  })
}

/** @throws DomainError `unsupported_media_type` where the endpoint reads bodies of other types, and for a body that is compressed */
export function requireBodyType(request: FastifyRequest, type: string): void {
  if (request.routeOptions.config.bodyTypes?.includes(type) === false) throw unsupportedMediaType(request)
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw new DomainError('unsupported_media_type', 'The server reads no compressed bodies: send it without Content-Encoding.')
  }
}

/** @throws DomainError `validation_failed` for invalid UTF-8, where the endpoint does not repair it */
export function decodeBody(request: FastifyRequest, body: Buffer): string {
  try {
    return (request.routeOptions.config.repairsText === true ? repairing : strict).decode(body)
  } catch {
    throw new DomainError('validation_failed', 'The body is not valid UTF-8.')
  }
}

function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new DomainError('validation_failed', `The body is not JSON: ${(error as Error).message}.`)
  }
  checkShape(value)
  return value
}

/** Walks with a list of its own instead of the stack. */
function checkShape(root: unknown): void {
  let level: unknown[] = [root]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEPTH_MAX) throw new DomainError('validation_failed', `The body is nested deeper than ${DEPTH_MAX} levels.`)
    const next: unknown[] = []
    for (const value of level) {
      if (value === null || typeof value !== 'object') continue
      // Harmless to us, but not to whoever copies such an object with older habits.
      if (Object.hasOwn(value, '__proto__')) throw new DomainError('validation_failed', 'The body has a field named __proto__, which is not allowed.')
      for (const inner of Object.values(value)) if (inner !== null && typeof inner === 'object') next.push(inner)
    }
    level = next
  }
}
