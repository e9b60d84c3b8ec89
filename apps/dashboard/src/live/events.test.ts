import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Live } from './events.ts'

type Answer = (response: ServerResponse, headers: IncomingHttpHeaders) => void

/** How the server answers each stream, in turn; the last answer stays. */
let answers: Answer[]
/** Where each stream was asked to go on from. */
let asked: (string | undefined)[]
let paths: string[]
/** What a test has begun, and has to end. */
const ends: (() => void)[] = []

const server = createServer(({ url = '', headers }, response) => {
  paths.push(url)
  if (!url.startsWith('/events')) return problem(401, 'unauthenticated')(response, headers)
  asked.push(headers['last-event-id'] as string | undefined)
  const [answer = stream()] = answers
  if (answers.length > 1) answers.shift()
  answer(response, headers)
})

const problem =
  (status: number, code: string): Answer =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'application/problem+json' })
      .end(JSON.stringify({ status, code, title: code, detail: code, retryable: false }))

/** A stream that stays open, or ends after its events. */
const stream =
  (ids: number[] = [], ends = false): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n')
    for (const id of ids)
      response.write(`id: ${id}\ndata: ${JSON.stringify({ id, type: 'subtask.created', subject: { kind: 'subtask', id: 'x' }, data: {} })}\n\n`)
    if (ends) response.end()
  }

let followLive: typeof import('./events.ts').followLive

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  // What of a browser the connection uses. The API on the far side is a real server.
  vi.stubGlobal('window', Object.assign(new EventTarget(), { location: { origin } }))
  vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }))
  const { fetch } = globalThis
  vi.stubGlobal('fetch', (path: string | URL, init?: RequestInit) => fetch(new URL(path, origin), init))
  followLive = (await import('./events.ts')).followLive
  return () => {
    server.closeAllConnections()
    server.close()
    vi.unstubAllGlobals()
  }
})
beforeEach(() => {
  asked = []
  paths = []
})
afterEach(() => {
  vi.restoreAllMocks()
  for (const end of ends.splice(0)) end()
})

/** What a tab hears: ids of events, and gaps. */
function listen() {
  const heard: (number | 'gap')[] = []
  ends.push(followLive((live: Live) => heard.push('event' in live ? live.event.id : 'gap')))
  return heard
}

describe('the live connection', () => {
  it('goes on after the last event that it has read', async () => {
    answers = [stream([5], true), stream([6])]
    const heard = listen()
    await expect.poll(() => heard, { timeout: 5_000 }).toEqual(['gap', 5, 6])
    expect(asked).toEqual([undefined, '5'])
  })

  it('410: begins from now when the log has lost what comes next, and has everything read again', async () => {
    answers = [stream([5], true), problem(410, 'cursor_pruned'), stream([9])]
    const heard = listen()
    await expect.poll(() => heard, { timeout: 5_000 }).toEqual(['gap', 5, 'gap', 9])
    expect(asked).toEqual([undefined, '5', undefined])
  })

  it('401: has everything read again, so that a screen learns why; the page asks for a key', async () => {
    answers = [problem(401, 'unauthenticated')]
    const [{ createQueryClient }, { sessionQuery }, { keepFresh }, { muster }] = await Promise.all([
      import('../session/query-client.ts'),
      import('../session/session.ts'),
      import('./refresh.ts'),
      import('../muster.ts'),
    ])
    const client = createQueryClient()
    client.setQueryData(sessionQuery.queryKey, { mode: 'keys', signed_in: true })
    client.setQueryData(['subtask', 'list'], [])
    ends.push(
      new QueryObserver(client, { ...sessionQuery, retry: false }).subscribe(() => {}),
      new QueryObserver(client, { queryKey: ['subtask', 'list'], queryFn: () => muster.subtasks.list().page() }).subscribe(() => {}),
      keepFresh(client),
      () => client.clear(),
    )
    await expect.poll(() => paths, { timeout: 5_000 }).toEqual(expect.arrayContaining(['/subtasks', '/ui/session']))
  })

  it('reads again what was on its way when an event came, after it has arrived or failed: it may have been read before the change', async () => {
    let send = (_id: number) => {}
    answers = [
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n')
        send = (id) =>
          response.write(`id: ${id}\ndata: ${JSON.stringify({ id, type: 'subtask.completed', subject: { kind: 'subtask', id: 'x' }, data: {} })}\n\n`)
      },
    ]
    const [{ createQueryClient }, { keepFresh }] = await Promise.all([import('../session/query-client.ts'), import('./refresh.ts')])
    const client = createQueryClient()
    const heard = listen()
    ends.push(keepFresh(client), () => client.clear())
    await expect.poll(() => heard).toEqual(['gap'])
    const slow: PromiseWithResolvers<string>[] = []
    let quick = 0
    const read = () => {
      const page = Promise.withResolvers<string>()
      slow.push(page)
      return page.promise
    }
    const observer = new QueryObserver(client, { queryKey: ['subtask', 'list', 'slow'], queryFn: read })
    ends.push(
      observer.subscribe(() => {}),
      new QueryObserver(client, { queryKey: ['subtask', 'list', 'quick'], queryFn: () => ++quick }).subscribe(() => {}),
    )
    await expect.poll(() => quick).toBe(1)
    // What the first event concerns is read again at once where nothing is on its way.
    send(7)
    await expect.poll(() => quick).toBe(2)
    expect(slow).toHaveLength(1)
    slow[0]?.resolve('pending')
    await expect.poll(() => slow).toHaveLength(2)
    expect(observer.getCurrentResult().data).toBe('pending')
    send(8)
    await expect.poll(() => heard).toEqual(['gap', 7, 8])
    slow[1]?.reject(new Error('The connection was lost.'))
    await expect.poll(() => slow).toHaveLength(3)
    slow[2]?.resolve('completed')
    await expect.poll(() => observer.getCurrentResult().data).toBe('completed')
  })

  it('begins anew after the machine has slept: the connection may be dead without a word', async () => {
    answers = [stream()]
    const heard = listen()
    await expect.poll(() => heard).toEqual(['gap'])
    const wokenAtMs = Date.now() + 3_600_000
    vi.spyOn(Date, 'now').mockReturnValue(wokenAtMs)
    document.dispatchEvent(new Event('visibilitychange'))
    await expect.poll(() => heard).toEqual(['gap', 'gap'])
    expect(asked).toEqual([undefined, undefined])
  })
})
