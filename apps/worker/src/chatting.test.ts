import { randomBytes } from 'node:crypto'
import { createChannels, createChatClient } from '@muster/deliveries'
import type { ChatClient, PersonMessage } from '@muster/domain'
import { advanceClock, type Harness, makeTask, resetClock, type SentMessage, spawn, startHarness, startTelegram, TELEGRAM_TOKEN } from '@muster/testing'
import { askAboutTask, type Ctx, cancelSubtask, getQuestion, getSubtask, listAuditEntries, listSubtasks, updateProject } from '@muster/usecases'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Chatting, startChatting } from './chatting.ts'

/*
 * The chats of projects, against a server of the Bot API that keeps to the limits of Telegram.
 */
let harness: Harness
let ctx: Ctx
let telegram: Awaited<ReturnType<typeof startTelegram>>
const workers: Chatting[] = []

beforeEach(async () => {
  telegram = await startTelegram()
  harness = await startHarness({
    settings: { SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}`, OUTBOUND_ALLOW: '127.0.0.1', TELEGRAM_API_URL: telegram.url },
  })
  ctx = await harness.projectCtx()
  await configure()
})
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()))
  await resetClock(harness.admin)
  await telegram.close()
  await harness.close()
})

async function configure(of = ctx, telegramSettings: object = {}): Promise<void> {
  const channel = { bot_token: TELEGRAM_TOKEN, chat_id: '-100', on: ['failed'], ...telegramSettings }
  await updateProject(of, of.actor.projectId, { settings: { outbound_allow: ['127.0.0.1'], telegram: channel as never } })
}

function startWorker(
  workerId = 'w1',
  deps = harness.deps,
  pauseMs = { first: 1_000, outage: 30_000, lasting: 600_000 },
  clientOf = (client: ChatClient) => client,
): Chatting {
  const unexpected = (what: string) => (error: unknown) => deps.log.error({ err: error }, what)
  const chats = clientOf(createChatClient(deps.settings, 25))
  const worker = startChatting({ ...deps, workerId, chats }, unexpected, { lookMs: 200, renewMs: 500, pauseMs })
  workers.push(worker)
  return worker
}

/** Nothing happens after the effect of the first update: no reply is sent, and its number is not stored. */
function dyingAfterEffect(client: ChatClient, onEffect: () => void): ChatClient {
  return {
    async poll(bot, fromId, signal) {
      const poll = await client.poll(bot, fromId, signal)
      if (poll.outcome === 'refused') return poll
      const updates = poll.updates.map((update) => ({
        ...update,
        handle: (take: Parameters<typeof update.handle>[0]) =>
          update.handle(async (chat, request) => {
            await take(chat, request)
            onEffect()
            return await new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
          }),
      }))
      return { ...poll, updates }
    },
  }
}

const until = (assertion: () => unknown) => vi.waitFor(assertion, { timeout: 15_000, interval: 20 })

/** The messages that the bot sends after this. */
async function messagesAfter(act: () => void, count = 1): Promise<SentMessage[]> {
  const before = telegram.sent.length
  act()
  await until(() => expect(telegram.sent.length).toBe(before + count))
  return telegram.sent.slice(before)
}

const nextNotice = async (act: () => void): Promise<string> => {
  const before = telegram.notices.length
  act()
  await until(() => expect(telegram.notices.length).toBe(before + 1))
  return telegram.notices.at(-1) as string
}

const QUESTION = {
  kind: 'question',
  prompt: 'Which one?',
  options: null,
  schema: null,
  arguments: null,
  default: null,
  expiresInSeconds: 3_600,
  onExpiry: 'continue',
} as const
const OPTIONS = [
  { id: 'a', label: 'The first', description: null },
  { id: 'b', label: 'The second', description: 'Is larger.' },
]
const ask = async (more: Partial<Parameters<typeof askAboutTask>[2]> = {}) => await askAboutTask(ctx, (await makeTask(ctx)).id, { ...QUESTION, ...more })

/** Sends a message with buttons as deliveries do. */
async function send(message: Partial<PersonMessage>): Promise<SentMessage> {
  const [row] = await harness.admin<
    { id: string; options: Record<string, unknown> }[]
  >`select id, options from receivers where project_id = ${ctx.actor.projectId}`
  const receiver = { id: row?.id ?? '', url: null, secrets: [TELEGRAM_TOKEN], options: row?.options ?? {}, outboundAllow: ['127.0.0.1'] }
  const whole = { heading: 'x', text: '', buttons: [], ...message }
  await createChannels(harness.deps.settings).get('telegram')?.send({ id: 'd', type: 't', body: '', message: whole, receiver }, new AbortController().signal)
  return telegram.sent.at(-1) as SentMessage
}

describe('a button', () => {
  it('answers a question with its option, in the name of who pressed it, and is gone then', async () => {
    const { id } = await ask({ options: OPTIONS })
    startWorker()
    const [message] = await messagesAfter(() => telegram.write('/inbox'))
    expect(message?.text).toContain('Which one?\nThe second: Is larger.')
    expect(await nextNotice(() => telegram.press(message as SentMessage, /second/, { from: 'bob' }))).toBe('✅ Answered: The second')
    expect(await getQuestion(ctx, id)).toMatchObject({ status: 'answered', answer: { option_id: 'b' }, answeredByKind: 'telegram', answeredById: '44' })
    await until(() => expect(message?.buttons).toEqual([]))
    const { items } = await listAuditEntries(ctx, { limit: 5 } as never)
    expect(items[0]).toMatchObject({ actor: { kind: 'telegram', id: '44', name: 'bob' }, origin: { door: 'telegram', operation: 'choose' } })
  })

  it('approves exactly what the message shows, and none does where the arguments had to be cut', async () => {
    const asked = await ask({ kind: 'approval', prompt: 'Push?', arguments: { branch: 'main' } })
    await ask({ kind: 'approval', prompt: 'Delete?', arguments: { paths: Array.from({ length: 500 }, (_, nth) => `file-${nth}`) } })
    startWorker()
    const [first, long] = await messagesAfter(() => telegram.write('/inbox@muster_bot'), 2)
    expect(first?.text).toContain('"branch": "main"')
    expect(long?.buttons.map(({ text }) => text)).toEqual(['🚫 Reject'])
    expect(await nextNotice(() => telegram.press(first as SentMessage, /Approve/))).toBe('✅ Approved.')
    expect(await getQuestion(ctx, asked.id)).toMatchObject({ status: 'answered', answer: { decision: 'approve', arguments_digest: asked.argumentsDigest } })
    expect(await nextNotice(() => telegram.press(long as SentMessage, /Reject/))).toBe('🚫 Rejected.')
  })

  it('approves arguments that are shown with every mark in them, not as Markdown', async () => {
    await ask({ kind: 'approval', prompt: 'Run?', arguments: { command: 'rm *a*', text: '[docs](https://evil.example)' } })
    startWorker()
    const [message] = await messagesAfter(() => telegram.write('/inbox'))
    expect(message?.parse_mode).toBeUndefined()
    expect(message?.text).toContain('rm *a*')
    expect(message?.text).toContain('[docs](https://evil.example)')
    expect(message?.buttons.map(({ text }) => text)).toContain('✅ Approve')
  })

  it('cancels work, and what has ended already says so', async () => {
    const { id } = await spawn(ctx, { task: 'Count the files' })
    startWorker()
    const [status] = await messagesAfter(() => telegram.write('/status'))
    expect(status?.text).toMatch(/pending: 1\n\n1\. pending — Count the files/)
    expect(await nextNotice(() => telegram.press(status as SentMessage, /Cancel 1/))).toBe('⏹ Cancelled.')
    expect(await getSubtask(ctx, id)).toMatchObject({ status: 'cancelled' })
    const again = { ...(status as SentMessage), buttons: (await send({ buttons: [{ label: 'stop', action: { kind: 'cancel', subtaskId: id } }] })).buttons }
    expect(await nextNotice(() => telegram.press(again, /stop/))).toContain('already ended as cancelled')
  })

  it('retries work once, however often it is pressed, in which message, and however often the press arrives', async () => {
    const { id } = await spawn(ctx, { task: 'Count the files', priority: 'low', timeoutSeconds: 77 })
    await cancelSubtask(ctx, id)
    const message = await send({ buttons: [{ label: 'Retry', action: { kind: 'retry', subtaskId: id } }] })
    const pressed = { ...message, buttons: [...message.buttons] }
    startWorker()
    expect(await nextNotice(() => telegram.press(pressed, /Retry/))).toMatch(/^🔁 Runs again, as subtask /)
    expect(await nextNotice(() => telegram.press(pressed, /Retry/, { from: 'bob' }))).toBe('It was done before.')
    const other = await send({ buttons: [{ label: 'Retry', action: { kind: 'retry', subtaskId: id } }] })
    expect(await nextNotice(() => telegram.press(other, /Retry/))).toBe('It was done before.')
    const { items } = await listSubtasks(ctx, { status: 'pending', limit: 5 })
    expect(items).toMatchObject([{ task: 'Count the files', priority: 'low', timeoutSeconds: 77 }])
  })

  it('that a worker obeyed before it died has its notice from the next one, and is obeyed once', async () => {
    const { id } = await ask({ options: OPTIONS })
    const failed = await spawn(ctx, { task: 'Count the files' })
    await cancelSubtask(ctx, failed.id)
    const choice = await send({ buttons: [{ label: 'first', action: { kind: 'choose', questionId: id, place: 0 } }] })
    const retry = await send({ buttons: [{ label: 'retry', action: { kind: 'retry', subtaskId: failed.id } }] })
    for (const [message, label, notice] of [
      [choice, /first/, '✅ Answered: The first'],
      [retry, /retry/, '🔁 Runs again, as subtask '],
    ] as const) {
      const obeyed = Promise.withResolvers<void>()
      const dying = startWorker('w1', harness.deps, undefined, (client) => dyingAfterEffect(client, obeyed.resolve))
      telegram.press(message, label)
      await obeyed.promise
      await dying.stop()
      const next = startWorker('w2')
      await until(() => expect(telegram.notices.at(-1)).toContain(notice))
      await until(() => expect(telegram.waiting).toEqual([]))
      await next.stop()
    }
    expect(telegram.notices).toHaveLength(2)
    expect(await getQuestion(ctx, id)).toMatchObject({ status: 'answered', answer: { option_id: 'a' } })
    expect((await listSubtasks(ctx, { status: 'pending', limit: 5 })).items).toHaveLength(1)
  })

  it('of another chat, of another project or made up does nothing', async () => {
    const { id } = await ask({ options: OPTIONS })
    const other = await harness.projectCtx()
    await configure(other, { chat_id: '-200' })
    startWorker()
    const [message] = (await messagesAfter(() => telegram.write('/inbox'))) as [SentMessage]
    const [data = ''] = message.buttons.flatMap(({ callback_data = [] }) => callback_data)
    const made = ['', 'x', data.slice(0, -1), data.replace(/^o/, 'c'), data.replace(/0\./, '1.'), `${data}x`, 'o'.repeat(64)]
    for (const each of made) expect(await nextNotice(() => telegram.press(message, /first/, { data: each || '?' }))).toContain('not of this chat')
    expect(await nextNotice(() => telegram.press(message, /first/, { chat: '-200' }))).toContain('not of this chat')
    expect(await nextNotice(() => telegram.press(message, /first/, { chat: '-300' }))).toContain('not of this chat')
    expect(await nextNotice(() => telegram.press(message, /first/, { chatType: 'channel' }))).toContain('not of this chat')
    expect(await getQuestion(ctx, id)).toMatchObject({ status: 'open' })
    expect(data.length).toBeLessThanOrEqual(64)
    expect(data).not.toContain(TELEGRAM_TOKEN.slice(7))
  })

  it('opens the dashboard, and is left out where Telegram takes no such address', async () => {
    const settings = { ...harness.deps.settings, PUBLIC_URL: 'https://muster.example.com' }
    harness.deps.settings = settings
    const open = { buttons: [{ label: 'Open', page: 'subtasks/1' }] }
    expect((await send(open)).buttons).toEqual([{ text: 'Open', url: 'https://muster.example.com/ui/subtasks/1' }])
    harness.deps.settings = { ...settings, PUBLIC_URL: 'http://127.0.0.1:7300' }
    expect((await send(open)).buttons).toEqual([])
  })
})

describe('a chat', () => {
  it('answers a question in words by a reply to its message', async () => {
    const { id } = await ask()
    startWorker()
    const [message] = (await messagesAfter(() => telegram.write('/inbox'))) as [SentMessage]
    expect(await nextNotice(() => telegram.press(message, /reply/))).toBe('Reply to this message with your answer.')
    const [reply] = await messagesAfter(() => telegram.write('The *third* one', { replyTo: message }))
    expect(reply?.text).toBe('✅ Answered.')
    expect(await getQuestion(ctx, id)).toMatchObject({ status: 'answered', answer: { answer: 'The *third* one' } })
    const [late] = await messagesAfter(() => telegram.write('No, the fourth', { replyTo: message }))
    expect(late?.text).toContain('answered by telegram')
  })

  it('is that of its project alone: others get nothing, and neither do texts that ask nothing', async () => {
    await ask()
    startWorker()
    telegram.write('/status', { chat: '-999' })
    telegram.write('/status@another_bot')
    telegram.write('hello')
    const [message] = await messagesAfter(() => telegram.write('/inbox'))
    expect(message?.chat_id).toBe('-100')
    expect(telegram.sent).toHaveLength(1)
    await until(() => expect(telegram.waiting).toEqual([]))
  })

  it('with a public name has buttons only where the settings say so', async () => {
    const isInteractive = async () =>
      (await harness.admin`select options -> 'interactive' as value from receivers where project_id = ${ctx.actor.projectId}`)[0]?.value
    await configure(ctx, { chat_id: '@news' })
    expect(await isInteractive()).toBe(false)
    await configure(ctx, { chat_id: '@group', interactive: true })
    expect(await isInteractive()).toBe(true)
  })

  it('with interactive false has no buttons, and nothing is read', async () => {
    await configure(ctx, { interactive: false })
    expect(
      (
        await send({
          buttons: [
            { label: 'Open', page: 'x' },
            { label: 'x', action: { kind: 'cancel', subtaskId: ctx.newId() } },
          ],
        })
      ).buttons,
    ).toEqual([])
    const other = await harness.projectCtx()
    await configure(other, { chat_id: '-200' })
    startWorker()
    telegram.write('/status')
    const [message] = await messagesAfter(() => telegram.write('/status', { chat: '-200' }))
    expect(message?.chat_id).toBe('-200')
  })
})

describe('a bot of two projects', () => {
  it('is read where one of them permits its address, for the chats of that one', async () => {
    await configure(ctx, { chat_id: '-300' })
    await updateProject(ctx, ctx.actor.projectId, { settings: { telegram: { chat_id: '-300', on: ['failed'] } } })
    const permitting = await harness.projectCtx()
    await configure(permitting, { chat_id: '-200' })
    startWorker()
    telegram.write('/status', { chat: '-300' })
    const [message] = await messagesAfter(() => telegram.write('/status', { chat: '-200' }))
    expect(message?.chat_id).toBe('-200')
    await until(() => expect(telegram.waiting).toEqual([]))
    expect(telegram.sent).toHaveLength(1)
  })
})

describe('the updates of a bot', () => {
  it('are read by one worker of all, and by another when that one dies, from where it was', async () => {
    await ask()
    startWorker('w1')
    await messagesAfter(() => telegram.write('/inbox'))
    startWorker('w2')
    await messagesAfter(() => telegram.write('/inbox'))
    expect(telegram.conflicts).toBe(0)
    // It is stored after the reply was sent.
    const held = () => harness.admin`select worker_id, next_update_id from muster_system.chat_bots`
    await until(async () => expect(await held()).toMatchObject([{ worker_id: 'w1', next_update_id: 1_003 }]))
    // As if it had been killed: its lease is not given back.
    await harness.admin`update muster_system.chat_bots set worker_id = 'killed', lease_expires_at = now() + interval '1 hour'`
    await until(() => expect(telegram.looks).toBe(0))
    await advanceClock(harness.admin, '2 hours')
    await messagesAfter(() => telegram.write('/inbox'))
    const taken = () => harness.admin`select next_update_id from muster_system.chat_bots where worker_id <> 'killed'`
    await until(async () => expect(await taken()).toMatchObject([{ next_update_id: 1_004 }]))
    expect(telegram.sent).toHaveLength(3)
  })

  it('are waited for where Telegram says so, also with the reply to one', async () => {
    telegram.refuseNext('getUpdates', { error_code: 429, description: 'Too Many Requests: retry after 2', parameters: { retry_after: 2 } })
    telegram.refuseNext('sendMessage', { error_code: 429, description: 'Too Many Requests: retry after 1', parameters: { retry_after: 1 } })
    const startedMs = performance.now()
    startWorker()
    await messagesAfter(() => telegram.write('/status'))
    expect(performance.now() - startedMs).toBeGreaterThan(2_900)
  })

  it('that another program takes are left to it for a while', async () => {
    telegram.refuseNext('getUpdates', { error_code: 409, description: 'Conflict: terminated by other getUpdates request' })
    const warned = vi.spyOn(harness.deps.log, 'warn')
    const startedMs = performance.now()
    startWorker()
    await messagesAfter(() => telegram.write('/status'))
    expect(performance.now() - startedMs).toBeGreaterThan(900)
    expect(warned).toHaveBeenCalledWith(expect.objectContaining({ reason: expect.stringContaining('Conflict') }), expect.any(String))
  })

  it.each([
    [502, 'Bad Gateway', 0.02],
    [409, 'Conflict', 0.16],
    [401, 'Unauthorized', 0.16],
  ])('are looked for again soon after an outage, and later and later where somebody has to act: %i', async (error_code, description, longest) => {
    telegram.refuseNext('getUpdates', { error_code, description }, 5)
    const warned = vi.spyOn(harness.deps.log, 'warn')
    startWorker('w1', harness.deps, { first: 10, outage: 20, lasting: 1_000 })
    await messagesAfter(() => telegram.write('/status'))
    expect(warned.mock.calls.map(([fields]) => (fields as { wait_seconds: number }).wait_seconds)).toHaveLength(5)
    expect(warned.mock.calls.at(-1)?.[0]).toMatchObject({ wait_seconds: longest })
  })

  it('do not keep a worker from stopping while Telegram lets a reply wait', async () => {
    telegram.refuseNext('sendMessage', { error_code: 429, description: 'Too Many Requests: retry after 50', parameters: { retry_after: 50 } })
    const worker = startWorker()
    telegram.write('/status')
    await until(() => expect(telegram.refused).toBe(1))
    await worker.stop()
    startWorker('w2')
    await until(() => expect(telegram.sent).toHaveLength(1))
  })
})
