import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { RESPONSE_EXCERPT_BYTES } from '@muster/domain'
import { HOSTILE_NAMES, HOSTILE_URLS } from '@muster/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createChannels } from './channels.ts'

let port: number
let received: { headers: IncomingMessage['headers']; body: string }[]
let dialled: string[]
let answer: (response: ServerResponse) => void | Promise<void>
const server = createServer(async (message, response) => {
  let body = ''
  for await (const chunk of message) body += chunk
  received.push({ headers: message.headers, body })
  void answer(response)
})
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  received = []
  dialled = []
  answer = (response) => void response.writeHead(204).end()
})

const NONE = { OUTBOUND_ALLOW: [] as string[], TELEGRAM_API_URL: undefined, SMTP_URL: undefined, SMTP_FROM: undefined }
const BODY = '{"type":"subtask.completed","data":{"result":"ü €"}}'
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

/** Sends with the names of the tests; an address that is permitted leads to the server of this file. */
function send({
  url = `http://public.test:${port}/hook`,
  secrets = [] as string[],
  signal = new AbortController().signal,
  operator = '',
  allow = [] as string[],
} = {}) {
  const channel = createChannels(
    { ...NONE, OUTBOUND_ALLOW: operator === '' ? [] : [operator] },
    {
      resolve: async (host) => HOSTILE_NAMES[host.toLowerCase().replace(/\.$/, '')] ?? [],
      dial: (address) => {
        dialled.push(address)
        return '127.0.0.1'
      },
    },
  ).get('webhook')
  const receiver = { id: 'r', url, secrets, options: {}, outboundAllow: allow }
  return channel?.send({ id: 'msg-1', type: 'subtask.completed', body: BODY, message: null, receiver }, signal)
}

/** Standard Webhooks, written from its text: HMAC-SHA256 over id, timestamp and body. */
function signatureOf(secret: string, { headers, body }: { headers: IncomingMessage['headers']; body: string }): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`).digest('base64')}`
}

describe('a webhook request', () => {
  it('has the body as it is, and headers that verify with HMAC alone', async () => {
    const secret = newSecret()
    expect(await send({ secrets: [secret] })).toMatchObject({ outcome: 'delivered', status: 204, error: null })
    const [request] = received
    expect(request?.body).toBe(BODY)
    expect(request?.headers).toMatchObject({ 'webhook-id': 'msg-1', 'content-type': 'application/json', host: `public.test:${port}` })
    expect(request?.headers['webhook-signature']).toBe(signatureOf(secret, request as (typeof received)[number]))
    expect(Math.abs(Number(request?.headers['webhook-timestamp']) * 1_000 - Date.now())).toBeLessThan(60_000)
  })

  it('has a signature of each secret while one is rotated, and none without a secret', async () => {
    const secrets = [newSecret(), newSecret()]
    await send({ secrets })
    const [request] = received
    expect(request?.headers['webhook-signature']).toBe(secrets.map((secret) => signatureOf(secret, request as (typeof received)[number])).join(' '))
    await send()
    expect(received[1]?.headers).not.toHaveProperty('webhook-signature')
  })
})

