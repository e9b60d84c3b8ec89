import { Agent, request } from 'node:http'
import { machineMs } from './clock.ts'
import { produceAtRate } from './open-loop.ts'

export interface HttpTarget {
  url: string
  headers: Record<string, string>
}

export interface HttpCall {
  method: 'GET' | 'POST'
  path: string
  body?: string
  /** Says what is wrong with an answer; undefined when it is what was to be measured. */
  problem?(body: string): string | undefined
}

/** Of each request, by its number. */
export interface HttpLatencies {
  /** From when it was sent until all of its answer had arrived. */
  fromSentMs: number[]
  /** From when it was due: this one does not spare a system that stalls. */
  fromDueMs: number[]
}

const CONNECTIONS_MAX = 64

/**
 * Sends requests from this process at a fixed schedule, however long answers take, and times each to the fraction of a millisecond.
 * `sendHttpLoad` is cheaper, and sends what is due in a second all at once.
 *
 * @throws Error when any answer was not 2xx, or not what it should be
 */
export async function sendHttpAtRate(target: HttpTarget, perSecond: number, seconds: number, call: (index: number) => HttpCall): Promise<HttpLatencies> {
  using agent = connections()
  const fromSentMs: number[] = []
  const load = await produceAtRate(perSecond, seconds, async (index) => {
    const sending = call(index)
    const sentMs = machineMs()
    const answer = await send(agent.http, target, sending)
    fromSentMs[index] = machineMs() - sentMs
    check(sending, answer)
    return ''
  })
  return { fromSentMs, fromDueMs: load.committedMs.map((ms, place) => ms - (load.dueMs[place] as number)) }
}

/** Sends so many requests as fast as a few connections allow: what a measurement needs to be there. */
export async function sendHttpAll(target: HttpTarget, count: number, call: (index: number) => HttpCall): Promise<void> {
  using agent = connections()
  let next = 0
  const sendOn = async () => {
    while (next < count) {
      const sending = call(next)
      next += 1
      check(sending, await send(agent.http, target, sending))
    }
  }
  await Promise.all(Array.from({ length: 16 }, sendOn))
}

/** Connections that are kept. */
export function connections(max = CONNECTIONS_MAX): Disposable & { http: Agent } {
  const http = new Agent({ keepAlive: true, maxSockets: max })
  return { http, [Symbol.dispose]: () => http.destroy() }
}

/** Sends one request. @throws Error when the answer is not 2xx */
export async function sendJson<T>(agent: Agent, target: HttpTarget, call: HttpCall): Promise<T> {
  const answer = await send(agent, target, call)
  check(call, answer)
  return JSON.parse(answer.body) as T
}

interface Answer {
  status: number
  body: string
}

function send(agent: Agent, { url, headers }: HttpTarget, { method, path, body }: HttpCall): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const typed = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request(`${url}${path}`, { agent, method, headers: { ...headers, ...typed } }, (response) => {
      response.setEncoding('utf8')
      let text = ''
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function check({ method, path, problem }: HttpCall, { status, body }: Answer): void {
  const wrong = status >= 200 && status < 300 ? problem?.(body) : `status ${status}`
  if (wrong !== undefined) throw new Error(`${method} ${path}: ${wrong} in ${body.slice(0, 500)}`)
}
