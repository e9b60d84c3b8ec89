import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { type ChatUpdate, messageOf, parseSettings } from '@muster/domain'
import { HOSTILE_NAMES, HOSTILE_URLS } from '@muster/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { createChannels, createChatClient } from './index.ts'

/*
 * TELEGRAM_API_URL with addresses and servers that would have the token of a bot.
 */
const TOKEN = '123456:AAsecretPartOfTheToken_of-a-bot'
const SECRET = /secretPart/i
const never = new AbortController().signal
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** A server that answers each request by its path. */
async function serve(answer: (path: string) => { status: number; headers?: Record<string, string>; body: string }) {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    const { status, headers, body } = answer(request.url ?? '')
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return { paths, port: (server.address() as AddressInfo).port }
}

const NAMED = { resolve: async (host: string) => HOSTILE_NAMES[host.toLowerCase().replace(/\.$/, '')] ?? [], dial: () => '127.0.0.1' }

/** What the log of deliveries keeps of an attempt. */
async function send(TELEGRAM_API_URL: string, allow: string[] = []) {
  const settings = { OUTBOUND_ALLOW: allow, TELEGRAM_API_URL, PUBLIC_URL: undefined, SMTP_URL: undefined, SMTP_FROM: undefined }
  const body = JSON.stringify({ type: 'subtask.completed', data: { task: 'x', result: 'y' } })
  const receiver = { id: 'r', url: null, secrets: [TOKEN], options: { chat_id: '-100', interactive: true }, outboundAllow: allow }
  return await createChannels(settings, NAMED)
    .get('telegram')
    ?.send({ id: 'm', type: 't', body, message: messageOf(JSON.parse(body)), receiver }, never)
}

/** What the worker logs of reading a bot, with all that its objects have: the refusal, and the error of a reply. */
async function read(TELEGRAM_API_URL: string, allow: string[] = []): Promise<string> {
  const lines: string[] = []
  const client = createChatClient({ OUTBOUND_ALLOW: allow, TELEGRAM_API_URL, PUBLIC_URL: undefined }, 0)
  const bot = { key: 'k', token: TOKEN, chats: [{ receiverId: 'r', projectId: 'p', chatId: '-100', outboundAllow: allow }] }
  const poll = await client.poll(bot, 1, never)
  lines.push(inspect(poll.outcome === 'refused' ? poll : {}, { depth: 9, showHidden: true }))
  const updates: readonly ChatUpdate[] = poll.outcome === 'updates' ? poll.updates : []
  for (const update of updates) {
    const unsent = await update
      .handle(async () => ({ notice: '', isSettled: false, messages: [{ heading: 'x', text: '', buttons: [] }] }))
      .catch((error) => error)
    lines.push(inspect(unsent, { depth: 9, showHidden: true }))
  }
  return lines.join('')
}

describe('TELEGRAM_API_URL', () => {
  it.each(['file:///etc/passwd', 'ftp://public.test/', 'javascript:alert(1)', 'data:text/plain,x', '//public.test/', 'public.test', 'not a url', 'http://'])(
    'is refused at the start of a process: %s',
    (url) => {
      expect(() => parseSettings({ DATABASE_URL: 'postgres://127.0.0.1/x', TELEGRAM_API_URL: url })).toThrow('TELEGRAM_API_URL')
    },
  )

  it.each(HOSTILE_URLS)('that is not public is not asked, and no error has the token: %s', async (url, reason) => {
    const result = await send(url)
    expect(result).toMatchObject({ outcome: 'failed', status: null, error: expect.stringContaining(reason), isOfReceiverAlone: true })
    expect(inspect(result, { depth: 9 })).not.toMatch(SECRET)
    expect(await read(url)).not.toMatch(SECRET)
  })

  it('that redirects is not followed: another server gets no token', async () => {
    const other = await serve(() => ({ status: 200, body: '{"ok":true,"result":{}}' }))
    const { port, paths } = await serve((path) => ({ status: 302, headers: { location: `http://127.0.0.1:${other.port}${path}` }, body: '' }))
    const url = `http://127.0.0.1:${port}`
    expect(await send(url, ['127.0.0.1'])).toMatchObject({ outcome: 'failed', status: 302 })
    expect(await read(url, ['127.0.0.1'])).not.toMatch(SECRET)
    expect(paths).toHaveLength(2)
    expect(other.paths).toEqual([])
  })

  it.each<[string, (path: string) => { status: number; body: string }]>([
    ['in a page', (path) => ({ status: 404, body: `<p>The requested URL ${path} was not found on this server.</p>` })],
    ['in a description', (path) => ({ status: 400, body: JSON.stringify({ ok: false, error_code: 400, description: `Bad Request: ${path}` }) })],
    ['encoded', (path) => ({ status: 502, body: encodeURIComponent(path) })],
    ['with a 429', (path) => ({ status: 429, body: JSON.stringify({ ok: false, error_code: 429, description: path, parameters: { retry_after: 1 } }) })],
    ['at the end of what is kept', (path) => ({ status: 404, body: `${'x'.repeat(1_000)}${path}` })],
  ])('whose server repeats the token %s has it in no delivery log and no line', async (_, answer) => {
    // It answers the look for updates, so that the reply to one is refused.
    const updates = [
      {
        update_id: 1,
        message: {
          message_id: 1,
          date: 1,
          chat: { id: -100, type: 'group' },
          from: { id: 1 },
          text: '/status',
          entities: [{ type: 'bot_command', offset: 0, length: 7 }],
        },
      },
    ]
    const { port } = await serve((path) => {
      if (path.endsWith('/getMe')) return { status: 200, body: '{"ok":true,"result":{"id":123456,"is_bot":true,"first_name":"M","username":"m_bot"}}' }
      return path.endsWith('/getUpdates') ? { status: 200, body: JSON.stringify({ ok: true, result: updates }) } : answer(path)
    })
    const url = `http://127.0.0.1:${port}`
    const result = await send(url, ['127.0.0.1'])
    expect(result).toMatchObject({ outcome: expect.stringMatching(/failed|limited/), response: expect.any(String) })
    expect(inspect(result)).not.toMatch(SECRET)
    expect(inspect(result)).not.toContain('AAsecret')
    expect(await read(url, ['127.0.0.1'])).not.toMatch(SECRET)
    const looks = await serve(answer)
    expect(await read(`http://127.0.0.1:${looks.port}`, ['127.0.0.1'])).not.toMatch(SECRET)
  })

  it.each(['/', '//', '/?x=', '/#', '/a/../', '/%2e%2e/', '/bot1:x/'])('with %s after its host sends the token to that host alone', async (path) => {
    const { port, paths } = await serve(() => ({ status: 404, body: 'no' }))
    const result = await send(`http://127.0.0.1:${port}${path}`, ['127.0.0.1'])
    expect(result).toMatchObject({ outcome: 'failed', status: 404 })
    expect(inspect(result)).not.toMatch(SECRET)
    expect(paths).toHaveLength(1)
  })
})