describe('an answer', () => {
  it.each([
    [200, 'delivered'],
    [299, 'delivered'],
    [301, 'failed'],
    [307, 'failed'],
    [400, 'failed'],
    [410, 'gone'],
    [500, 'failed'],
  ])('of status %i means %s, and a redirect is not followed', async (status, outcome) => {
    answer = (response) => void response.writeHead(status, { location: `http://public.test:${port}/other` }).end('why')
    expect(await send()).toMatchObject({ outcome, status, response: 'why' })
    expect(received).toHaveLength(1)
  })

  it('with Retry-After says how long to wait, in seconds or as a time', async () => {
    answer = (response) => void response.writeHead(429, { 'retry-after': '17' }).end()
    expect(await send()).toMatchObject({ retryAfterSeconds: 17 })
    answer = (response) => void response.writeHead(503, { date: 'Mon, 02 Mar 2026 08:00:00 GMT', 'retry-after': 'Mon, 02 Mar 2026 08:02:00 GMT' }).end()
    expect(await send()).toMatchObject({ retryAfterSeconds: 120 })
    answer = (response) => {
      response.sendDate = false
      response.writeHead(503, { 'retry-after': new Date(Date.now() + 600_000).toUTCString() }).end()
    }
    expect((await send())?.retryAfterSeconds).toBeGreaterThan(500)
    answer = (response) => void response.writeHead(503, { 'retry-after': 'soon' }).end()
    expect(await send()).toMatchObject({ retryAfterSeconds: null })
  })

  it('of ten megabytes is read no further than its beginning', async () => {
    let written = 0
    answer = async (response) => {
      response.writeHead(200)
      response.on('error', () => undefined)
      const piece = Buffer.alloc(64 * 1024, 'a')
      for (; written < 10 * 1024 * 1024 && !response.destroyed; written += piece.length) {
        if (!response.write(piece))
          await Promise.race([new Promise((resolve) => response.once('drain', resolve)), new Promise((resolve) => response.once('close', resolve))])
      }
      response.end()
    }
    const result = await send()
    expect(result).toMatchObject({ outcome: 'delivered', response: 'a'.repeat(RESPONSE_EXCERPT_BYTES) })
    expect(written).toBeLessThan(10 * 1024 * 1024)
  })

  it('that PostgreSQL could not store is made storable', async () => {
    answer = (response) => void response.writeHead(500).end(Buffer.from([0x61, 0x00, 0xff, 0x62]))
    expect((await send())?.response).not.toContain('\u0000')
  })

  it('that breaks off after its status counts by its status, and one that never comes fails', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half')
      setImmediate(() => response.destroy())
    }
    expect(await send()).toMatchObject({ outcome: 'delivered', status: 200 })
    answer = (response) => void response.destroy()
    expect(await send()).toMatchObject({ outcome: 'failed', status: null, error: expect.stringContaining('the connection failed') })
    answer = () => undefined
    expect(await send({ signal: AbortSignal.timeout(100) })).toMatchObject({ outcome: 'failed', status: null, error: 'did not answer in time' })
  })
})

describe('an address', () => {
  it.each(HOSTILE_URLS)('that is not public is not connected to: %s', async (url, reason) => {
    expect(await send({ url })).toMatchObject({ outcome: 'failed', status: null, error: expect.stringContaining(reason) })
    expect(dialled).toEqual([])
  })

  it.each([
    ['127.0.0.1', 'http://127.0.0.1'],
    ['127.0.0.0/8', 'http://2130706433'],
    ['127.0.0.1', 'http://[::ffff:7f00:1]'],
    ['internal.test', 'http://Internal.test'],
  ])('that the operator and the project both allow with %s may be reached, as %s', async (entry, url) => {
    const to = `${url}:${port}/`
    expect(await send({ url: to, operator: entry, allow: [entry] })).toMatchObject({ outcome: 'delivered' })
    for (const only of [{ operator: entry }, { allow: [entry] }, { operator: entry, allow: ['10.9.9.9'] }]) {
      expect(await send({ url: to, ...only })).toMatchObject({ outcome: 'failed', error: expect.stringContaining('OUTBOUND_ALLOW') })
    }
  })

  it('is that of one look-up: a name that answers differently the next time gains nothing', async () => {
    let asked = 0
    const channel = createChannels(NONE, {
      resolve: async () => (asked++ === 0 ? ['93.184.216.34'] : ['127.0.0.1']),
      dial: (address) => {
        dialled.push(address)
        return '127.0.0.1'
      },
    }).get('webhook')
    const receiver = { id: 'r', url: `http://moving.test:${port}/`, secrets: [], options: {}, outboundAllow: [] }
    const delivery = { id: 'm', type: 't', body: BODY, message: null, receiver }
    expect(await channel?.send(delivery, new AbortController().signal)).toMatchObject({ outcome: 'delivered' })
    expect(await channel?.send(delivery, new AbortController().signal)).toMatchObject({ error: expect.stringContaining('is not a public address') })
    expect(dialled).toEqual(['93.184.216.34'])
    expect(asked).toBe(2)
  })

  it('whose name is not resolved in time is given up', async () => {
    const channel = createChannels(NONE, { resolve: () => sleep(60_000, [], { ref: false }) }).get('webhook')
    const delivery = {
      id: 'm',
      type: 't',
      body: BODY,
      message: null,
      receiver: { id: 'r', url: 'http://public.test/', secrets: [], options: {}, outboundAllow: [] },
    }
    expect(await channel?.send(delivery, AbortSignal.timeout(50))).toMatchObject({ error: 'did not answer in time' })
  })
})
