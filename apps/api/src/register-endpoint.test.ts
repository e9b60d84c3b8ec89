import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ApiDeps } from './api-deps.ts'
import { endpoint } from './endpoint.ts'
import { sendError } from './errors.ts'
import { registerEndpoint } from './register-endpoint.ts'

describe('an endpoint whose handler does not come to an end', () => {
  it.each([
    ['with', '{"a":1}'],
    ['without', undefined],
  ])('503: says so when its deadline is over, for a request %s a body', async (_, body) => {
    const deps = { settings: { HOST: '127.0.0.1' }, isUnavailable: () => false } as unknown as ApiDeps
    const app = Fastify()
    app.setErrorHandler((error, request, reply) => sendError(error, request, reply, deps))
    registerEndpoint(
      app,
      deps,
      endpoint({
        operationId: 'wait',
        method: 'POST',
        path: '/wait',
        tag: 'Operations',
        summary: '',
        description: '',
        access: 'public',
        deadlineMs: 200,
        body: z.object({ a: z.number().optional() }),
        bodyOptional: true,
        answers: {},
        handle: () => new Promise(() => {}),
        answer: () => ({ status: 204 }),
      }),
    )
    const address = await app.listen({ host: '127.0.0.1', port: 0 })
    const answer = await fetch(`${address}/wait`, { method: 'POST', ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }) })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(await answer.json()).toMatchObject({ code: 'unavailable', retryable: true })
    await app.close()
  })
})
