import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../testing/api.ts'

let api: TestApi
let port: number

beforeAll(async () => {
  api = await startApi(await testDatabase(), { AUTH: 'open' })
  port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port)
})
afterAll(() => api.close())

/** Sends these bytes on a connection of their own, and reads until the server ends it. */
async function raw(...parts: (string | Buffer)[]): Promise<{ status: number; headers: string; body: Record<string, unknown> }> {
  const socket = connect(port, '127.0.0.1')
  for (const part of parts) socket.write(part)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  const [headers = '', text = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  return { status: Number(headers.split(' ')[1]), headers, body: JSON.parse(text) }
}

const head = (line: string, more = '') => `${line} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n${more}\r\n`

describe('a request that the server cannot take', () => {
  it('leaves the server running when its client resets the connection before the answer is written', async () => {
    const closed = new Promise<Error | null>((resolve) => {
      api.app.server.prependOnceListener('connect', (_, socket: Socket) => {
        client.resetAndDestroy()
        socket.once('close', () => resolve(socket.errored))
      })
    })
    const client = connect(port, '127.0.0.1', () => client.write(head('CONNECT example.org:443')))
    expect(await closed).toMatchObject({ code: expect.stringMatching(/^(?:EPIPE|ECONNRESET)$/) })
  })

  it.each([
    ['414: an address that is too long', `GET /subtasks?session=${'x'.repeat(40_000)}`, '', 414, 'uri_too_long'],
    ['431: headers that are too large', 'GET /subtasks', `X-Large: ${'x'.repeat(40_000)}\r\n`, 431, 'headers_too_large'],
    ['501: a method that HTTP does not know', 'FROB /subtasks', '', 501, 'method_not_implemented'],
    ['501: a tunnel', 'CONNECT example.org:443', '', 501, 'method_not_implemented'],
    ['405: a method of another protocol over HTTP', 'PROPFIND /subtasks', '', 405, 'method_not_allowed'],
    ['405: TRACE', 'TRACE /subtasks', '', 405, 'method_not_allowed'],
    ['417: an expectation that it cannot meet', 'GET /subtasks', 'Expect: 200-ok\r\n', 417, 'expectation_failed'],
    ['400: a version of HTTP that there is none of', 'GET /subtasks HTTP/9.9\r\nX:', '', 400, 'validation_failed'],
  ])('%s', async (_, line, more, status, code) => {
    const answer = await raw(head(line, more))
    expect(answer).toMatchObject({ status, body: { status, code, request_id: expect.any(String) } })
    expect(answer.headers).toContain('application/problem+json')
    expect(answer.headers.toLowerCase()).toContain(`x-request-id: ${answer.body.request_id}`)
  })

  it('414: an address that arrives in pieces', async () => {
    const socket = raw('GET /subtasks?session=', 'x'.repeat(30_000), 'x'.repeat(10_000))
    expect([414, 431]).toContain((await socket).status)
  })

  it('415: a compressed body', async () => {
    const body = gzipSync('{"task":"Count."}')
    const type = 'Content-Type: application/json\r\nContent-Encoding: gzip\r\n'
    const answer = await raw(head('POST /subtasks', `${type}Content-Length: ${body.length}\r\n`), body)
    expect(answer.body).toMatchObject({ status: 415, code: 'unsupported_media_type', detail: expect.stringContaining('Content-Encoding') })
  })

  it('takes a body that says that it is not encoded', async () => {
    const body = '{"task":"Count.","runner":"external"}'
    const type = 'Content-Type: application/json\r\nContent-Encoding: identity\r\n'
    expect((await raw(head('POST /subtasks', `${type}Content-Length: ${body.length}\r\n`), body)).status).toBe(202)
  })
})

describe('a path', () => {
  it.each([['/subtasks/'], ['/tasks//updates'], ['/sessions//inbox/claim'], ['/tsgs/'], ['/nowhere']])('404: %s leads nowhere', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE'] as const) expect((await api.call(method, path)).body).toMatchObject({ status: 404, code: 'not_found' })
  })

  it.each([
    ['PUT', '/subtasks', 'GET, HEAD, POST'],
    ['PUT', '/subtasks/claim', 'POST'],
    ['PUT', '/subtasks/01990000-0000-7000-8000-000000000000', 'GET, HEAD, DELETE'],
    ['PUT', '/subtasks/x/updates', 'GET, HEAD, POST'],
    ['POST', '/events', 'GET'],
    ['POST', '/training/export', 'GET'],
    ['OPTIONS', '/tsgs/scan', 'GET, HEAD, POST, PUT, PATCH, DELETE'],
    ['PUT', '/mcp', 'POST'],
    ['GET', '/mcp', 'POST'],
    ['POST', '/openapi.json', 'GET, HEAD'],
    ['DELETE', '/docs/errors', 'GET, HEAD'],
    ['OPTIONS', '/healthz', 'GET, HEAD'],
  ])('405: %s %s names what the path takes: %s', async (method, path, allow) => {
    const answer = await api.app.inject({ method: method as 'PUT', url: path, headers: { host: 'localhost' } })
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, allow])
  })
})

describe('a query', () => {
  it.each([['1e2'], ['0x10'], [' 5'], ['+5'], ['5.0'], ['-1'], ['٥'], [''], ['9'.repeat(20)]])('400: a number is decimal digits, not %o', async (value) => {
    for (const path of ['/subtasks?limit=', '/memory/search?q=x&limit=', '/subtasks/01990000-0000-7000-8000-000000000000?wait_seconds=', '/events?after=']) {
      const answer = await api.call('GET', path + encodeURIComponent(value))
      expect(answer.body).toMatchObject({ status: 400, code: 'validation_failed', errors: [{ reason: expect.stringContaining('digits'), value }] })
    }
  })

  it('400: a parameter that comes twice is said to come twice', async () => {
    expect((await api.call('GET', '/subtasks?limit=1&limit=2&agent_id=a&agent_id=a')).body.errors).toEqual([
      { pointer: '?limit', field: 'limit', reason: 'is given 2 times; give it once', value: '["1","2"]' },
      { pointer: '?agent_id', field: 'agent_id', reason: 'is given 2 times; give it once', value: '["a","a"]' },
    ])
  })
})

describe('a search', () => {
  it.each([
    ['-'.repeat(33)],
    ['-'.repeat(500)],
    [`-"${'-'.repeat(40)}`],
    ['-!&|'.repeat(50)],
    ['-""'.repeat(50)],
    [`${'-'.repeat(40)}x`],
    ['- '.repeat(200)],
    ['!'.repeat(100)],
    ['"'.repeat(99)],
    ['or '.repeat(100)],
    ['x -'.repeat(100)],
  ])('takes %j for a question without an answer', async (q) => {
    for (const path of ['/memory/search?q=', '/tasks?q=', '/tsgs?q=']) {
      const answer = await api.call('GET', path + encodeURIComponent(q))
      expect([path, answer.status, answer.text]).toEqual([path, 200, expect.any(String)])
    }
  })
})
