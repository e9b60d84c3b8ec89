import { randomBytes } from 'node:crypto'
import { outbox, sending, transaction } from '@muster/db'
import { BREAKER, type Channel, DIGEST_MESSAGES_MAX, type EventType, type OutboundDelivery, renderSubagentMarkdown, type SendResult } from '@muster/domain'
import { advanceClock, drainOutbox, type Harness, resetClock, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type Channels,
  type Ctx,
  claimDeliveries,
  claimSubtask,
  completeLease,
  createSchedule,
  createSubtask,
  createWebhook,
  deleteWebhook,
  endUnsendableDeliveries,
  fireSchedules,
  getDelivery,
  getSubagent,
  getSubtask,
  getWebhook,
  type HeldDelivery,
  listDeliveries,
  listSubtasks,
  listWebhooks,
  putSubagent,
  readEvents,
  redeliver,
  reviseSchedule,
  rotateWebhookSecret,
  sealAllAgain,
  sendDelivery,
  testWebhook,
  triggerSchedule,
  updateProject,
  updateWebhook,
  type WebhookFields,
} from '../index.ts'

let harness: Harness
let ctx: Ctx

beforeAll(async () => {
  harness = await startHarness({
    settings: { SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}`, DELIVERY_RETRY_SECONDS: '10,100', OUTBOUND_ALLOW: '127.0.0.1' },
  })
})
beforeEach(async () => {
  ctx = await harness.projectCtx()
})
afterEach(async () => {
  await resetClock(harness.admin)
  await harness.admin`truncate receivers, deliveries, destinations`
})
afterAll(() => harness.close())

const FIELDS: WebhookFields = {
  url: 'https://example.com/hook',
  events: ['*'],
  description: null,
  subject: null,
  agentId: null,
  sessionId: null,
  isOrdered: false,
}
const webhook = async (fields: Partial<WebhookFields> = {}, of = ctx) => (await createWebhook(of, { ...FIELDS, ...fields })).webhook

/** Publishes events, each of its own subject unless told otherwise, and relays them. */
async function happen(events: { type?: EventType; subject?: string; data?: Record<string, unknown> }[], of = ctx): Promise<void> {
  const { projectId } = of.actor
  await transaction(of.db, projectId, (tx) =>
    outbox.publish(
      tx,
      projectId,
      events.map(({ type = 'subtask.completed', subject = of.newId(), data = {} }) => ({
        type,
        subject: { kind: 'subtask', id: subject },
        data,
        actor: { kind: 'system', id: 'test' },
      })),
    ),
  )
  await drainOutbox(harness.deps)
}

const answer = (status: number, more: Partial<SendResult> = {}): SendResult => ({
  outcome: status === 0 ? 'failed' : status < 300 ? 'delivered' : status === 410 ? 'gone' : 'failed',
  status: status === 0 ? null : status,
  latencyMs: 5,
  error: status >= 200 && status < 300 ? null : `answered ${status}`,
  response: null,
  retryAfterSeconds: null,
  ...more,
})

/** A channel that remembers what it was given, and answers as told. */
function channelThat(send: (delivery: OutboundDelivery) => SendResult) {
  const sent: OutboundDelivery[] = []
  const channel: Channel = {
    send: async (delivery) => {
      sent.push(delivery)
      return send(delivery)
    },
  }
  const channels: Channels = new Map([
    ['webhook', channel],
    ['callback', channel],
  ])
  return { sent, channels }
}

const claim = async (limit = 100): Promise<HeldDelivery[]> => (await claimDeliveries(harness.deps, limit))?.held ?? []
const never = new AbortController().signal

async function sendAll(channels: Channels, limit = 100): Promise<(string | null)[]> {
  const held = await claim(limit)
  return await Promise.all(held.map((each) => sendDelivery(harness.deps, channels, each, never)))
}

describe('a webhook', () => {
  it('gets the events of its project that it asks for, from then on', async () => {
    await happen([{}])
    const all = await webhook()
    const some = await webhook({ events: ['subtask.failed', 'task.*'] })
    const other = await harness.projectCtx()
    await webhook({}, other)
    await happen([{}, { type: 'subtask.failed' }, { type: 'task.created' }])
    const typesOf = async (id: string) => (await listDeliveries(ctx, id, { limit: 10 })).items.map(({ type }) => type).sort()
    expect(await typesOf(all.id)).toEqual(['subtask.completed', 'subtask.failed', 'task.created'])
    expect(await typesOf(some.id)).toEqual(['subtask.failed', 'task.created'])
    expect((await harness.admin`select from deliveries where project_id = ${other.actor.projectId}`).count).toBe(0)
    await expect(listDeliveries(other, all.id, { limit: 10 })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('gets only the events of its subject, agent and session, where it names them', async () => {
    const subject = ctx.newId()
    const { id: bySubject } = await webhook({ subject })
    const { id: byAgent } = await webhook({ agentId: 'a' })
    const { id: bySession } = await webhook({ sessionId: 's' })
    await happen([
      { subject },
      { data: { agent_id: 'a', n: 1 } },
      { data: { agent_id: 'b', parent_session: 's', n: 2 } },
      { type: 'task.assigned', data: { subagent_session: 's', n: 3 } },
      { data: { parent_session: 't' } },
    ])
    const counts = await Promise.all([bySubject, byAgent, bySession].map(async (id) => (await listDeliveries(ctx, id, { limit: 10 })).items.length))
    expect(counts).toEqual([1, 1, 2])
  })

  it('is refused with a URL that deliveries may not reach, and named by it', async () => {
    for (const url of ['http://127.0.0.1/', 'http://10.0.0.1/', 'ftp://example.com/', 'https://user:pw@example.com/', 'nothing']) {
      await expect(webhook({ url })).rejects.toMatchObject({ code: 'validation_failed', details: { errors: [{ pointer: '/url', value: url }] } })
    }
  })

  it('is one of at most a hundred, also when many are created at once', async () => {
    await Promise.all(Array.from({ length: 98 }, () => webhook()))
    const outcomes = await Promise.allSettled(Array.from({ length: 16 }, () => webhook()))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    expect((await listWebhooks(ctx, { limit: 200 })).items).toHaveLength(100)
  })

  it('keeps its secret sealed in the database, and opens it to sign', async () => {
    const { webhook: made, secret } = await createWebhook(ctx, FIELDS)
    const [row] = await harness.admin`select to_jsonb(r)::text as text from receivers r where id = ${made.id}`
    expect(row?.text).not.toContain(secret)
    await happen([{}])
    const { sent, channels } = channelThat(() => answer(204))
    await sendAll(channels)
    expect(sent[0]?.receiver.secrets).toEqual([secret])
  })

  it('is signed by both secrets during the overlap of a rotation, and then by the new one', async () => {
    const { webhook: made, secret: first } = await createWebhook(ctx, FIELDS)
    const { secret: second } = await rotateWebhookSecret(ctx, made.id, 3_600)
    const { sent, channels } = channelThat(() => answer(204))
    await happen([{}])
    await sendAll(channels)
    await advanceClock(harness.admin, '2 hours')
    await happen([{}])
    await sendAll(channels)
    expect(sent.map(({ receiver }) => receiver.secrets)).toEqual([[second, first], [second]])
  })
})

describe('a delivery', () => {
  it('is the event as the log has it, and is stored with what the receiver answered', async () => {
    const { id } = await webhook()
    await happen([{ data: { text: 'ü "quoted" \\ \u2028', n: 1.5 } }])
    const [event] = await readEvents(ctx, { afterSeq: 0, limit: 10 })
    const { sent, channels } = channelThat(() => answer(200, { response: 'ok' }))
    expect(await sendAll(channels)).toEqual(['delivered'])
    const { type, at, projectId, ...rest } = event as NonNullable<typeof event>
    expect(JSON.parse(sent[0]?.body as string)).toEqual({ type, timestamp: at.toISOString(), project_id: projectId, ...rest })
    const [listed] = (await listDeliveries(ctx, id, { limit: 10 })).items
    expect(listed).toMatchObject({ id: sent[0]?.id, status: 'delivered', attempts: [{ status: 200, latency_ms: 5, error: null, response: 'ok' }] })
  })

  it('is repeated by the ladder with the same id and body, and given up after the last attempt', async () => {
    const { id } = await webhook()
    await happen([{}])
    const { sent, channels } = channelThat(() => answer(500))
    expect(await sendAll(channels)).toEqual(['pending'])
    expect(await claim()).toEqual([])
    await advanceClock(harness.admin, '7 seconds')
    expect(await claim()).toEqual([])
    await advanceClock(harness.admin, '4 seconds')
    expect(await sendAll(channels)).toEqual(['pending'])
    await advanceClock(harness.admin, '101 seconds')
    expect(await sendAll(channels)).toEqual(['failed'])
    expect(new Set(sent.map(({ id: sentId, body }) => `${sentId} ${body}`)).size).toBe(1)
    const [delivery] = (await listDeliveries(ctx, id, { limit: 10 })).items
    expect(delivery?.attempts.map(({ status }) => status)).toEqual([500, 500, 500])
  })

  it('is given up when its next attempt would come after 72 hours', async () => {
    await webhook()
    await happen([{}])
    await advanceClock(harness.admin, '71 hours 59 minutes 55 seconds')
    expect(await sendAll(channelThat(() => answer(500)).channels)).toEqual(['failed'])
  })

  it('waits as long as the receiver asks, and so do the others of that receiver', async () => {
    await webhook()
    await happen([{}, {}])
    const { channels } = channelThat(() => answer(429, { retryAfterSeconds: 60 }))
    expect(await sendAll(channels, 1)).toEqual(['pending'])
    expect(await claim()).toEqual([])
    await advanceClock(harness.admin, '59 seconds')
    expect(await claim()).toEqual([])
    await advanceClock(harness.admin, '2 seconds')
    expect(await claim()).toHaveLength(2)
  })

  it('can be sent again, byte for byte with the same id, also after it was delivered', async () => {
    const { id } = await webhook()
    await happen([{}])
    const { sent, channels } = channelThat(() => answer(204))
    await sendAll(channels)
    const [{ id: deliveryId } = { id: '' }] = (await listDeliveries(ctx, id, { limit: 10 })).items
    await redeliver(ctx, null, deliveryId)
    const [held] = await claim()
    await expect(redeliver(ctx, null, deliveryId)).rejects.toMatchObject({ code: 'request_in_progress' })
    expect(await sendDelivery(harness.deps, channels, held as HeldDelivery, never)).toBe('delivered')
    expect(sent[1]).toEqual(sent[0])
    expect((await getDelivery(ctx, id, deliveryId)).attempts).toHaveLength(2)
  })

  it('of a worker that died is sent again by another, and the first one stores nothing', async () => {
    const { id } = await webhook()
    await happen([{}])
    const [lost] = await claim()
    expect(await claim()).toEqual([])
    await advanceClock(harness.admin, '26 seconds')
    const [taken] = await claim()
    expect(taken).toMatchObject({ id: lost?.id, body: lost?.body, tries: 2 })
    const { channels } = channelThat(() => answer(204))
    expect(await sendDelivery(harness.deps, channels, lost as HeldDelivery, never)).toBeNull()
    expect(await sendDelivery(harness.deps, channels, taken as HeldDelivery, never)).toBe('delivered')
    expect((await listDeliveries(ctx, id, { limit: 10 })).items[0]?.attempts).toHaveLength(1)
  })

  it('that is cut off because the worker stops is given back, and that is no attempt', async () => {
    await webhook()
    await happen([{}])
    const stopping = new AbortController()
    const { channels } = channelThat(() => {
      stopping.abort()
      return answer(0)
    })
    const [held] = await claim()
    expect(await sendDelivery(harness.deps, channels, held as HeldDelivery, stopping.signal)).toBe('pending')
    expect(await claim()).toMatchObject([{ id: held?.id, rung: 0, tries: 2 }])
  })

  it('goes to the webhook as it is now: after a change of its URL to that, after a deletion nowhere', async () => {
    const { id } = await webhook()
    await happen([{}, {}])
    await updateWebhook(ctx, id, { url: 'https://example.org/new' })
    const { sent, channels } = channelThat(() => answer(204))
    await sendAll(channels, 1)
    expect(sent[0]?.receiver.url).toBe('https://example.org/new')
    await deleteWebhook(ctx, id)
    expect(await claim()).toEqual([])
    const log = (await listDeliveries(ctx, null, { receiverId: id, limit: 10 })).items
    expect(log.map(({ status, endedReason }) => `${status} ${endedReason}`).sort()).toEqual(['delivered null', 'failed The webhook was deleted.'])
    await expect(getWebhook(ctx, id)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('keeps the order of its subject where the webhook asks for it, and no other waits', async () => {
    await webhook({ isOrdered: true })
    const [one, other] = [ctx.newId(), ctx.newId()]
    await happen([
      { subject: one, data: { nth: 1 } },
      { subject: one, data: { nth: 2 } },
      { subject: other, data: { nth: 1 } },
    ])
    const order: string[] = []
    let isFirst = true
    const { channels } = channelThat(({ body }) => {
      const { subject, data } = JSON.parse(body)
      if (subject.id === one && isFirst) {
        isFirst = false
        return answer(500)
      }
      order.push(`${subject.id === one ? 'one' : 'other'} ${data.nth}`)
      return answer(204)
    })
    await sendAll(channels)
    expect(await claim()).toEqual([])
    await advanceClock(harness.admin, '11 seconds')
    await sendAll(channels)
    await sendAll(channels)
    expect(order).toEqual(['other 1', 'one 1', 'one 2'])
  })

  it('is not forgotten when the one before it ends while a claim finds it behind that one', async () => {
    await webhook({ isOrdered: true })
    const subject = ctx.newId()
    await happen([1, 2, 3].map((nth) => ({ subject, data: { nth } })))
    const { sent, channels } = channelThat(() => answer(204))
    const [first] = (await claim()) as [HeldDelivery]
    await transaction(harness.deps.dispatchDb, null, async (tx) => {
      expect(await sending.claimDeliveries(tx, { limit: 10, leaseSeconds: 60, perDestination: 20, breakerFailures: 5 })).toEqual([])
      await sendDelivery(harness.deps, channels, first, never)
    })
    while ((await sendAll(channels)).length > 0);
    expect(sent.map(({ body }) => JSON.parse(body).data.nth)).toEqual([1, 2, 3])
  })

  it('is sent in its turn also when the one before it is given up, by whichever version', async () => {
    await webhook({ isOrdered: true })
    const subject = ctx.newId()
    await happen([1, 2].map((nth) => ({ subject, data: { nth } })))
    await claim()
    await harness.admin`update deliveries set status = 'failed', lease_expires_at = null, ended_at = muster_now() where status = 'sending'`
    const { sent, channels } = channelThat(() => answer(204))
    expect(await sendAll(channels)).toEqual(['delivered'])
    expect(sent.map(({ body }) => JSON.parse(body).data.nth)).toEqual([2])
  })
})

describe('a receiver', () => {
  it('that answers 410 is disabled with an event, once, and gets nothing more until it is enabled', async () => {
    const { id } = await webhook()
    await happen([{}, {}])
    expect(await sendAll(channelThat(() => answer(410)).channels)).toEqual(['failed', 'failed'])
    await happen([{}])
    await endUnsendableDeliveries(harness.deps)
    expect(await getWebhook(ctx, id)).toMatchObject({ status: 'disabled', disabledReason: 'It answered 410 Gone.' })
    const disabled = (await readEvents(ctx, { afterSeq: 0, limit: 10 })).filter(({ type }) => type === 'webhook.disabled')
    expect(disabled).toMatchObject([{ subject: { kind: 'webhook', id }, data: { webhook_id: id, url: FIELDS.url } }])
    expect((await listDeliveries(ctx, id, { limit: 10 })).items.map(({ status }) => status)).toEqual(['failed', 'failed'])
    await expect(testWebhook(ctx, id)).rejects.toMatchObject({ code: 'invalid_transition' })
    await updateWebhook(ctx, id, { enabled: true })
    await testWebhook(ctx, id)
    const { sent, channels } = channelThat(() => answer(204))
    await sendAll(channels)
    expect(sent).toMatchObject([{ type: 'webhook.test' }])
  })

  it('that fails five times in a row is left alone, and then tried with one delivery', async () => {
    await webhook()
    await happen(Array.from({ length: 8 }, () => ({})))
    const failing = channelThat(() => answer(500)).channels
    expect(await sendAll(failing, 10)).toHaveLength(5)
    expect(await claim()).toEqual([])
    await advanceClock(harness.admin, '11 seconds')
    expect(await sendAll(failing)).toEqual(['pending'])
    await advanceClock(harness.admin, '11 seconds')
    expect(await claim()).toEqual([])
    await advanceClock(harness.admin, '11 seconds')
    expect(await sendAll(channelThat(() => answer(204)).channels)).toEqual(['delivered'])
    expect((await claim()).length).toBeGreaterThan(1)
  })

  it('that is slow delays no other, however many deliveries it has', async () => {
    await webhook({ url: 'https://slow.example.com/' })
    await happen(Array.from({ length: 100 }, () => ({})))
    const slow = await claim(1_000)
    expect(slow).toHaveLength(20)
    const { id } = await webhook({ url: 'https://fast.example.com/', events: ['task.created'] })
    await happen([{ type: 'task.created' }])
    expect(await claim(1_000)).toMatchObject([{ receiverId: id }])
  })

  it('that are slow, eight of them, leave places for another', async () => {
    for (let nth = 0; nth < 8; nth += 1) await webhook({ url: `https://slow-${nth}.example.com/`, events: ['subtask.completed'] })
    await happen(Array.from({ length: 50 }, () => ({})))
    const places = 50
    let held = 0
    for (let taken = places; taken > 0; held += taken) taken = (await claim(places - held)).length
    expect(held).toBeGreaterThan(40)
    expect(held).toBeLessThan(places)
    const { id } = await webhook({ url: 'https://fast.example.com/', events: ['task.created'] })
    await happen([{ type: 'task.created' }])
    expect(await claim(places - held)).toMatchObject([{ receiverId: id }])
  })

  it('is given its deliveries by one claimer at a time, so that all of them together keep within its limit', async () => {
    await webhook()
    await happen(Array.from({ length: 100 }, () => ({})))
    const claimed = await Promise.all(Array.from({ length: 8 }, () => claim(10)))
    expect(claimed.flat().length).toBeLessThanOrEqual(20)
  })

  it('that was away for longer than 72 hours gets no delivery that is older', async () => {
    const { id } = await webhook()
    await happen(Array.from({ length: 7 }, () => ({})))
    await sendAll(channelThat(() => answer(0)).channels, 10)
    await harness.admin`update destinations set paused_until = now() + interval '80 hours'`
    await advanceClock(harness.admin, '73 hours')
    await endUnsendableDeliveries(harness.deps)
    expect((await listDeliveries(ctx, id, { limit: 10 })).items.map(({ status }) => status)).toEqual(Array.from({ length: 7 }, () => 'failed'))
  })
})

