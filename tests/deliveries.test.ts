import { randomBytes } from 'node:crypto'
import { outbox, transaction } from '@muster/db'
import { advanceClock, drainOutbox, MISBEHAVIOURS, type Receipt, startWebhookReceiver, type WebhookReceiver } from '@muster/testing'
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

let system: System
let receiver: WebhookReceiver

beforeAll(async () => {
  receiver = await startWebhookReceiver(Object.fromEntries(MISBEHAVIOURS.map((each) => [each, 4])), { gone: 'gone' })
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
  receiver.close()
  await system.close()
})

async function addWebhook(path: string, fields: object): Promise<string> {
  const made = await system.client.ok<{ id: string; secret: string }>('POST', '/webhooks', { body: { url: receiver.url(path), ...fields } })
  receiver.expect(path, made.secret)
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

describe('a thousand deliveries to a receiver that hangs, answers 500, 301, 429 and 410, sends ten megabytes, and breaks off in its status and in its body', () => {
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
    const acknowledged = () => [...receiver.receipts.values()].filter(({ acknowledged: at }) => at !== null).length
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = acknowledged()
      await until(
        'some more arrive',
        async () => {
          await hurry()
          return acknowledged() >= before + 100 || (await openCount()) === 0
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
    expect([...receiver.receipts.keys()].sort()).toEqual(due.map(({ id }) => id).sort())
    const all = [...receiver.receipts.values()]
    expect(all.filter(({ acknowledged: at, problems }) => at === null || problems.length > 0)).toEqual([])
    expect(new Set(all.map(({ misbehaviour }) => misbehaviour))).toEqual(new Set([...MISBEHAVIOURS, null]))
    expect(all.filter(({ times }) => times > 1).length).toBeGreaterThan(100)
    expect(outOfOrder(all.filter(({ webhook }) => webhook === 'ordered'))).toEqual([])

    const disabled = await system.client.ok<{ status: string }>('GET', `/webhooks/${gone}`)
    expect(disabled.status).toBe('disabled')
    const [events] = await system.admin<{ count: number }[]>`select count(*)::int as count from events where type = 'webhook.disabled'`
    expect(events?.count).toBe(1)
  })
})

/** Subjects whose deliveries were not acknowledged in the order of the log. */
function outOfOrder(entries: Receipt[]): string[] {
  const byTime = entries.sort((one, other) => (one.acknowledged ?? 0) - (other.acknowledged ?? 0))
  const last = new Map<string, number>()
  return byTime.flatMap(({ body }) => {
    const { subject, id } = JSON.parse(body) as { subject: { id: string }; id: number }
    const before = last.get(subject.id) ?? 0
    last.set(subject.id, id)
    return id > before ? [] : [`${subject.id}: ${id} after ${before}`]
  })
}
