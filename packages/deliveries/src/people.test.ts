import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { messageOf, type SendResult } from '@muster/domain'
import { HOSTILE_NAMES, HOSTILE_URLS, startTelegram, TELEGRAM_TOKEN } from '@muster/testing'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, it } from 'vitest'
import { createChannels } from './channels.ts'

/*
 * Channels for people against servers on loopback that keep to the limits of the real ones.
 */
const never = new AbortController().signal
const closers: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

async function jsonOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let body = ''
  for await (const chunk of request) body += chunk
  return JSON.parse(body)
}

/** The subject of a mail, whose words nodemailer encodes in quoted-printable or base64 (RFC 2047). */
function subjectOf(mail: string): string {
  const [, subject = ''] = /^Subject: (.*(?:\r\n[ \t].*)*)/m.exec(mail) ?? []
  const bytes = (kind: string, word: string) =>
    kind === 'B'
      ? Buffer.from(word, 'base64')
      : Buffer.from(
          word.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
          'latin1',
        )
  return subject.replaceAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=\s*/gi, (_, kind: string, word: string) => bytes(kind.toUpperCase(), word).toString('utf8'))
}

const body = (type: string, data: object) => JSON.stringify({ type, data })
const completed = (result: string, task = 'Research snow') => body('subtask.completed', { task, result })

describe('Telegram', () => {
  async function startBotApi() {
    const server = await startTelegram()
    closers.push(server.close)
    return server
  }

  async function send(url: string, bodies: string[], { allow = ['127.0.0.1'], token = TELEGRAM_TOKEN } = {}): Promise<SendResult[]> {
    const channel = createChannels({
      OUTBOUND_ALLOW: ['127.0.0.1'],
      TELEGRAM_API_URL: url,
      PUBLIC_URL: undefined,
      SMTP_URL: undefined,
      SMTP_FROM: undefined,
    }).get('telegram')
    const receiver = { id: 'r', url: null, secrets: [token], options: { chat_id: '-100' }, outboundAllow: allow }
    const results: SendResult[] = []
    for (const each of bodies) {
      const result = await channel?.send({ id: 'm', type: 't', body: each, message: messageOf(JSON.parse(each)), receiver }, never)
      if (result !== undefined) results.push(result)
    }
    return results
  }

  it('gets the texts of the source document, as Markdown', async () => {
    const { sent, url } = await startBotApi()
    await send(url, [completed('Base depth is *62"*.'), body('subtask.failed', { task: 'Research snow', error: 'No network.' })])
    expect(sent.map(({ chat_id, text, parse_mode }) => ({ chat_id, text, parse_mode }))).toEqual([
      { chat_id: '-100', text: '✅ Task completed: "Research snow"\n\nResult: Base depth is *62"*.', parse_mode: 'Markdown' },
      { chat_id: '-100', text: '❌ Task failed: "Research snow"\n\nError: No network.', parse_mode: 'Markdown' },
    ])
  })

  it('gets plain text where it refuses the Markdown, and where the text was cut', async () => {
    const { sent, url } = await startBotApi()
    const results = await send(url, [completed('snake_case'), completed(`*${'👩‍🚀'.repeat(2_000)}*`)])
    expect(results.map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered'])
    expect(sent.map(({ parse_mode }) => parse_mode)).toEqual([undefined, undefined])
    expect(sent[1]?.text.length).toBeGreaterThan(4_000)
  })

  it('is never sent more than thirty messages a second', async () => {
    const { url } = await startBotApi()
    const results = await send(
      url,
      Array.from({ length: 45 }, (_, nth) => completed(`result ${nth}`)),
    )
    expect(results.filter(({ outcome }) => outcome !== 'delivered')).toEqual([])
  })

  it('that says to wait is waited for', async () => {
    const server = createServer((_, response) =>
      response
        .writeHead(429, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ok: false, error_code: 429, description: 'Too Many Requests: retry after 17', parameters: { retry_after: 17 } })),
    )
    const [result] = await send(`http://127.0.0.1:${await listen(server)}`, [completed('x')])
    expect(result).toMatchObject({ outcome: 'limited', status: 429, retryAfterSeconds: 17, error: 'was refused: Too Many Requests: retry after 17' })
  })

  it('that refuses in many words is quoted up to a whole character, because half of one cannot be stored', async () => {
    const server = createServer((_, response) =>
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ ok: false, error_code: 400, description: `${'x'.repeat(499)}😀` })),
    )
    const [result] = await send(`http://127.0.0.1:${await listen(server)}`, [completed('x')])
    expect(result?.error?.isWellFormed()).toBe(true)
  })

  it('is not reached where its address is not permitted, and no error contains the token', async () => {
    const { sent, url } = await startBotApi()
    const results = [...(await send(url, [completed('x')], { allow: [] })), ...(await send(url, [completed('x')], { token: '1:wrong' }))]
    expect(results.map(({ error }) => error)).toEqual([expect.stringContaining('OUTBOUND_ALLOW'), 'was refused: Not Found'])
    expect(JSON.stringify(results)).not.toMatch(/wrong|a-token/)
    expect(sent).toEqual([])
  })
})

