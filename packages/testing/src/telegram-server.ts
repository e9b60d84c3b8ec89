import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const TELEGRAM_TOKEN = '123456:a-token-of-a-bot'
const BOT = { id: 123456, is_bot: true, first_name: 'Muster', username: 'muster_bot' }

interface Button {
  text: string
  callback_data?: string
  url?: string
}

/** A message that the bot has sent, as the chat has it. */
export interface SentMessage {
  message_id: number
  chat_id: string
  text: string
  parse_mode?: string
  atMs: number
  buttons: Button[]
}

export interface TelegramServer {
  url: string
  sent: SentMessage[]
  /** The texts that answered pressed buttons. */
  notices: string[]
  /** Updates that no look has confirmed. */
  waiting: { update_id: number }[]
  /** How many looks for updates are open. */
  readonly looks: number
  /** How many looks were ended because another program looked. */
  readonly conflicts: number
  /** How many calls were answered with a refusal of `refuseNext`. */
  readonly refused: number
  /** How many messages were refused because there were too many in a second. */
  readonly limited: number
  /** Chats that the bot may not write to: there is none of this id (400), or the bot was blocked (403). */
  gone: Map<string, 400 | 403>
  /** Answers the next calls of this method with a refusal. */
  refuseNext(method: string, refusal: { error_code: number; description: string; parameters?: object }, times?: number): void
  /** Leaves the next call of this method without an answer, before it has done what it asks for or after. Kept when that call has come. */
  hangNext(method: string, when: 'before' | 'after'): Promise<void>
  /** A person writes in a chat. */
  write(text: string, more?: { chat?: string; replyTo?: SentMessage; from?: string }): void
  /** A person presses a button. */
  press(message: SentMessage, label: RegExp, more?: { chat?: string; chatType?: string; from?: string; data?: string }): void
  close(): Promise<void>
}

type Call = Record<string, unknown> & {
  offset?: number
  timeout?: number
  chat_id: string
  text: string
  parse_mode?: string
  reply_markup?: { inline_keyboard: Button[][] }
}

/**
 * A server of the Bot API that refuses what Telegram refuses: another token, texts that are too long or have half a surrogate, open entities, data of buttons
 * of more than 64 bytes, addresses that are not of the internet, more than 30 messages a second, and two programs that look for updates.
 */
