import { createHash } from 'node:crypto'
import type { Idempotency } from '@muster/usecases'
import type { FastifyRequest } from 'fastify'
import type { Endpoint } from './endpoint.ts'
import { pathOf } from './errors.ts'
import { fieldProblem, validationFailed } from './validation.ts'

const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

/**
 * What a use-case needs to answer a repeated request with the first answer, or undefined when the caller sent no key.
 * The query counts whatever its order. The body counts as it was parsed: another order of fields is another request, other white space is not.
 *
 * @throws DomainError `validation_failed` for a key that is none
 */
export function readIdempotency(endpoint: Endpoint, request: FastifyRequest): Idempotency | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined || endpoint.method !== 'POST') return undefined
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw validationFailed([fieldProblem('Idempotency-Key:', 'must be 1 to 255 printable ASCII characters', key)])
  }
  return {
    key,
    requestHash: createHash('sha256')
      .update(`${endpoint.method} ${pathOf(request)}${queryOf(request)}\n${JSON.stringify(request.body) ?? ''}`)
      .digest(),
    toAnswer(result) {
      const { status, headers = {}, body = null } = endpoint.toStored(result)
      return { status, headers, body }
    },
  }
}

/** Nothing where there is none, so that answers stored before the query counted are still found. */
function queryOf({ query }: FastifyRequest): string {
  const parameters = Object.entries(query as Record<string, unknown>).sort(([one], [other]) => (one < other ? -1 : 1))
  return parameters.length === 0 ? '' : `?${JSON.stringify(parameters)}`
}
