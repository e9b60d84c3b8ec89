import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { Muster, MusterError } from '../index.ts'

type Reply = (request: IncomingMessage, response: ServerResponse) => void

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A server that gives these replies in order, and the last one for ever. */
async function serve(...replies: Reply[]): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    const reply = replies.length > 1 ? replies.shift() : replies[0]
    reply?.(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
const problem = (status: number, code: string, retryable: boolean, headers: Record<string, string> = {}): Reply =>
  json(status, { type: `#${code}`, title: code, status, detail: `It is ${code}.`, instance: '/', code, request_id: 'r1', retryable }, headers)
const dropped: Reply = (request) => request.socket.destroy()
const hangs: Reply = () => undefined

const keysOf = (requests: IncomingMessage[]) => new Set(requests.map(({ headers }) => headers['idempotency-key']))

describe('a call', () => {
  it('is repeated with one Idempotency-Key until the server answers', async () => {
    const { url, requests } = await serve(dropped, problem(503, 'unavailable', true, { 'retry-after': '0' }), json(201, { fact_id: 'f1' }))
    await expect(new Muster({ url }).memory.learn({ content: 'The sky is blue.' } as never)).resolves.toEqual({ fact_id: 'f1' })
    expect(requests).toHaveLength(3)
    expect(keysOf(requests).size).toBe(1)
    expect(keysOf(requests)).not.toContain(undefined)
  })

  it('is not repeated where that cannot help, and says why it was refused', async () => {
    const { url, requests } = await serve(problem(404, 'not_found', false))
    const error = await new Muster({ url }).tasks.get('t1').catch((thrown: unknown) => thrown)
    expect(MusterError.is(error, 'not_found')).toBe(true)
    expect(error).toMatchObject({ status: 404, message: 'It is not_found.', requestId: 'r1', retryable: false })
    expect(requests).toHaveLength(1)
  })

  it('never becomes another one by the name of a thing', async () => {
    const { url, requests } = await serve(json(200, {}))
    for (const id of ['', '.', '..']) await expect(new Muster({ url }).schedules.trigger(id)).rejects.toThrow(TypeError)
    await new Muster({ url }).schedules.trigger('a/../b?c#d')
    expect(requests.map((request) => request.url)).toEqual(['/schedules/a%2F..%2Fb%3Fc%23d/trigger'])
  })

  it('is not repeated sooner than Retry-After says, and fails at once where that is long', async () => {
    const { url, requests } = await serve(problem(429, 'budget_exhausted', true, { 'retry-after': '3600' }))
    const error = await new Muster({ url }).subtasks.spawn({ task: 'Look.' }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'budget_exhausted', retryAfterSeconds: 3600 })
    expect(requests).toHaveLength(1)
  })

  it('that changes something without an Idempotency-Key is repeated only if it was refused', async () => {
    const lost = await serve(dropped)
    await expect(new Muster({ url: lost.url }).tasks.revise('t1', 3, {})).rejects.toMatchObject({ code: 'connection_failed' })
    expect(lost.requests).toHaveLength(1)
    const refused = await serve(problem(503, 'unavailable', true, { 'retry-after': '0' }), json(200, {}))
    await new Muster({ url: refused.url }).tasks.revise('t1', 3, {})
    expect(refused.requests.map(({ headers }) => headers['if-match'])).toEqual(['"3"', '"3"'])
  })

  it('ends when its time is over, and at once by its signal', async () => {
    const { url } = await serve(hangs)
    const muster = new Muster({ url, retries: 0, timeoutMs: 30 })
    await expect(muster.tasks.get('t1')).rejects.toMatchObject({ code: 'timed_out', retryable: true })
    const stop = new AbortController()
    const call = muster.tasks.get('t1', { signal: stop.signal, timeoutMs: 60_000 })
    stop.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
  })

  it('says that something else than Muster answered', async () => {
    const { url } = await serve((_, response) => void response.writeHead(502).end('<h1>Bad gateway</h1>'))
    await expect(new Muster({ url, retries: 0 }).tasks.get('t1')).rejects.toMatchObject({ code: 'answer_invalid', status: 502, retryable: true })
  })

  it('without a key, or with an empty one of the environment, has no Authorization', async () => {
    const { url, requests } = await serve(json(200, {}))
    for (const key of [undefined, '']) await new Muster({ url, key }).tasks.get('t1')
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined])
  })

  it('sends its key, its query and the parts of its path as they are', async () => {
    const { url, requests } = await serve(json(200, { items: [], next_cursor: null }))
    await new Muster({ url: `${url}/`, key: 'mst_1' }).sessions.messages('a/b c', { limit: 5 }).all()
    expect(requests[0]?.url).toBe('/sessions/a%2Fb%20c/messages?limit=5')
    expect(requests[0]?.headers.authorization).toBe('Bearer mst_1')
  })
})