describe('a callback', () => {
  const secret = `whsec_${randomBytes(24).toString('base64')}`

  it('gets the end of its subtask, and nothing else', async () => {
    const spawn = (callback: { url: string; secret?: string } | undefined) => createSubtask(ctx, { task: 'x', runner: 'external', callback })
    const subtask = await spawn({ url: 'https://example.com/done', secret })
    const unsigned = await spawn({ url: 'https://example.com/done' })
    await spawn(undefined)
    await happen([{ type: 'subtask.started', subject: subtask.id }, { subject: subtask.id }, { type: 'subtask.failed', subject: unsigned.id }])
    const { sent, channels } = channelThat(() => answer(204))
    await sendAll(channels)
    expect(sent.map(({ type, receiver }) => [type, receiver.secrets]).sort()).toEqual([
      ['subtask.completed', [secret]],
      ['subtask.failed', []],
    ])
  })

  it('is refused with its subtask where its URL may not be reached', async () => {
    const spawning = createSubtask(ctx, { task: 'x', runner: 'external', callback: { url: 'http://169.254.169.254/' } })
    await expect(spawning).rejects.toMatchObject({ code: 'validation_failed', details: { errors: [{ pointer: '/callback/url' }] } })
    expect((await harness.admin`select from subtasks where project_id = ${ctx.actor.projectId}`).count).toBe(0)
  })

  it('of a schedule gets the end of each of its runs, until it is taken away', async () => {
    const schedule = await createSchedule(ctx, {
      task: 'x',
      phrase: { kind: 'every', text: '1 day' },
      runner: 'external',
      callback: { url: 'https://example.com/runs', secret },
    })
    const run = async () => (await triggerSchedule(ctx, schedule.id, () => {})).id
    const [first, second] = [await run(), await run()]
    const { id: other } = await createSubtask(ctx, { task: 'x', runner: 'external' })
    await happen([{ subject: first }, { type: 'subtask.failed', subject: second }, { type: 'subtask.started', subject: second }, { subject: other }])
    const { sent, channels } = channelThat(() => answer(204))
    await sendAll(channels)
    expect(sent.map(({ type, receiver }) => [type, receiver.url, receiver.secrets]).sort()).toEqual([
      ['subtask.completed', 'https://example.com/runs', [secret]],
      ['subtask.failed', 'https://example.com/runs', [secret]],
    ])
    await expect(reviseSchedule(ctx, schedule.id, { callback: { url: 'http://10.0.0.1/' } })).rejects.toMatchObject({ code: 'validation_failed' })
    await reviseSchedule(ctx, schedule.id, { callback: { url: 'https://example.com/moved' } })
    await happen([{ subject: await run() }])
    await sendAll(channels)
    expect(sent.at(-1)?.receiver).toMatchObject({ url: 'https://example.com/moved', secrets: [] })
    await reviseSchedule(ctx, schedule.id, { callback: { url: 'https://example.com/moved', secret } })
    await reviseSchedule(ctx, schedule.id, (now) => ({ callback: { ...now.callback, url: 'https://example.com/again' } }))
    await happen([{ subject: await run() }])
    await sendAll(channels)
    expect(sent.at(-1)?.receiver).toMatchObject({ url: 'https://example.com/again', secrets: [secret] })
    await happen([{ subject: first }])
    await reviseSchedule(ctx, schedule.id, { callback: null })
    await happen([{ subject: second }])
    expect(await claim()).toEqual([])
    const [given] = (await listDeliveries(ctx, null, { receiverKind: 'callback', status: 'failed', limit: 10 })).items
    expect(given?.endedReason).toBe('The callback was replaced or removed.')
  })

  it('of the definition of a sub-agent gets the end of each run that says nothing else; its secret is stored and shown nowhere in plain text', async () => {
    const put = (callback: string) => putSubagent(ctx, 'reporter', `---\ndescription: d\ntools: Read\n${callback}---\nx`)
    const role = { task: 'x', runner: 'external', subagent: 'reporter' }
    const [own, ofRole] = ['https://example.com/own', 'https://example.com/role']
    await put(`callback: {url: ${ofRole}, secret: ${secret}}\n`)
    const phrase = { kind: 'every', text: '1 day' } as const
    await createSchedule(ctx, { ...role, phrase })
    await createSchedule(ctx, { ...role, phrase, callback: { url: own } })
    for (const callback of [undefined, null, { url: own }]) await createSubtask(ctx, { ...role, callback })
    await advanceClock(harness.admin, '25 hours')
    await fireSchedules(harness.deps, { except: [], signal: never })
    const { items } = await listSubtasks(ctx, { limit: 10 })
    expect(items).toHaveLength(5)
    await happen(items.map(({ id }) => ({ subject: id })))
    const { sent, channels } = channelThat(() => answer(204))
    await sendAll(channels)
    const received = () => sent.splice(0).map(({ receiver }) => [receiver.url, receiver.secrets])
    expect(received().sort()).toEqual([
      [own, []],
      [own, []],
      [ofRole, [secret]],
      [ofRole, [secret]],
    ])

    // As an export and an import do.
    const shown = renderSubagentMarkdown(await getSubagent(ctx, 'reporter'))
    const stored = await harness.admin`select to_jsonb(r)::text as row from receivers r union all select to_jsonb(v)::text from subagent_versions v`
    for (const text of [shown, JSON.stringify(stored)]) expect(text).not.toContain(secret)
    const next = async () => {
      await happen([{ subject: (await createSubtask(ctx, { ...role, agentId: ctx.newId() })).id }])
      await sendAll(channels)
      return received()
    }
    await putSubagent(ctx, 'reporter', `${shown}More.`)
    expect(await next()).toEqual([[ofRole, [secret]]])
    await put(`callback: {url: ${ofRole}, secret: null}\n`)
    expect(await next()).toEqual([[ofRole, []]])
    await put('callback: {url: https://example.com/moved}\n')
    expect(await next()).toEqual([['https://example.com/moved', []]])
    await put('')
    expect(await next()).toEqual([])
    await expect(put('callback: {url: "http://10.0.0.1/"}\n')).rejects.toMatchObject({ code: 'validation_failed' })
  })

  it('shares its host with others: a slow one holds up no webhook', async () => {
    for (let nth = 0; nth < 30; nth += 1) {
      const { id } = await createSubtask(ctx, { task: 'x', agentId: `a${nth}`, runner: 'external', callback: { url: `https://slow.example.com/${nth}` } })
      await happen([{ subject: id }])
    }
    expect(await claim(1_000)).toHaveLength(20)
  })
})

