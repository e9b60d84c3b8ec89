import { randomBytes } from 'node:crypto'
import { advanceClock, resetClock, type SentMessage, startTelegram, TELEGRAM_TOKEN, type TelegramServer } from '@muster/testing'
import { cancelSubtask, listSubtasks } from '@muster/usecases'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { configureChannels, fail, hurry, killWorker, openDeliveries } from './harness/messages.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'

/*
 * The chat of a project from outside: the worker that has begun something is killed with -9, and another one goes on. The far side is a server of the Bot API
 * that keeps to the limits of Telegram.
 */
let system: System
let telegram: TelegramServer

beforeAll(async () => {
  telegram = await startTelegram()
  system = await startSystem({
    workers: 0,
    env: { SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}`, OUTBOUND_ALLOW: '127.0.0.1', TELEGRAM_API_URL: telegram.url },
  })
  system.addSecret(TELEGRAM_TOKEN)
})
beforeEach(async () => {
  await resetClock(system.admin)
  telegram.sent.splice(0)
  telegram.notices.splice(0)
})
afterAll(async () => {
  await system.close()
  await telegram.close()
})

const configure = (rules: object) => configureChannels(system, { telegram: { bot_token: TELEGRAM_TOKEN, chat_id: '-100', on: ['failed'], ...rules } })

describe('a worker that is killed with -9', () => {
  it('after it obeyed a button, and before the person heard of it, has obeyed it once, and the next one says so', async () => {
    await configure({})
    await system.startWorker()
    await fail(system, ['Count the files'])
    await until('the failure is told', () => telegram.sent.length === 1)
    const [failure] = telegram.sent as [SentMessage]
    const answering = telegram.hangNext('answerCallbackQuery', 'before')
    telegram.press(failure, /Retry/)
    await answering
    await killWorker(system)
    expect(telegram.notices).toEqual([])
    await system.startWorker()
    await hurry(system, 'the next worker has answered', () => telegram.notices.length > 0 && telegram.waiting.length === 0)
    const { items } = await listSubtasks(system.ctx, { status: 'pending', limit: 5 })
    expect(items).toMatchObject([{ task: 'Count the files' }])
    expect(telegram.notices).toEqual([`🔁 Runs again, as subtask ${items[0]?.id}.`])
    await cancelSubtask(system.ctx, items[0]?.id ?? '')
    await killWorker(system)
  })

  it.each([
    ['before Telegram took it', 'before', 1],
    // Telegram knows no ids of what it is sent: what was taken without an answer is sent again.
    ['after Telegram took it', 'after', 2],
  ] as const)('while it sends a digest, %s, loses nothing of it, and stores its end once', async (_, when, copies) => {
    await configure({ digest_minutes: 1 })
    const tasks = Array.from({ length: 4 }, (_, nth) => `Part ${nth} of ${when}`)
    const sending = telegram.hangNext('sendMessage', when)
    await system.startWorker()
    await fail(system, tasks)
    await until('all are to be told', async () => (await openDeliveries(system)).length === tasks.length)
    await advanceClock(system.admin, '61 seconds')
    await sending
    await killWorker(system)
    const before = telegram.sent.length
    await system.startWorker()
    await hurry(system, 'the next worker has sent it', () => telegram.sent.length > before)
    await until('its end is stored', async () => (await openDeliveries(system)).length === 0)
    expect(telegram.sent).toHaveLength(copies)
    for (const { text } of telegram.sent) expect(tasks.filter((task) => text.includes(task))).toEqual(tasks)
    const ended = await system.admin<{ status: string }[]>`select status from deliveries where kind = 'telegram' and body like ${`%of ${when}%`}`
    expect(ended.map(({ status }) => status)).toEqual(tasks.map(() => 'delivered'))
    await killWorker(system)
  })
})