describe('Slack', () => {
  const NAMED = { resolve: async (host: string) => HOSTILE_NAMES[host.toLowerCase().replace(/\.$/, '')] ?? [], dial: () => '127.0.0.1' }
  const send = (url: string, text: string) =>
    createChannels({ OUTBOUND_ALLOW: [], TELEGRAM_API_URL: undefined, PUBLIC_URL: undefined, SMTP_URL: undefined, SMTP_FROM: undefined }, NAMED)
      .get('slack')
      ?.send(
        {
          id: 'm',
          type: 't',
          body: text,
          message: messageOf(JSON.parse(text)),
          receiver: { id: 'r', url: null, secrets: [url], options: {}, outboundAllow: [] },
        },
        never,
      )

  it('gets blocks within its limits, in which nothing mentions a user', async () => {
    const received: Record<string, unknown>[] = []
    const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
      const message = (await jsonOf(request)) as { blocks: { text: { type: string; text: string } }[] }
      received.push(message)
      const isValid = message.blocks.every(({ text }, nth) => text.text.length > 0 && text.text.length <= (nth === 0 ? 150 : 3_000) && text.text.isWellFormed())
      response.writeHead(isValid ? 200 : 400).end(isValid ? 'ok' : 'invalid_blocks')
    })
    const url = `http://public.test:${await listen(server)}/services/T/B/x`
    expect(await send(url, completed(`<!channel> ${'😀'.repeat(3_000)}`, 'a < b & c '.repeat(40)))).toMatchObject({ outcome: 'delivered', status: 200 })
    expect(received[0]).toMatchObject({
      text: expect.stringContaining('a &lt; b &amp; c'),
      blocks: [{ text: { type: 'plain_text' } }, { text: { type: 'plain_text' } }],
    })
  })

  it('that limits the rate is waited for, and no error contains its address', async () => {
    const server = createServer((_, response) => response.writeHead(429, { 'retry-after': '30' }).end('rate_limited'))
    const result = await send(`http://public.test:${await listen(server)}/services/T/B/secret`, completed('x'))
    expect(result).toMatchObject({ outcome: 'limited', status: 429, retryAfterSeconds: 30, response: 'rate_limited' })
    expect(JSON.stringify(result)).not.toContain('services')
    const until = createServer((_, response) => response.writeHead(429, { 'retry-after': new Date(Date.now() + 600_000).toUTCString() }).end())
    expect((await send(`http://public.test:${await listen(until)}/services/T/B/secret`, completed('x')))?.retryAfterSeconds).toBeGreaterThan(500)
  })

  it.each(HOSTILE_URLS)('is not reached at an address that is not public: %s', async (url, reason) => {
    expect(await send(url, completed('x'))).toMatchObject({ outcome: 'failed', status: null, error: expect.stringContaining(reason) })
  })
})

