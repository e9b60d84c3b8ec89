import { randomBytes } from 'node:crypto'
import { createBotPace, createChannels, createChatClient } from '@muster/deliveries'
import { type Harness, publishCompleted, startHarness, startTelegram, TELEGRAM_TOKEN, type TelegramServer } from '@muster/testing'
import { type Ctx, updateProject } from '@muster/usecases'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startChatting } from './chatting.ts'
import { startDelivering } from './delivering.ts'

/*
 * Two projects with one bot, against a server of the Bot API that keeps to the limits of Telegram.
 */
let harness: Harness
let telegram: TelegramServer
let projects: [Ctx, Ctx]
const workers: { stop(): Promise<void>; wake?(): void }[] = []

beforeEach(async () => {
  telegram = await startTelegram()
  harness = await startHarness({
    settings: {
      SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}`,
      OUTBOUND_ALLOW: '127.0.0.1',
      TELEGRAM_API_URL: telegram.url,
      DELIVERY_RETRY_SECONDS: '1,1,1,1,1,1,1,1',
    },
  })
  projects = [await harness.projectCtx(), await harness.projectCtx()]
  for (const [nth, of] of projects.entries()) {
    const channel = { bot_token: TELEGRAM_TOKEN, chat_id: `-${nth + 1}00`, on: ['completed'] }
    await updateProject(of, of.actor.projectId, { settings: { outbound_allow: ['127.0.0.1'], telegram: channel as never } })
  }
})
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()))
  await telegram.close()
  await harness.close()
})

/** A worker as far as messages go: it sends them, and reads the bot. */
function startWorker(workerId: string): void {
  const pace = createBotPace()
  const { deps } = harness
  const onError = (what: string) => (error: unknown) => deps.log.error({ err: error }, what)
  workers.push(startDelivering({ ...deps, channels: createChannels(deps.settings, { pace }) }, onError, { isHeldNow: async () => false }))
  const pauseMs = { first: 1_000, outage: 30_000, lasting: 600_000 }
  const chats = createChatClient(deps.settings, 25, pace)
  workers.push(startChatting({ ...deps, workerId, chats }, onError, { lookMs: 200, renewMs: 500, pauseMs }))
}

async function complete(of: Ctx, count: number): Promise<void> {
  await publishCompleted(of, count)
  for (const { wake } of workers) wake?.()
}

const until = (assertion: () => unknown) => vi.waitFor(assertion, { timeout: 30_000, interval: 20 })
const sentTo = (chat: string) => telegram.sent.filter(({ chat_id }) => chat_id === chat)
const attempts = async () =>
  await harness.admin<{ status: number; count: number }[]>`
    select (a ->> 'status')::int as status, count(*)::int as count from deliveries, jsonb_array_elements(attempts) a group by 1 order by 1`

describe('a bot of two projects', () => {
  it('with one worker is never sent more than 30 messages a second, with the replies to commands', async () => {
    for (const of of projects) await complete(of, 40)
    startWorker('one')
    await until(() => expect(telegram.sent.length).toBeGreaterThan(5))
    for (let nth = 0; nth < 40; nth += 1) telegram.write('/status')
    await until(() => expect(telegram.sent).toHaveLength(120))
    expect(telegram.limited).toBe(0)
  })

  it('with two workers is sent no message too fast by deliveries, however the projects share it', async () => {
    for (const of of projects) await complete(of, 50)
    startWorker('one')
    startWorker('two')
    await until(() => expect(telegram.sent).toHaveLength(100))
    await until(async () => expect(await attempts()).toEqual([{ status: 200, count: 100 }]))
    expect(telegram.limited).toBe(0)
  })

  it('goes on with one chat where the other is gone', async () => {
    telegram.gone.set('-100', 403)
    await complete(projects[0], 20)
    await complete(projects[1], 20)
    startWorker('one')
    await until(() => expect(sentTo('-200')).toHaveLength(20))
    expect(sentTo('-100')).toEqual([])
  })

  it.each(['message', 'reply'])('that Telegram asks to wait at a %s sends neither messages nor replies before', async (first) => {
    telegram.refuseNext('sendMessage', { error_code: 429, description: 'Too Many Requests: retry after 2', parameters: { retry_after: 2 } })
    startWorker('one')
    if (first === 'message') await complete(projects[0], 1)
    else telegram.write('/status')
    await until(() => expect(telegram.refused).toBe(1))
    const startedMs = performance.now()
    telegram.write('/status')
    await complete(projects[1], 1)
    await until(() => expect(telegram.sent).toHaveLength(3))
    for (const { atMs } of telegram.sent) expect(atMs - startedMs).toBeGreaterThan(1_500)
    // Nothing was asked meanwhile: all that was refused is the first.
    expect([telegram.refused, telegram.limited]).toEqual([1, 0])
    await until(async () => expect(await harness.admin`select distinct status, rung from deliveries`).toEqual([{ status: 'delivered', rung: 1 }]))
  })
})
