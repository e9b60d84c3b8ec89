import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ApiDeps } from '../api-deps.ts'
import { endpoint } from './endpoint.ts'
import { sendError } from './errors.ts'
import { addJsonBody } from './json-body.ts'
import { addMarkdownBody } from './markdown-body.ts'
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

describe('an endpoint that takes and gives Markdown', () => {
  const text = z.string().transform((content) => ({ content, from: 'markdown' }))
  const json = z.strictObject({ content: z.string() })
  const define = (inputs: { body?: typeof json; markdown?: typeof text }) =>
    endpoint({
      operationId: 'echo',
      method: 'PUT',
      path: '/echo',
      tag: 'Operations',
      summary: '',
      description: '',
      access: 'public',
      ...inputs,
      answers: {},
      handle: async ({ body }) => body,
      answer: (body) => ({ status: 200, body: { body } }),
      answerMarkdown: (body) => `# ${body?.content}`,
    })
  const serve = (inputs: Parameters<typeof define>[0]) => {
    const deps = { settings: { HOST: '127.0.0.1' }, isUnavailable: () => false } as unknown as ApiDeps
    const app = Fastify()
    app.setErrorHandler((error, request, reply) => sendError(error, request, reply, deps))
    addJsonBody(app)
    addMarkdownBody(app)
    registerEndpoint(app, deps, define(inputs))
    return (payload: string | Buffer | undefined, type: string | undefined, accept = '*/*') =>
      app.inject({
        method: 'PUT',
        url: '/echo',
        headers: { accept, ...(type === undefined ? {} : { 'content-type': type }) },
        ...(payload === undefined ? {} : { payload }),
      })
  }

  it('reads either type of body by its own schema', async () => {
    const put = serve({ body: json, markdown: text })
    expect((await put('# One', 'text/markdown')).json()).toEqual({ body: { content: '# One', from: 'markdown' } })
    expect((await put('# Öne', 'text/markdown; charset=utf-8')).json()).toEqual({ body: { content: '# Öne', from: 'markdown' } })
    expect((await put('{"content": "two"}', 'application/json')).json()).toEqual({ body: { content: 'two' } })
  })

  it('takes no JSON string for Markdown', async () => {
    expect((await serve({ body: json, markdown: text })('"# One"', 'application/json')).statusCode).toBe(400)
  })

  it('400: needs a body, of valid UTF-8', async () => {
    const put = serve({ markdown: text })
    expect((await put(undefined, undefined)).json()).toMatchObject({ status: 400, errors: [{ pointer: '', field: 'body', reason: 'is required' }] })
    expect((await put(Buffer.from([0xff, 0xfe]), 'text/markdown')).json()).toMatchObject({ status: 400, detail: 'The body is not valid UTF-8.' })
  })

  it.each([
    ['only JSON', { body: json }, 'text/markdown', 'application/json'],
    ['only Markdown', { markdown: text }, 'application/json', 'text/markdown'],
    ['both', { body: json, markdown: text }, 'text/plain', 'application/json or text/markdown'],
  ])('415: says what it reads instead, where that is %s', async (_, inputs, type, instead) => {
    const answer = (await serve(inputs)('x', type)).json()
    expect(answer).toMatchObject({ status: 415, code: 'unsupported_media_type', detail: expect.stringContaining(`Content-Type: ${instead}.`) })
  })

  it('answers in Markdown only who asks for it, and says that it depends', async () => {
    const put = serve({ markdown: text })
    const answers = [await put('One', 'text/markdown'), await put('One', 'text/markdown', 'text/markdown')]
    expect(answers.map(({ headers }) => [headers['content-type'], headers.vary])).toEqual([
      ['application/json; charset=utf-8', 'accept'],
      ['text/markdown; charset=utf-8', 'accept'],
    ])
    expect(answers[1]?.body).toBe('# One')
  })
})
