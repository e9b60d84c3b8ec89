import { DomainError } from '@muster/domain'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { unsupportedMediaType } from './errors.ts'

/** How deep JSON may be nested. What walks through it does so recursively, and must not run out of stack. */
const DEPTH_MAX = 64
/** How many fields and list items JSON may have, all levels together: each takes far longer to build and check than its bytes take to arrive. */
const VALUES_MAX = 20_000

/** JSON as well, by RFC 7396, where fields are changed. */
export const MERGE_PATCH = 'application/merge-patch+json'

/** Null in a field then removes it, or is refused; it never counts as absent. Objects are merged. */
export const isMergePatch = (headers: Record<string, string | string[] | undefined>): boolean =>
  String(headers['content-type'] ?? '')
    .split(';', 1)[0]
    ?.trim()
    .toLowerCase() === MERGE_PATCH

const strict = new TextDecoder('utf-8', { fatal: true })
const repairing = new TextDecoder('utf-8')

/** Parses JSON bodies, with a specific error for invalid ones. An empty body counts as absent. */
export function addJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  for (const type of ['application/json', MERGE_PATCH]) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
      requireBodyType(request, type)
      if (body.length === 0) return undefined
      return parseJson(request, body)
    })
  }
}

/** @throws DomainError `unsupported_media_type` where the endpoint reads bodies of other types, and for a body that is compressed */
export function requireBodyType(request: FastifyRequest, type: string): void {
  if (request.routeOptions.config.bodyTypes?.includes(type) === false) throw unsupportedMediaType(request)
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw new DomainError('unsupported_media_type', 'The server does not accept compressed bodies. Send it without Content-Encoding.')
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

function parseJson(request: FastifyRequest, body: Buffer): unknown {
  requireBounds(body)
  let value: unknown
  try {
    value = JSON.parse(decodeBody(request, body))
  } catch (error) {
    if (error instanceof DomainError) throw error
    throw new DomainError('validation_failed', `The body is not JSON: ${(error as Error).message}.`)
  }
  requireSafeNames(value)
  return value
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPENING = [0x7b, 0x5b]
const CLOSING = [0x7d, 0x5d]

/**
 * Counts values and levels in one pass over the bytes, before anything is built of them. The bytes need not be JSON: what is not, the parser refuses.
 *
 * @throws DomainError `validation_failed` for too many levels, `payload_too_large` for too many values
 */
function requireBounds(body: Buffer): void {
  let values = 0
  let depth = 0
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] as number
    if (byte === QUOTE) at = endOfText(body, at)
    else if (byte === COMMA) values += 1
    else if (OPENING.includes(byte)) {
      values += 1
      depth += 1
    } else if (CLOSING.includes(byte)) depth -= 1
    if (depth > DEPTH_MAX) throw new DomainError('validation_failed', `The body is nested deeper than ${DEPTH_MAX} levels.`)
    if (values > VALUES_MAX) {
      throw new DomainError(
        'payload_too_large',
        `The body has more than ${VALUES_MAX.toLocaleString('en')} fields and list items. Send less at once, or send large data as one text.`,
      )
    }
  }
}

function endOfText(body: Buffer, start: number): number {
  let at = start + 1
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1
  return at
}

/** Walks with a list of its own instead of the stack. */
function requireSafeNames(root: unknown): void {
  const waiting: unknown[] = [root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (value === null || typeof value !== 'object') continue
    // Harmless here, but not to a program that copies such an object field by field.
    if (Object.hasOwn(value, '__proto__')) throw new DomainError('validation_failed', 'The body has a field named __proto__, which is not allowed.')
    for (const inner of Object.values(value)) if (inner !== null && typeof inner === 'object') waiting.push(inner)
  }
}