describe('a list', () => {
  it('reads the next page when it is needed', async () => {
    const { url, requests } = await serve(json(200, { items: [1, 2], next_cursor: 'c2' }), json(200, { items: [3], next_cursor: null }))
    const muster = new Muster({ url })
    expect(await muster.tasks.list({ status: 'open' } as never).all(2)).toEqual([1, 2])
    expect(requests).toHaveLength(1)
    expect(await muster.tasks.list().page()).toEqual({ items: [3], next_cursor: null })
  })

  it('is iterated over all pages', async () => {
    const { url, requests } = await serve(json(200, { items: [1, 2], next_cursor: 'c2' }), json(200, { items: [3], next_cursor: null }))
    expect(await new Muster({ url }).subtasks.list({ agent_id: 'a' }).all()).toEqual([1, 2, 3])
    expect(requests.map((request) => request.url)).toEqual(['/subtasks?agent_id=a', '/subtasks?agent_id=a&cursor=c2'])
  })
})

describe('an inbox that is waited for', () => {
  it('outlasts a server that is away before an item is claimed, and before it is acknowledged', async () => {
    const page = (id: string) => json(200, { items: [{ id }], claim_id: `claim-${id}`, has_more: false })
    const { url, requests } = await serve(dropped, dropped, page('a'), dropped, dropped, json(204, undefined), page('b'))
    const items: string[] = []
    for await (const { id } of new Muster({ url, retries: 0 }).inbox.claim('s', { pollMs: 1 })) {
      items.push(id)
      if (items.length === 2) break
    }
    expect(items).toEqual(['a', 'b'])
    const claim = '/sessions/s/inbox/claim'
    const acknowledge = `${claim}/claim-a/ack`
    expect(requests.map((request) => request.url)).toEqual([claim, claim, claim, acknowledge, acknowledge, acknowledge, claim])
    expect([keysOf(requests.slice(0, 3)).size, keysOf(requests.slice(3, 6)).size]).toEqual([1, 1])
  })

  it('fails with the server where it is read once', async () => {
    const { url } = await serve(dropped)
    await expect(new Muster({ url, retries: 0 }).inbox.claim('s').next()).rejects.toMatchObject({ code: 'connection_failed' })
  })
})

describe('events', () => {
  const stream =
    (text: string): Reply =>
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
    }
  const event = (id: number, type: string) => `id: ${id}\r\nevent: ${type}\r\ndata: ${JSON.stringify({ id, type })}\r\n\r\n`

  it('continue after the last one when the connection is lost, each once', async () => {
    const { url, requests } = await serve(
      stream(`retry: 1000\n\n: still here\n\n${event(1, 'subtask.created')}data: {"half`),
      dropped,
      stream(event(2, 'subtask.started')),
      stream(event(3, 'subtask.completed')),
    )
    const types: string[] = []
    for await (const { type } of new Muster({ url }).subtasks.handle('s1').events()) types.push(type)
    expect(types).toEqual(['subtask.created', 'subtask.started', 'subtask.completed'])
    expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1', '1', '2'])
  })

  it('and the steps between them wait for a server that is away for longer than a call is repeated', async () => {
    const away = Array.from({ length: 6 }, () => problem(503, 'unavailable', true, { 'retry-after': '0' }))
    const { url } = await serve(stream(event(1, 'subtask.completed')), ...away, json(200, { items: [{ seq: 1, kind: 'message' }], next_cursor: null }))
    const followed: string[] = []
    for await (const item of new Muster({ url }).subtasks.handle('s1').follow()) followed.push(item.kind)
    expect(followed).toEqual(['step', 'event'])
  })

  it('wait for a server that closes them and goes away for longer than a call is repeated', async () => {
    const { url, requests } = await serve(stream(''), dropped, dropped, json(200, { status: 'completed' }))
    for await (const _ of new Muster({ url, retries: 0 }).subtasks.handle('s1').events()) expect.unreachable()
    expect(requests).toHaveLength(4)
  })

  it('end with 204, with an error that no repetition mends, and by the signal', async () => {
    const ended = await serve((_, response) => void response.writeHead(204).end())
    for await (const _ of new Muster({ url: ended.url }).subtasks.handle('s1').events({ after: 9 })) expect.unreachable()
    const pruned = await serve(problem(410, 'cursor_pruned', false))
    await expect(new Muster({ url: pruned.url }).events.follow({ after: 1 }).next()).rejects.toMatchObject({ code: 'cursor_pruned' })
    const open = await serve((_, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': still here\n\n'))
    const stop = new AbortController()
    const next = new Muster({ url: open.url }).events.follow({ signal: stop.signal }).next()
    stop.abort(new Error('enough'))
    await expect(next).rejects.toThrow('enough')
  })
})