describe('a channel for people', () => {
  const TELEGRAM = { bot_token: 'a-token', chat_id: '7', on: ['completed' as const, 'question' as const] }
  const set = (settings: object) => updateProject(ctx, ctx.actor.projectId, { settings })
  const listed = async () =>
    await harness.admin<{ type: string }[]>`select type from deliveries where project_id = ${ctx.actor.projectId} and kind = 'telegram' order by id`

  it('gets what its project asks for, but nothing of a subtask with notify false', async () => {
    await set({ telegram: TELEGRAM })
    await happen([{ data: { n: 1 } }, { data: { notify: false } }, { type: 'subtask.failed' }, { type: 'question.asked' }, { type: 'task.completed' }])
    expect((await listed()).map(({ type }) => type).sort()).toEqual(['question.asked', 'subtask.completed', 'task.completed'])
    await set({})
    await happen([{}])
    expect(await listed()).toHaveLength(3)
    const given = (await listDeliveries(ctx, null, { receiverKind: 'telegram', limit: 10 })).items
    expect(new Set(given.map(({ status, endedReason }) => `${status}: ${endedReason}`))).toEqual(
      new Set(['failed: The channel was removed from the settings of the project.']),
    )
    await expect(redeliver(ctx, null, given[0]?.id ?? '')).rejects.toMatchObject({ code: 'invalid_transition' })
  })

  it('gets the result of a reminder: a schedule without a parent session, whose results are in no inbox and can be read where none is told', async () => {
    await set({ telegram: { ...TELEGRAM, on: ['completed', 'failed'] } })
    const remind = async (notify: boolean, result: string) => {
      const schedule = await createSchedule(ctx, { task: 'Remind me', phrase: { kind: 'when', text: 'in 1 hour' }, runner: 'external', notify })
      await triggerSchedule(ctx, schedule.id, () => {})
      const claimed = await claimSubtask(ctx, { runner: 'external', workerId: 'w', leaseSeconds: 60 })
      await completeLease(ctx, claimed?.subtask.id as string, { leaseToken: claimed?.lease.token as string, result })
      return claimed?.subtask.id as string
    }
    await remind(true, 'Call Ann.')
    const silent = await remind(false, 'Be silent.')
    await drainOutbox(harness.deps)
    expect((await harness.admin`select from inbox where project_id = ${ctx.actor.projectId}`).count).toBe(0)
    expect(await getSubtask(ctx, silent)).toMatchObject({ status: 'completed', result: 'Be silent.' })
    const { sent, channels } = channelThat(() => answer(200))
    await sendAll(new Map([['telegram', channels.get('webhook') as Channel]]))
    expect(sent.map(({ message }) => message?.text)).toEqual(['Result: Call Ann.'])
    expect(await claim()).toEqual([])
  })

  it('keeps its token where a change does not give it, and shows it nowhere', async () => {
    const first = await set({ telegram: TELEGRAM })
    expect(first.settings.telegram).toEqual({ chat_id: '7', on: TELEGRAM.on })
    await set({ telegram: { chat_id: '8', on: ['failed'] } })
    await happen([{ type: 'subtask.failed' }])
    const [held] = await claim()
    expect(held).toMatchObject({ kind: 'telegram', options: { chat_id: '8' } })
    const sent: OutboundDelivery[] = []
    const channel: Channel = {
      send: async (delivery) => {
        sent.push(delivery)
        return answer(200)
      },
    }
    await sendDelivery(harness.deps, new Map([['telegram', channel]]), held as HeldDelivery, never)
    expect(sent[0]?.receiver.secrets).toEqual(['a-token'])
    const [row] =
      await harness.admin`select (to_jsonb(p)::text || coalesce((select string_agg(to_jsonb(r)::text, '') from receivers r), '')) as text from projects p where id = ${ctx.actor.projectId}`
    expect(row?.text).not.toContain('a-token')
  })

  it('is refused without its token, or without a server for its mail, and changes nothing', async () => {
    await expect(set({ telegram: { chat_id: '7', on: ['failed'] } })).rejects.toMatchObject({
      details: { errors: [{ pointer: '/settings/telegram/bot_token' }] },
    })
    await expect(set({ email: { to: ['a@example.com'], on: ['failed'] } })).rejects.toMatchObject({ details: { errors: [{ pointer: '/settings/email' }] } })
    await expect(set({ slack: { webhook_url: 'http://10.0.0.1/', on: ['failed'] } })).rejects.toMatchObject({
      details: { errors: [{ pointer: '/settings/slack/webhook_url' }] },
    })
    expect((await harness.admin`select from receivers`).count).toBe(0)
  })

  it('sends nothing in its quiet hours, and what came then when they are over', async () => {
    const [row] = await harness.admin<{ from: string; to: string }[]>`
      select to_char(now() at time zone 'UTC' - interval '1 hour', 'HH24:MI') as from, to_char(now() at time zone 'UTC' + interval '1 hour', 'HH24:MI') as to`
    await set({ telegram: { ...TELEGRAM, quiet_hours: row } })
    await happen([{}, {}])
    const { sent, channels } = channelThat(() => answer(200))
    const telegram: Channels = new Map([['telegram', channels.get('webhook') as Channel]])
    expect(await sendAll(telegram)).toEqual(['pending'])
    expect(await sendAll(telegram)).toEqual(['pending'])
    expect(await claim()).toEqual([])
    await advanceClock(harness.admin, '61 minutes')
    expect(await sendAll(telegram)).toEqual(['delivered'])
    expect(sent.map(({ message }) => message?.heading)).toEqual(['📬 2 messages'])
    expect(await claim()).toEqual([])
  })

  describe('with a digest', () => {
    const collecting = (send: (delivery: OutboundDelivery) => SendResult) => {
      const { sent, channels } = channelThat(send)
      return { sent, channels: new Map([['telegram', channels.get('webhook') as Channel]]) as Channels }
    }
    /** Claims and sends until nothing is due. */
    const sendDue = async (channels: Channels) => {
      for (let held = await claim(); held.length > 0; held = await claim()) {
        for (const each of held) await sendDelivery(harness.deps, channels, each, never)
      }
    }
    const statuses = async () =>
      (await harness.admin<{ status: string }[]>`select status from deliveries where project_id = ${ctx.actor.projectId} order by id`).map(
        ({ status }) => status,
      )
    beforeEach(() => set({ telegram: { ...TELEGRAM, on: ['completed', 'failed', 'question'], digest_minutes: 10 } }))

    it('makes one message of what comes within its minutes, and sends questions at once', async () => {
      const { sent, channels } = collecting(() => answer(200))
      await happen([{ data: { task: 'one', result: 'r1' } }, { type: 'question.asked', data: { prompt: 'Which?' } }])
      await sendDue(channels)
      expect(sent.map(({ message }) => message?.text)).toEqual(['Which?'])
      await advanceClock(harness.admin, '9 minutes')
      await happen([{ type: 'subtask.failed', data: { task: 'two', error: 'e2' } }])
      await sendDue(channels)
      expect(sent).toHaveLength(1)
      await advanceClock(harness.admin, '61 seconds')
      await sendDue(channels)
      expect(sent[1]?.message).toMatchObject({
        heading: '📬 2 messages',
        text: '✅ Task completed: "one"\nResult: r1\n\n❌ Task failed: "two"\nError: e2',
      })
      expect(await statuses()).toEqual(['delivered', 'delivered', 'delivered'])
    })

    it('names each in messages of a bounded length, however many and long they are', async () => {
      const { sent, channels } = collecting(() => answer(200))
      await happen(Array.from({ length: 40 }, (_, nth) => ({ data: { task: `task ${nth} ${'😀'.repeat(200)}`, result: 'x'.repeat(4_000) } })))
      await sendDue(channels)
      await advanceClock(harness.admin, '11 minutes')
      await sendDue(channels)
      expect(sent.map(({ message }) => message?.heading)).toEqual(['📬 15 messages', '📬 15 messages', '📬 10 messages'])
      const text = sent.map(({ message }) => message?.text).join('\n')
      for (let nth = 0; nth < 40; nth += 1) expect(text).toContain(`"task ${nth} `)
      expect(Math.max(...sent.map(({ message }) => message?.text.length ?? 0))).toBeLessThanOrEqual(2_800)
    })

    it('of a worker that is killed is the same under the same id when it is sent again, also where more wait than go into one message', async () => {
      await happen(Array.from({ length: DIGEST_MESSAGES_MAX + 5 }, (_, nth) => ({ data: { task: `task ${nth}` } })))
      await sendDue(collecting(() => answer(200)).channels)
      await advanceClock(harness.admin, '11 minutes')
      const [lost] = await claim()
      const dead = collecting(() => {
        throw new Error('killed')
      })
      await expect(sendDelivery(harness.deps, dead.channels, lost as HeldDelivery, never)).rejects.toThrow('killed')
      await advanceClock(harness.admin, '26 seconds')
      const { sent, channels } = collecting(() => answer(200))
      await sendDue(channels)
      expect(sent.map(({ id, message }) => [id, message])).toEqual([
        ...dead.sent.map(({ id, message }) => [id, message]),
        [expect.anything(), expect.anything()],
      ])
      expect(sent[1]?.message?.heading).toBe('📬 5 messages')
    })

    it('of a worker that is killed while it sends is sent again by another, the same under the same id, and none is lost where sending fails', async () => {
      await happen([{ data: { task: 'one' } }, { data: { task: 'two' } }])
      await sendDue(collecting(() => answer(200)).channels)
      await advanceClock(harness.admin, '11 minutes')
      const [lost] = await claim()
      const dead = collecting(() => {
        throw new Error('killed')
      })
      await expect(sendDelivery(harness.deps, dead.channels, lost as HeldDelivery, never)).rejects.toThrow('killed')
      expect(await statuses()).toEqual(['sending', 'sending'])
      await advanceClock(harness.admin, '26 seconds')
      const refused = collecting(() => answer(500))
      await sendDue(refused.channels)
      expect(refused.sent.map(({ id, message }) => [id, message])).toEqual(dead.sent.map(({ id, message }) => [id, message]))
      expect(refused.sent).toHaveLength(1)
      expect(await statuses()).toEqual(['pending', 'pending'])
      await advanceClock(harness.admin, '11 seconds')
      const { sent, channels } = collecting(() => answer(200))
      await sendDue(channels)
      expect(sent.map(({ message }) => message?.heading)).toEqual(['📬 2 messages'])
      expect(await statuses()).toEqual(['delivered', 'delivered'])
    })
  })

  it('that hangs holds up no channel of another project, and each goes by the addresses that its own project allows', async () => {
    const other = await harness.projectCtx()
    await set({ telegram: { ...TELEGRAM, digest_minutes: 10 } })
    await updateProject(other, other.actor.projectId, {
      settings: { outbound_allow: ['127.0.0.1'], telegram: { ...TELEGRAM, bot_token: 'another', digest_minutes: 10 } },
    })
    await happen([{}, {}])
    await happen([{}, {}], other)
    for (const held of await claim()) await sendDelivery(harness.deps, new Map(), held, never)
    await advanceClock(harness.admin, '11 minutes')
    const held = await claim()
    expect(held.map(({ projectId, outboundAllow }) => [projectId, outboundAllow])).toEqual(
      expect.arrayContaining([
        [ctx.actor.projectId, []],
        [other.actor.projectId, ['127.0.0.1']],
      ]),
    )
    const stopping = new AbortController()
    const hanging: Channel = {
      send: async ({ receiver }, signal) => {
        if (receiver.outboundAllow.length === 0) await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return answer(receiver.outboundAllow.length === 0 ? 0 : 200)
      },
    }
    const sending = held.map((each) => sendDelivery(harness.deps, new Map([['telegram', hanging]]), each, stopping.signal))
    expect(await Promise.race(sending)).toBe('delivered')
    stopping.abort()
    expect((await Promise.all(sending)).sort()).toEqual(['delivered', 'pending'])
  })

  it.each(['null', '"127.0.0.1"', '{}'])('of a project with %s in place of its list of addresses is claimed, and may reach no internal ones', async (value) => {
    await set({ telegram: TELEGRAM })
    await harness.admin`update projects set settings = settings || jsonb_build_object('outbound_allow', ${value}::text::jsonb) where id = ${ctx.actor.projectId}`
    await happen([{}])
    expect((await claim()).map(({ outboundAllow }) => outboundAllow)).toEqual([[]])
  })

  it('that limits its rate is waited for, however often; its messages keep their order, and are given up after 72 hours', async () => {
    await set({ telegram: TELEGRAM })
    await happen([{ data: { task: 'one' } }, { data: { task: 'two' } }])
    let seconds = 60
    const { sent, channels } = channelThat(() => answer(429, { outcome: 'limited', retryAfterSeconds: seconds }))
    const telegram: Channels = new Map([['telegram', channels.get('webhook') as Channel]])
    for (let nth = 0; nth < BREAKER.failures + 1; nth += 1) {
      expect(await sendAll(telegram)).toEqual(['pending'])
      await advanceClock(harness.admin, '59 seconds')
      expect(await claim()).toEqual([])
      await advanceClock(harness.admin, '2 seconds')
    }
    expect(new Set(sent.map(({ message }) => message?.heading))).toEqual(new Set(['✅ Task completed: "one"']))
    // Longer than its destination is paused: another message may find out whether that is over.
    seconds = 7_200
    expect(await sendAll(telegram)).toEqual(['pending'])
    await advanceClock(harness.admin, '3601 seconds')
    expect(await sendAll(telegram)).toEqual(['pending'])
    expect(sent.at(-1)?.message?.heading).toBe('✅ Task completed: "two"')
    await advanceClock(harness.admin, '72 hours')
    expect([...(await sendAll(telegram)), ...(await sendAll(telegram))]).toEqual(['failed'])
    await advanceClock(harness.admin, '2 hours')
    expect(await sendAll(telegram)).toEqual(['failed'])
  })

  it('is sent one message at a time', async () => {
    await set({ telegram: TELEGRAM })
    await happen([{}, {}, {}])
    expect(await claim()).toHaveLength(1)
    expect(await claim()).toEqual([])
  })
})

