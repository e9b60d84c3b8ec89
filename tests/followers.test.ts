import { once } from 'node:events'
import { type ClientRequest, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { outbox, transaction } from '@muster/db'
import { drainOutbox } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'

/* Event streams from outside: many followers of one API, whose connections break all the time, and one that reads nothing. */
const FOLLOWERS = 200
const EVENTS = 4_000
const BATCH = 500
/** Connections that are cut at once after each batch: each follower loses its connection four times. */
const CUT_AT_ONCE = 100

let system: System
beforeAll(async () => {
  system = await startSystem({ workers: 0 })
})
afterAll(() => system.close())

async function happen(count: number, data: Record<string, unknown> = {}): Promise<void> {
  const { ctx } = system
  const { projectId } = ctx.actor
  await transaction(ctx.db, projectId, (tx) =>
    outbox.publish(
      tx,
      projectId,
      Array.from({ length: count }, () => ({ type: 'tsg.surfaced', subject: { kind: 'tsg', id: 'a' }, data, actor: { kind: 'system', id: 't' } })),
    ),
  )
  await drainOutbox(ctx)
}

/** Reads the ids of a stream, and opens it again after the last one when it breaks, as every client of server-sent events does. */
class Follower {
  last: number
  seen = 0
  inOrder = true
  connections = 0
  #request: ClientRequest | undefined
  #isStopped = false

  constructor(after: number) {
    this.last = after
    this.#open()
  }

  cut(): void {
    this.#request?.destroy()
  }

  stop(): void {
    this.#isStopped = true
    this.cut()
  }

  #open(): void {
    this.connections += 1
    const url = new URL(`/events?after=${this.last}`, system.api.address)
    const request = get(url, { agent: false, headers: { accept: 'text/event-stream', 'last-event-id': String(this.last) } }, (response) => this.#read(response))
    this.#request = request
    request.on('error', () => undefined)
    request.on('close', () => {
      if (!this.#isStopped) setImmediate(() => this.#open())
    })
  }

  #read(response: IncomingMessage): void {
    let rest = ''
    response.setEncoding('utf8')
    response.on('error', () => undefined)
    response.on('data', (chunk: string) => {
      const blocks = (rest + chunk).split('\n\n')
      // Without its end it has not arrived.
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const id = /^id: (\d+)\nevent: /.exec(block)?.[1]
        if (id === undefined) continue
        this.inOrder &&= Number(id) === this.last + 1
        this.last = Number(id)
        this.seen += 1
      }
    })
  }
}

const latest = async (): Promise<number> => {
  const [row] = await system.admin<{ seq: number }[]>`select coalesce(max(seq), 0)::int as seq from events`
  return row?.seq ?? 0
}

describe('two hundred followers whose connections break all the time', () => {
  it('each see four thousand events once and in their order', { timeout: 150_000 }, async () => {
    await happen(1)
    const first = await latest()
    const followers = Array.from({ length: FOLLOWERS }, () => new Follower(first))
    for (let sent = 0; sent < EVENTS; sent += BATCH) {
      await happen(BATCH)
      const from = (sent / BATCH) * CUT_AT_ONCE
      for (let nth = 0; nth < CUT_AT_ONCE; nth += 1) followers[(from + nth) % FOLLOWERS]?.cut()
    }
    await until('all have seen all', () => followers.every(({ seen }) => seen >= EVENTS), 120_000)
    for (const follower of followers) follower.stop()
    expect(followers.filter(({ seen, inOrder, last }) => seen !== EVENTS || !inOrder || last !== first + EVENTS)).toEqual([])
    expect(followers.reduce((sum, { connections }) => sum + connections, 0)).toBeGreaterThan(2 * FOLLOWERS)
  })
})

describe('a follower that does not read', () => {
  it('is cut off, and continues where it was', { timeout: 60_000 }, async () => {
    const after = await latest()
    const { hostname, port, host } = new URL(system.api.address)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.write(`GET /events?after=${after} HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n\r\n`)
    await once(socket, 'data')
    socket.pause()
    // More than the buffers of the system hold.
    for (let sent = 0; sent < 40; sent += 1) await happen(100, { text: 'x'.repeat(10_000) })
    await happen(1)
    const end = await latest()
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('error', () => undefined)
    socket.resume()
    await once(socket, 'close')
    const ids = [...text.matchAll(/^id: (\d+)\nevent: .*\ndata: .*\n\n/gm)].map(([, id]) => Number(id))
    expect(ids.at(-1) ?? after).toBeLessThan(end)
    const again = new Follower(ids.at(-1) ?? after)
    await until('it has the rest', () => again.last === end, 30_000)
    again.stop()
    expect(again.inOrder).toBe(true)
  })
})
