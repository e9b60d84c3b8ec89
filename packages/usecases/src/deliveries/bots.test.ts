import { randomBytes } from 'node:crypto'
import type { OutboundDelivery, SendResult } from '@muster/domain'
import { advanceClock, type Harness, publishCompleted, resetClock, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Ctx, claimDeliveries, endUnsendableDeliveries, type HeldDelivery, sendDelivery, updateProject } from '../index.ts'

/*
 * Telegram bots that projects share.
 */
const ONE = '123456:a-token-of-a-bot'
const OTHER = '654321:another-token'
const never = new AbortController().signal
let harness: Harness
/** Two projects. */
let ann: Ctx
let bob: Ctx

beforeAll(async () => {
  harness = await startHarness({ settings: { SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}`, DELIVERY_RETRY_SECONDS: '1,100' } })
})
beforeEach(async () => {
  ann = await harness.projectCtx()
  bob = await harness.projectCtx()
})
afterEach(async () => {
  await resetClock(harness.admin)
  await harness.admin`truncate receivers, deliveries, destinations`
})
afterAll(() => harness.close())

const set = (of: Ctx, telegram: object) =>
  updateProject(of, of.actor.projectId, { settings: { telegram: { chat_id: '7', on: ['completed', 'question'], ...telegram } as never } })

const claim = async (): Promise<HeldDelivery[]> => (await claimDeliveries(harness.deps, 100))?.held ?? []

type Answer = Partial<SendResult> & Pick<SendResult, 'outcome' | 'status'>
const answered = (status: number, more: Partial<SendResult> = {}): Answer => ({ outcome: status < 300 ? 'delivered' : 'failed', status, ...more })
const CHAT_GONE = answered(403, { isOfReceiverAlone: true })

/** Sends what is claimed. Returns the projects whose chats it went to. */
async function send(answer: (delivery: OutboundDelivery) => Answer = () => answered(200)): Promise<string[]> {
  const sent: string[] = []
  for (const held of await claim()) {
    const channel = {
      send: async (delivery: OutboundDelivery): Promise<SendResult> => {
        sent.push(held.projectId)
        return { latencyMs: 1, error: null, response: null, retryAfterSeconds: null, ...answer(delivery) }
      },
    }
    await sendDelivery(harness.deps, new Map([['telegram', channel]]), held, never)
  }
  return sent
}

/** Sends until nothing is due. */
async function sendAll(answer?: (delivery: OutboundDelivery) => Answer): Promise<string[]> {
  const sent: string[] = []
  let none = 0
  while (none < 3) {
    const now = await send(answer)
    none = now.length === 0 ? none + 1 : 0
    sent.push(...now)
  }
  return sent
}

const open = async (of: Ctx) =>
  (await harness.admin`select from deliveries where project_id = ${of.actor.projectId} and status in ('pending', 'sending')`).count
const destinationsOf = async (table: 'receivers' | 'deliveries', of: Ctx) =>
  (await harness.admin<{ id: string }[]>`select distinct destination_id as id from ${harness.admin(table)} where project_id = ${of.actor.projectId}`).map(
    ({ id }) => id,
  )

describe('a bot of two projects', () => {
  beforeEach(async () => {
    await set(ann, { bot_token: ONE })
    await set(bob, { bot_token: ONE, chat_id: '8' })
  })

  it('sends one message at a time, and another bot sends beside it', async () => {
    const third = await harness.projectCtx()
    await set(third, { bot_token: OTHER })
    for (const each of [ann, bob, third]) await publishCompleted(each, 3)
    const held = await claim()
    expect(held.map(({ projectId }) => (projectId === third.actor.projectId ? OTHER : ONE)).sort()).toEqual([ONE, OTHER].sort())
    expect(await claim()).toEqual([])
  })

  it('is one destination, whose id tells nothing of its token', async () => {
    const [one] = await destinationsOf('receivers', ann)
    const [other] = await destinationsOf('receivers', bob)
    expect(one).toBe(other)
    expect(one).toMatch(/^[0-9a-f-]{36}$/)
    const [row] = await harness.admin`select string_agg(to_jsonb(r)::text, '') as text from receivers r`
    expect(row?.text).not.toContain('a-token')
    expect(row?.text).not.toContain(Buffer.from(ONE).toString('hex').slice(0, 12))
  })

  it('sends the few messages of one between the many of the other, which came before', async () => {
    await publishCompleted(ann, 150)
    await publishCompleted(bob, 5)
    let turns = 0
    while ((await open(bob)) > 0) {
      await send()
      turns += 1
    }
    // Each has an even chance at each turn, so more than 100 of them happen once in 10^23.
    expect(turns).toBeLessThan(100)
    expect(await open(ann)).toBeGreaterThan(50)
  })

  it('goes on with the chat of one where that of the other is gone, which is left alone after five failures', async () => {
    await publishCompleted(ann, 20)
    await publishCompleted(bob, 20)
    const sent = await sendAll(({ receiver }) => (receiver.options.chat_id === '7' ? CHAT_GONE : answered(200)))
    expect(await open(bob)).toBe(0)
    expect(sent.filter((each) => each === ann.actor.projectId)).toHaveLength(5)
    expect(await open(ann)).toBe(20)
    // It is tried again, and what waited is sent when it is back.
    await advanceClock(harness.admin, '200 seconds')
    expect(await sendAll()).toHaveLength(20)
    expect((await harness.admin`select from destinations`).count).toBe(0)
  })

  it('tries a chat that was gone at once when the settings name another one', async () => {
    await publishCompleted(ann, 7)
    await sendAll(() => CHAT_GONE)
    await set(ann, { chat_id: '9' })
    expect(await send()).toEqual([ann.actor.projectId])
  })

  it('that Telegram asks to wait sends nothing to either until then', async () => {
    await publishCompleted(ann, 1)
    expect(await send(() => answered(429, { outcome: 'limited', retryAfterSeconds: 60 }))).toEqual([ann.actor.projectId])
    await publishCompleted(ann, 1)
    await publishCompleted(bob, 1)
    await advanceClock(harness.admin, '50 seconds')
    expect(await sendAll()).toEqual([])
    await advanceClock(harness.admin, '11 seconds')
    expect((await sendAll()).sort()).toEqual([ann, ann, bob].map(({ actor }) => actor.projectId).sort())
  })

  it.each([401, 404, 500, null])('that fails five times in a row with %s is left alone for both', async (status) => {
    await publishCompleted(ann, 5)
    await publishCompleted(bob, 5)
    const failed = await sendAll(() => ({ outcome: 'failed', status }))
    expect(failed).toHaveLength(5)
    await advanceClock(harness.admin, '9 seconds')
    expect(await sendAll()).toEqual([])
    await advanceClock(harness.admin, '200 seconds')
    expect(await sendAll()).toHaveLength(10)
  })

  it('sends the messages of the other when one takes its channel away, whose failures are forgotten', async () => {
    await publishCompleted(ann, 6)
    await sendAll(() => CHAT_GONE)
    await publishCompleted(bob, 2)
    await updateProject(ann, ann.actor.projectId, { settings: {} })
    expect((await harness.admin`select from destinations`).count).toBe(0)
    expect(await sendAll()).toEqual([bob.actor.projectId, bob.actor.projectId])
    expect(await open(ann)).toBe(0)
  })

  it('gives up the messages of a chat that was gone for longer than 72 hours', async () => {
    await publishCompleted(ann, 6)
    await sendAll(() => CHAT_GONE)
    await harness.admin`update destinations set paused_until = now() + interval '80 hours'`
    await advanceClock(harness.admin, '73 hours')
    await endUnsendableDeliveries(harness.deps)
    expect(await open(ann)).toBe(0)
  })

  it('collects the messages of one chat alone', async () => {
    await set(ann, { digest_minutes: 1 })
    await set(bob, { chat_id: '8', digest_minutes: 1 })
    await publishCompleted(ann, 3)
    await publishCompleted(bob, 3)
    await sendAll()
    await advanceClock(harness.admin, '61 seconds')
    const headings: (string | undefined)[] = []
    await sendAll(({ message }) => {
      headings.push(message?.heading)
      return answered(200)
    })
    expect(headings).toEqual(['📬 3 messages', '📬 3 messages'])
  })
})

describe('another token of a channel', () => {
  it('takes what waits along, also past the pause of the bot before', async () => {
    await set(ann, { bot_token: ONE })
    await publishCompleted(ann, 3)
    await send(() => answered(401, { retryAfterSeconds: 3_000 }))
    await set(ann, { bot_token: OTHER })
    expect(await destinationsOf('deliveries', ann)).toEqual(await destinationsOf('receivers', ann))
    const tokens: (string | undefined)[] = []
    await sendAll(({ receiver }) => {
      tokens.push(receiver.secrets[0])
      return answered(200)
    })
    expect(tokens).toEqual([OTHER, OTHER])
  })

  it('is that of a message which was made or is being sent while it changes', async () => {
    await set(ann, { bot_token: ONE })
    await publishCompleted(ann, 3)
    const [before] = await destinationsOf('deliveries', ann)
    const [held] = await claim()
    await set(ann, { bot_token: OTHER })
    await sendDelivery(
      harness.deps,
      new Map([['telegram', { send: async () => ({ latencyMs: 1, error: 'x', response: null, retryAfterSeconds: null, ...answered(500) }) }]]),
      held as HeldDelivery,
      never,
    )
    // As the relay leaves it that read the channel before.
    await harness.admin`update deliveries set destination_id = ${before ?? ''}`
    await advanceClock(harness.admin, '2 seconds')
    expect(await sendAll()).toHaveLength(3)
    expect(await destinationsOf('deliveries', ann)).toEqual(await destinationsOf('receivers', ann))
  })
})

describe('a channel of a version before bots were destinations', () => {
  /** Its destination is itself. */
  async function asBefore(of: Ctx): Promise<void> {
    await harness.admin`update receivers set destination_id = id where project_id = ${of.actor.projectId}`
  }

  it('shares its bot from its first message on', async () => {
    await set(ann, { bot_token: ONE })
    await asBefore(ann)
    await publishCompleted(ann, 3)
    await set(bob, { bot_token: ONE })
    await publishCompleted(bob, 3)
    expect((await sendAll()).sort()).toEqual([ann, ann, ann, bob, bob, bob].map(({ actor }) => actor.projectId).sort())
    expect(await destinationsOf('receivers', ann)).toEqual(await destinationsOf('receivers', bob))
    expect(await destinationsOf('deliveries', ann)).toEqual(await destinationsOf('deliveries', bob))
    const tries = await harness.admin<{ attempts: number }[]>`select jsonb_array_length(attempts) as attempts from deliveries`
    expect(tries.map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1, 1, 1])
  })

  it('shares it when it is saved with its token, and stays as it is when it is saved without', async () => {
    await set(ann, { bot_token: ONE })
    const bot = await destinationsOf('receivers', ann)
    await asBefore(ann)
    const own = await destinationsOf('receivers', ann)
    await publishCompleted(ann, 1)
    await set(ann, { chat_id: '9' })
    expect(await destinationsOf('receivers', ann)).toEqual(own)
    await set(ann, { bot_token: ONE })
    expect(await destinationsOf('receivers', ann)).toEqual(bot)
    expect(await destinationsOf('deliveries', ann)).toEqual(bot)
  })

  it('whose token cannot be opened fails alone, with the reason in its log', async () => {
    await set(ann, { bot_token: ONE })
    await set(bob, { bot_token: ONE })
    await harness.admin`update receivers set secret = 'other.AAAA' where project_id = ${ann.actor.projectId}`
    await publishCompleted(ann, 6)
    await publishCompleted(bob, 2)
    // Whose turn is next is a matter of chance, until five failures in a row pause the chat.
    const sent: string[] = []
    for (let turn = 0; turn < 8; turn += 1) sent.push(...(await send()))
    expect(sent).toEqual([bob.actor.projectId, bob.actor.projectId])
    const [row] =
      await harness.admin`select attempts -> 0 ->> 'error' as error from deliveries where project_id = ${ann.actor.projectId} and attempts <> '[]' limit 1`
    expect(row?.error).toContain('SECRETS_KEYS')
    harness.log.takeErrors()
  })
})