describe('the rotation of keys', () => {
  const withKeys = (SECRETS_KEYS: string) => ({ ...harness.deps, settings: { ...harness.deps.settings, SECRETS_KEYS } })

  it('seals all secrets with the first key, so that the others can go, and may be repeated', async () => {
    const { secret } = await createWebhook(ctx, FIELDS)
    const other = await harness.projectCtx()
    await rotateWebhookSecret(other, (await webhook({}, other)).id, 3_600)
    const next = `two:${randomBytes(32).toString('base64')}`
    expect(await sealAllAgain(withKeys(`${next},${harness.deps.settings.SECRETS_KEYS}`))).toBe(2)
    expect(await sealAllAgain(withKeys(next))).toBe(0)
    await happen([{}])
    const { sent, channels } = channelThat(() => answer(204))
    const [held] = await claim()
    expect(await sendDelivery(withKeys(next), channels, held as HeldDelivery, never)).toBe('delivered')
    expect(sent[0]?.receiver.secrets).toEqual([secret])
  })

  it('stops at a secret whose key is missing, and changes nothing of it', async () => {
    await webhook()
    const [before] = await harness.admin`select secret from receivers`
    await expect(sealAllAgain(withKeys(`two:${randomBytes(32).toString('base64')}`))).rejects.toMatchObject({ code: 'secrets_not_configured' })
    expect(await harness.admin`select secret from receivers`).toEqual([before])
  })
})

describe('without a key for secrets', () => {
  it('no webhook is stored, and the refusal says what to set', async () => {
    const bare = { ...ctx, settings: { ...ctx.settings, SECRETS_KEYS: undefined } }
    await expect(createWebhook(bare, FIELDS)).rejects.toMatchObject({ code: 'secrets_not_configured', message: expect.stringContaining('SECRETS_KEYS') })
  })

  it('that sealed its secret, a delivery waits with the reason in its log', async () => {
    const { id } = await webhook()
    await happen([{}])
    const { sent, channels } = channelThat(() => answer(204))
    const [held] = await claim()
    const others = { ...harness.deps, settings: { ...harness.deps.settings, SECRETS_KEYS: `other:${randomBytes(32).toString('base64')}` } }
    expect(await sendDelivery(others, channels, held as HeldDelivery, never)).toBe('pending')
    expect(sent).toEqual([])
    expect((await listDeliveries(ctx, id, { limit: 10 })).items[0]?.attempts[0]?.error).toContain('SECRETS_KEYS')
    expect(harness.log.takeErrors()).toHaveLength(1)
  })
})
