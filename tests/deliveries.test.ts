import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { outbox, transaction } from '@muster/db'
import { advanceClock, drainOutbox } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'

/*
 * Deliveries from outside: real workers send them to a receiver that misbehaves, and are killed meanwhile. What arrives is judged by the receiver alone,
 * with HMAC of Node.
 */
const SUBJECTS = 50
const EVENTS_PER_SUBJECT = 10
const KILLS = 5

interface Received {
  webhook: string
  body: string
  /** Answered 2xx, in the order of the answers of all. */
  acknowledged: number | null
  times: number
  areAllSigned: boolean
}

let system: System
const secrets = new Map<string, string>()
const received = new Map<string, Received>()
let trapped = 0
let acknowledged = 0

/** One in four deliveries is answered badly the first time, in a way that its id decides. */
const MISBEHAVIOURS: ((response: ServerResponse) => void)[] = [
  () => undefined,
  (response) => void response.writeHead(500).end('no'),
  (response) => void response.writeHead(301, { location: '/trap' }).end(),
  (response) => void response.writeHead(429, { 'retry-after': '1' }).end(),
  (response) => void response.writeHead(500).end(Buffer.alloc(10 * 1024 * 1024, 'x')),
  (response) => {
    // The status line is cut off.
    response.socket?.write('HTTP/1.1 20')
    response.socket?.destroy()
  },
]

const receiver = createServer(async (request, response) => {
  response.on('error', () => undefined)
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  } catch {
    return // Its worker was killed.
  }
  if (request.url === '/trap') trapped += 1
  if (request.url === '/gone') return void response.writeHead(410).end()
  const entry = record(request, Buffer.concat(chunks).toString('utf8'))
  const digit = createHash('sha256').update(String(request.headers['webhook-id'])).digest()[0] ?? 0
  const misbehave = MISBEHAVIOURS[digit % (4 * MISBEHAVIOURS.length)]
  if (entry.times === 1 && misbehave !== undefined) return misbehave(response)
  entry.acknowledged ??= acknowledged++
  // A body of ten megabytes is no reason to send again either.
  response.writeHead(200).end(digit === 255 ? Buffer.alloc(10 * 1024 * 1024, 'x') : 'ok')
})

function record({ url = '', headers }: IncomingMessage, body: string): Received {
  const id = String(headers['webhook-id'])
  const webhook = url.slice(1)
  const entry = received.get(id) ?? { webhook, body, acknowledged: null, times: 0, areAllSigned: true }
  const key = Buffer.from((secrets.get(webhook) ?? '').slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${headers['webhook-timestamp']}.${body}`).digest('base64')
  const isRecent = Math.abs(Date.now() / 1_000 - Number(headers['webhook-timestamp'])) < 60
  entry.times += 1
  entry.areAllSigned &&= headers['webhook-signature'] === `v1,${signature}` && isRecent && entry.body === body && entry.webhook === webhook
  received.set(id, entry)
  return entry
}

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  system = await startSystem({
    workers: 2,
    env: {
      SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}`,
      OUTBOUND_ALLOW: '127.0.0.1',
      DELIVERY_TIMEOUT_SECONDS: '1',
      DELIVERY_RETRY_SECONDS: Array.from({ length: 30 }, () => 1).join(),
    },
  })
  await system.client.ok('PATCH', `/projects/${system.ctx.actor.projectId}`, { body: { settings: { outbound_allow: ['127.0.0.1'] } } })
})
afterAll(async () => {
  receiver.closeAllConnections()
  receiver.close()
  await system.close()
})

