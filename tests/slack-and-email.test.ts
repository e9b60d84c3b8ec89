import { randomBytes } from 'node:crypto'
import { advanceClock, type MailServer, resetClock, type SlackServer, startMailServer, startSlack } from '@muster/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { configureChannels, fail, hurry, killWorker, openDeliveries } from './harness/messages.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'

/*
 * Messages to Slack and by e-mail from outside: to servers that keep to the limits of the real ones, also while the worker is killed with -9.
 */
let system: System
let slack: SlackServer
let mail: MailServer

beforeAll(async () => {
  slack = await startSlack()
  mail = await startMailServer()
  system = await startSystem({
    workers: 0,
    env: {
      SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}`,
      OUTBOUND_ALLOW: '127.0.0.1',
      SMTP_URL: mail.url,
      SMTP_FROM: 'Muster <muster@example.com>',
    },
  })
  system.addSecret(slack.url)
})
beforeEach(async () => {
  await resetClock(system.admin)
  slack.sent.splice(0)
  mail.sent.splice(0)
})
afterAll(async () => {
  await system.close()
  await slack.close()
  await mail.close()
})

const configure = (channels: object) => configureChannels(system, { slack: null, email: null, ...channels })
const SLACK = (rules: object = {}) => ({ slack: { webhook_url: slack.url, on: ['failed'], ...rules } })
const EMAIL = (rules: object = {}) => ({ email: { to: ['ann@example.com'], on: ['failed'], ...rules } })

const isDone = async () => (await openDeliveries(system)).length === 0

describe('Slack', () => {
  it('gets each of many messages once, and no request before the time that it named', async () => {
    await configure(SLACK())
    await system.startWorker()
    const tasks = Array.from({ length: 8 }, (_, nth) => `Number ${nth} <!channel> & *bold* _${'😀'.repeat(nth * 60)}`)
    await fail(system, tasks)
    await until('all are sent', () => slack.sent.length >= tasks.length, 60_000)
    await until('their ends are stored', isDone)
    expect(slack.refused).toBeGreaterThan(0)
    expect(slack.early).toBe(0)
    const sent = slack.sent.map(({ blocks }) => blocks[0]?.text.text ?? '')
    for (const [nth] of tasks.entries()) expect(sent.filter((text) => text.includes(`Number ${nth} `))).toHaveLength(1)
    for (const { text } of slack.sent) expect(text).not.toContain('<!channel>')
    await killWorker(system)
  })

  it.each([
    ['before Slack took it', 'before', 1],
    // Slack knows no ids of what it is sent: what was taken without an answer is sent again.
    ['after Slack took it', 'after', 2],
  ] as const)('that is sent a message by a worker that is killed with -9, %s, gets it from the next one', async (_, when, copies) => {
    await configure(SLACK())
    const sending = slack.hangNext(when)
    await system.startWorker()
    await fail(system, [`Killed ${when}`])
    await sending
    await killWorker(system)
    const before = slack.sent.length
    await system.startWorker()
    await hurry(system, 'the next worker has sent it', () => slack.sent.length > before)
    await until('its end is stored', isDone)
    expect(slack.sent).toHaveLength(copies)
    for (const { text } of slack.sent) expect(text).toContain(`Killed ${when}`)
    await killWorker(system)
  })
})

describe('e-mail', () => {
  it.each([
    ['before the server took it', 'before', 1],
    ['after the server took it', 'after', 2],
  ] as const)('that a worker sends which is killed with -9, %s, is sent by the next one with the same Message-ID', async (_, when, copies) => {
    await configure(EMAIL())
    const sending = mail.hangNext(when)
    await system.startWorker()
    await fail(system, [`Killed ${when}`])
    await sending
    await killWorker(system)
    const before = mail.sent.length
    await system.startWorker()
    await hurry(system, 'the next worker has sent it', () => mail.sent.length > before)
    await until('its end is stored', isDone)
    expect(mail.sent).toHaveLength(copies)
    expect(new Set(mail.sent.map(({ messageId }) => messageId)).size).toBe(1)
    for (const { text } of mail.sent) expect(text).toContain(`Killed ${when}`)
    await killWorker(system)
  })

  it.each([
    ['has the same Message-ID when it is sent again', []],
    // A mail program shows one of several with the same Message-ID: what came in between would not be seen.
    ['has another Message-ID when something has been added to it', ['Came later']],
  ])('a digest %s', async (_, more) => {
    await configure(EMAIL({ digest_minutes: 1 }))
    const tasks = ['First of three', 'Second of three', 'Third of three']
    const sending = mail.hangNext('after')
    await system.startWorker()
    await fail(system, tasks)
    await until('all are to be told', async () => (await openDeliveries(system)).length === tasks.length)
    await advanceClock(system.admin, '61 seconds')
    await sending
    await killWorker(system)
    await fail(system, more)
    await system.startWorker()
    await hurry(system, 'the next worker has sent it', () => mail.sent.length > 1)
    await until('its end is stored', isDone)
    const [first, second] = mail.sent
    expect(mail.sent).toHaveLength(2)
    for (const task of tasks) expect([first?.text, second?.text]).toEqual([expect.stringContaining(task), expect.stringContaining(task)])
    for (const task of more) expect(second?.text).toContain(task)
    expect(first?.messageId === second?.messageId).toBe(more.length === 0)
    await killWorker(system)
  })
})