describe('e-mail', () => {
  async function startSmtp(more: SMTPServerOptions = {}) {
    const mails: string[] = []
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      logger: false,
      // For the connection of a delivery that was given up, which its client keeps for a quarter of a minute.
      closeTimeout: 100,
      onData(stream, _session, callback) {
        let mail = ''
        stream.on('data', (chunk: Buffer) => {
          mail += chunk
        })
        stream.on('end', () => {
          mails.push(mail)
          callback()
        })
      },
      ...more,
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => new Promise<void>((resolve) => server.close(() => resolve())))
    return { mails, url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}` }
  }
  const send = (url: string, text: string, signal = never) =>
    createChannels({ OUTBOUND_ALLOW: [], TELEGRAM_API_URL: undefined, PUBLIC_URL: undefined, SMTP_URL: url, SMTP_FROM: 'Muster <muster@example.com>' })
      .get('email')
      ?.send(
        {
          id: 'delivery-1',
          type: 't',
          body: text,
          message: messageOf(JSON.parse(text)),
          receiver: { id: 'r', url: null, secrets: [], options: { to: ['one@example.com', 'two@example.com'] }, outboundAllow: [] },
        },
        signal,
      )

  it('has a subject of one line, and the id of the delivery, by which a repetition is recognised', async () => {
    const { mails, url } = await startSmtp()
    expect(await send(url, completed('Done.', 'Count\r\nBcc: thief@example.com'))).toMatchObject({ outcome: 'delivered' })
    expect(mails[0]).toContain('Message-ID: <delivery-1@muster>')
    expect(mails[0]).toContain('To: one@example.com, two@example.com')
    expect(mails[0]).not.toMatch(/^Bcc:/m)
  })

  it('has a subject without half of a character', async () => {
    const { mails, url } = await startSmtp()
    await send(url, completed('Done.', '😀'.repeat(119)))
    await send(url, completed('Done.', `x${'😀'.repeat(119)}`))
    expect(mails).toHaveLength(2)
    // That is what half of a character becomes.
    for (const mail of mails) expect(subjectOf(mail)).toMatch(/😀…$/u)
    for (const mail of mails) expect(subjectOf(mail)).not.toContain('\uFFFD')
  })

  const refusal = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode })

  it.each<[string, SMTPServerOptions, string]>([
    ['has no such mailbox', { onRcptTo: ({ address }, _, callback) => callback(refusal(550, `no mailbox ${address}`)) }, '550 no mailbox'],
    ['takes no mail now', { onMailFrom: (_, __, callback) => callback(refusal(451, 'try again later')) }, '451 try again later'],
    ['is closing', { onConnect: (_, callback) => callback(refusal(421, 'closing')) }, '421 closing'],
    [
      'takes no mail of that size',
      {
        size: 100,
        onData: (stream, _, callback) =>
          void stream.resume().on('end', () => callback(stream.sizeExceeded ? refusal(552, 'message exceeds fixed maximum message size') : null)),
      },
      '552 message exceeds fixed maximum message size',
    ],
    ['wants a login', { authOptional: false, allowInsecureAuth: true }, '530'],
  ])('that a server refuses which %s is tried again later, and its log says why', async (_, options, said) => {
    const { url, mails } = await startSmtp(options)
    expect(await send(url, completed('x'.repeat(500)))).toMatchObject({ outcome: 'failed', error: expect.stringContaining(`was refused: ${said}`) })
    expect(mails).toEqual([])
  })

  it('logs in where the address has a login; a wrong one is told without its password', async () => {
    const { url, mails } = await startSmtp({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _, callback) =>
        callback(username === 'muster' && password === 'right-one' ? null : refusal(535, 'authentication failed'), { user: username }),
    })
    const withLogin = (password: string) => url.replace('smtp://', `smtp://muster:${password}@`)
    expect(await send(withLogin('right-one'), completed('x'))).toMatchObject({ outcome: 'delivered' })
    const wrong = await send(withLogin('wrong-one'), completed('x'))
    expect(wrong).toMatchObject({ outcome: 'failed', error: expect.stringContaining('535 authentication failed') })
    expect(JSON.stringify(wrong)).not.toContain('wrong-one')
    expect(mails).toHaveLength(1)
  })

  it('that a server takes without ever answering is given up in time', async () => {
    const { url } = await startSmtp({ onData: (stream) => void stream.resume() })
    const startedMs = performance.now()
    expect(await send(url, completed('x'), AbortSignal.timeout(300))).toMatchObject({ outcome: 'failed', error: 'did not answer in time' })
    expect(performance.now() - startedMs).toBeLessThan(5_000)
  })

  it('that finds no server is tried again later', async () => {
    expect(await send('smtp://127.0.0.1:1', completed('x'))).toMatchObject({ outcome: 'failed', error: expect.stringContaining('was not taken') })
  })
})