async function addWebhook(path: string, fields: object): Promise<string> {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/${path}`
  const made = await system.client.ok<{ id: string; secret: string }>('POST', '/webhooks', { body: { url, ...fields } })
  secrets.set(path, made.secret)
  system.addSecret(made.secret)
  return made.id
}

/** Publishes events of many subjects, in the order of each. */
async function happen(): Promise<void> {
  const { ctx } = system
  const { projectId } = ctx.actor
  const subjects = Array.from({ length: SUBJECTS }, () => ctx.newId())
  for (let nth = 0; nth < EVENTS_PER_SUBJECT; nth += 1) {
    await transaction(ctx.db, projectId, (tx) =>
      outbox.publish(
        tx,
        projectId,
        subjects.map((id) => ({ type: 'tsg.surfaced', subject: { kind: 'tsg', id }, data: { nth }, actor: { kind: 'system', id: 'test' } })),
      ),
    )
  }
  await drainOutbox(ctx)
}

/** Lets waits, pauses and leases pass four times as fast, when it is called all the time. */
async function hurry(): Promise<void> {
  const nowMs = performance.now()
  if (nowMs < hurriedMs + 250) return
  hurriedMs = nowMs
  await advanceClock(system.admin, '1 second')
}
let hurriedMs = 0

describe('a thousand deliveries to a receiver that hangs, answers 500, 301, 429 and 410, sends ten megabytes and breaks off', () => {
  it('arrive all, signed, in order where asked for, and repeated with the same id, while workers are killed', { timeout: 120_000 }, async () => {
    await addWebhook('ordered', { events: ['tsg.surfaced'], ordered: true })
    await addWebhook('unordered', { events: ['tsg.surfaced'] })
    const gone = await addWebhook('gone', { events: ['tsg.surfaced'] })
    await happen()
    const openCount = async () => {
      const [row] = await system.admin<{ open: number }[]>`
        select count(*)::int as open from deliveries d join receivers r on r.id = d.receiver_id
        where d.status in ('pending', 'sending') and r.url not like '%/gone'`
      return row?.open ?? 0
    }
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = acknowledged
      await until(
        'some more arrive',
        async () => {
          await hurry()
          return acknowledged >= before + 100 || (await openCount()) === 0
        },
        30_000,
      )
      const victim = system.workers.filter(({ child }) => !child.hasExited)[0]
      await Promise.all([victim?.child.end('SIGKILL'), system.startWorker()])
    }
    await until(
      'all have arrived',
      async () => {
        await hurry()
        return (await openCount()) === 0
      },
      60_000,
    )

    const rows = await system.admin<{ id: string; path: string; status: string }[]>`
      select d.id, substr(r.url, length(r.url) - position('/' in reverse(r.url)) + 2) as path, d.status
      from deliveries d join receivers r on r.id = d.receiver_id`
    const due = rows.filter(({ path }) => path !== 'gone')
    expect(due).toHaveLength(2 * SUBJECTS * EVENTS_PER_SUBJECT)
    expect(due.filter(({ status }) => status !== 'delivered')).toEqual([])
    expect([...received.keys()].sort()).toEqual(due.map(({ id }) => id).sort())
    const all = [...received.values()]
    expect(all.filter(({ acknowledged: at, areAllSigned }) => at === null || !areAllSigned)).toEqual([])
    expect(all.filter(({ times }) => times > 1).length).toBeGreaterThan(100)
    expect(trapped).toBe(0)
    expect(outOfOrder(all.filter(({ webhook }) => webhook === 'ordered'))).toEqual([])

    const disabled = await system.client.ok<{ status: string }>('GET', `/webhooks/${gone}`)
    expect(disabled.status).toBe('disabled')
    const [events] = await system.admin<{ count: number }[]>`select count(*)::int as count from events where type = 'webhook.disabled'`
    expect(events?.count).toBe(1)
  })
})

/** Subjects whose deliveries were not acknowledged in the order of the log. */
function outOfOrder(entries: Received[]): string[] {
  const byTime = entries.sort((one, other) => (one.acknowledged ?? 0) - (other.acknowledged ?? 0))
  const last = new Map<string, number>()
  return byTime.flatMap(({ body }) => {
    const { subject, id } = JSON.parse(body) as { subject: { id: string }; id: number }
    const before = last.get(subject.id) ?? 0
    last.set(subject.id, id)
    return id > before ? [] : [`${subject.id}: ${id} after ${before}`]
  })
}