export async function startTelegram(): Promise<TelegramServer> {
  const sent: SentMessage[] = []
  const notices: string[] = []
  const refusals = new Map<string, object[]>()
  const hangs = new Map<string, { when: 'before' | 'after'; reached: () => void }>()
  let waiting: { update_id: number }[] = []
  /** When the messages of the last second came. */
  let taken: number[] = []
  let look: { answer: (code: number, body: object) => void } | undefined
  const gone = new Map<string, 400 | 403>()
  let [updateId, messageId, conflicts, refused, limited] = [1_000, 0, 0, 0, 0]

  const refuse = (error_code: number, description: string, parameters = {}) => ({ ok: false, error_code, description, parameters })
  const methods: Record<string, (call: Call) => object> = {
    getMe: () => BOT,
    sendMessage(call) {
      const { chat_id, text, parse_mode, reply_markup } = call
      const buttons = reply_markup?.inline_keyboard.flat() ?? []
      if (text.length > 4_096) throw refuse(400, 'Bad Request: message is too long')
      if (!text.isWellFormed()) throw refuse(400, 'Bad Request: strings must be encoded in UTF-8')
      if (parse_mode === 'Markdown' && (text.match(/[*_`]/g)?.length ?? 0) % 2 === 1)
        throw refuse(400, "Bad Request: can't parse entities: Can't find end of the entity")
      if (buttons.some(({ callback_data = '' }) => Buffer.byteLength(callback_data) > 64)) throw refuse(400, 'Bad Request: BUTTON_DATA_INVALID')
      const local = buttons.find(({ url }) => url !== undefined && /localhost|127\.0\.0\.1/.test(url))
      if (local !== undefined) throw refuse(400, `Bad Request: inline keyboard button URL '${local.url}' is invalid: Wrong HTTP URL`)
      const atMs = performance.now()
      taken = taken.filter((each) => each > atMs - 1_000)
      if (taken.length >= 30) {
        limited += 1
        throw refuse(429, 'Too Many Requests: retry after 3', { retry_after: 3 })
      }
      taken.push(atMs)
      if (gone.get(String(chat_id)) === 400) throw refuse(400, 'Bad Request: chat not found')
      if (gone.has(String(chat_id))) throw refuse(403, 'Forbidden: bot was blocked by the user')
      messageId += 1
      sent.push({ message_id: messageId, chat_id: String(chat_id), text, ...(parse_mode === undefined ? {} : { parse_mode }), atMs, buttons })
      return { message_id: messageId }
    },
    answerCallbackQuery({ text }) {
      if (text.length > 200) throw refuse(400, 'Bad Request: MESSAGE_TOO_LONG')
      notices.push(text)
      return {}
    },
    editMessageReplyMarkup({ message_id, reply_markup }) {
      const message = sent.find((each) => each.message_id === message_id)
      if (message !== undefined) message.buttons = reply_markup?.inline_keyboard.flat() ?? []
      return {}
    },
  }

  const give = () => {
    if (look === undefined || waiting.length === 0) return
    look.answer(200, { ok: true, result: waiting })
  }
  const getUpdates = ({ offset, timeout }: Call, request: IncomingMessage, answer: (code: number, body: object) => void) => {
    if (look !== undefined) {
      conflicts += 1
      look.answer(409, refuse(409, 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running'))
    }
    waiting = waiting.filter(({ update_id }) => update_id >= (offset ?? 0))
    const timer = setTimeout(() => mine.answer(200, { ok: true, result: [] }), (timeout ?? 0) * 1_000)
    const end = () => {
      clearTimeout(timer)
      if (look === mine) look = undefined
    }
    const mine = {
      answer(code: number, body: object) {
        end()
        answer(code, body)
      },
    }
    look = mine
    request.socket.once('close', end)
    give()
  }

  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const answer = (code: number, body: object) => void response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    let body = ''
    for await (const chunk of request) body += chunk
    const call = (body === '' ? {} : JSON.parse(body)) as Call
    const method = request.url?.replace(`/bot${TELEGRAM_TOKEN}/`, '') ?? ''
    const refusal = refusals.get(method)?.shift() as { error_code: number } | undefined
    if (refusal !== undefined) {
      refused += 1
      return answer(refusal.error_code, refusal)
    }
    if (method === 'getUpdates') return getUpdates(call, request, answer)
    const run = methods[method]
    if (run === undefined) return answer(404, refuse(404, 'Not Found'))
    const hang = hangs.get(method)
    hangs.delete(method)
    if (hang?.when === 'before') return hang.reached()
    try {
      const result = run(call)
      if (hang !== undefined) return hang.reached()
      answer(200, { ok: true, result })
    } catch (refused) {
      answer((refused as { error_code: number }).error_code, refused as object)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  const arrive = (update: object) => {
    updateId += 1
    waiting.push({ update_id: updateId, ...update })
    give()
  }
  const asMessage = ({ message_id, chat_id, text, buttons }: SentMessage, type = 'group') => ({
    message_id,
    date: 1,
    chat: { id: Number(chat_id), type },
    from: BOT,
    text,
    reply_markup: { inline_keyboard: buttons.map((button) => [button]) },
  })
  const person = (name = 'ann') => ({ id: name.length + 41, is_bot: false, first_name: name, username: name })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    notices,
    get waiting() {
      return waiting
    },
    get looks() {
      return look === undefined ? 0 : 1
    },
    get conflicts() {
      return conflicts
    },
    get refused() {
      return refused
    },
    get limited() {
      return limited
    },
    gone,
    refuseNext(method, { error_code, description, parameters }, times = 1) {
      const refusal = refuse(error_code, description, parameters)
      refusals.set(method, [...(refusals.get(method) ?? []), ...Array.from({ length: times }, () => refusal)])
    },
    hangNext: (method, when) => new Promise((reached) => hangs.set(method, { when, reached })),
    write(text, { chat = '-100', replyTo, from } = {}) {
      messageId += 1
      const entities = text.startsWith('/') ? [{ type: 'bot_command', offset: 0, length: text.split(' ')[0]?.length }] : undefined
      const repliedTo = replyTo === undefined ? {} : { reply_to_message: asMessage(replyTo) }
      arrive({ message: { message_id: messageId, date: 1, chat: { id: Number(chat), type: 'group' }, from: person(from), text, entities, ...repliedTo } })
    },
    press(message, label, { chat, chatType, from, data } = {}) {
      const button = message.buttons.find(({ text }) => label.test(text))
      const pressed = data ?? button?.callback_data
      if (pressed === undefined) throw new Error(`the message has no button ${label}: ${message.buttons.map(({ text }) => text).join(', ')}`)
      arrive({
        callback_query: {
          id: String(updateId),
          from: person(from),
          chat_instance: '1',
          message: asMessage({ ...message, chat_id: chat ?? message.chat_id }, chatType),
          data: pressed,
        },
      })
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
