import { setTimeout as sleep } from 'node:timers/promises'
import { type BotChat, CHAT_COMMANDS, type ChatBot, type ChatClient, type ChatReply, type ChatRequest, type ChatUpdate, cutToUnits } from '@muster/domain'
import { type AddressRules, allowing } from '@muster/outbound'
import { type Api, Bot, type BotConfig, BotError, type Context, GrammyError } from 'grammy'
import type { InlineKeyboardMarkup, Update, UserFromGetMe } from 'grammy/types'
import { outboundFetch } from './outbound-fetch.ts'
import type { TelegramOptions } from './telegram.ts'
import { readButton, sendTelegramMessage } from './telegram-message.ts'
import { secretOf } from './telegram-token.ts'

type Say = (call: () => Promise<unknown>) => Promise<void>
type Take = (chat: BotChat, request: ChatRequest) => Promise<ChatReply>
export type ChatOptions = TelegramOptions & {
  /** How long Telegram holds a look for updates open. */
  waitSeconds: number
}

const UPDATES_MAX = 20
/** Beside the time that Telegram holds a look open, in milliseconds. */
const ANSWER_MS_MAX = 15_000
/** Another program takes the updates, or no bot has this token. */
const LASTING: ReadonlySet<number> = new Set([401, 404, 409])
const NOTICE_UNITS_MAX = 200
const REPLY_TRIES = 3
/** A reply that would have to wait longer than this, in seconds, is not sent. */
const REPLY_WAIT_MAX = 60

/** Long polling of Telegram bots. Who polls, and from where on, is decided by its caller. */
export function telegramChats(options: ChatOptions): ChatClient {
  /** The bots as Telegram knows them: commands in groups carry the name of their bot. */
  const known = new Map<string, UserFromGetMe>()
  return {
    async poll(config, fromId, signal) {
      const { rules, reached } = rulesFor(options, config)
      const client = { fetch: fetchFor(options, config.token, rules, signal), ...(options.telegramApi === undefined ? {} : { apiRoot: options.telegramApi }) }
      try {
        const bot = new Bot(config.token, { client })
        const botInfo = known.get(config.key) ?? (await bot.api.getMe())
        known.set(config.key, botInfo)
        const request = { offset: fromId, limit: UPDATES_MAX, timeout: options.waitSeconds, allowed_updates: ['message', 'callback_query'] as const }
        const updates = await bot.api.getUpdates(request)
        return {
          outcome: 'updates',
          updates: updates.map((update) => readUpdate({ ...config, chats: reached() }, update, { client, botInfo }, options, signal)),
        }
      } catch (error) {
        if (signal.aborted) return { outcome: 'updates', updates: [] }
        const refusal = error instanceof GrammyError ? error : null
        return {
          outcome: 'refused',
          // Messages of other errors may contain the URL, in which the token is.
          reason: refusal?.description ?? 'Telegram was not reached.',
          isLasting: refusal !== null && LASTING.has(refusal.error_code),
          retryAfterSeconds: refusal?.parameters.retry_after ?? null,
        }
      }
    },
  }
}

/** The requests of a bot are for all its projects: one that permits the address is enough. The chats of those that do not are left alone. */
function rulesFor({ operatorAllow }: ChatOptions, { chats }: ChatBot): { rules: AddressRules; reached: () => BotChat[] } {
  const rulesOf = ({ outboundAllow }: BotChat) => allowing({ operator: operatorAllow, project: outboundAllow })
  let reached = [...chats]
  const permits = (host: string, address: string) => {
    reached = reached.filter((chat) => rulesOf(chat).permits(host, address))
    return reached.length > 0
  }
  return { rules: { permits, refusal: allowing({ operator: [], project: [] }).refusal }, reached: () => reached }
}

/** Each request has a time of its own. */
function fetchFor({ resolve, dial, waitSeconds }: ChatOptions, token: string, rules: AddressRules, signal: AbortSignal): typeof fetch {
  return (input, init) => {
    const timeout = AbortSignal.timeout(waitSeconds * 1_000 + ANSWER_MS_MAX)
    return outboundFetch({ resolve, dial, rules, signal: AbortSignal.any([signal, timeout]), secret: secretOf(token) }).fetch(input, init)
  }
}

function readUpdate(config: ChatBot, update: Update, botConfig: BotConfig<Context>, { pages, pace }: ChatOptions, signal: AbortSignal): ChatUpdate {
  return {
    id: update.update_id,
    async handle(take) {
      const bot = new Bot(config.token, botConfig)
      bot.api.config.use(pace.of(config.token, signal))
      const unsent: string[] = []
      const say = async (call: () => Promise<unknown>) => {
        const reason = await patiently(call, signal)
        if (reason !== null) unsent.push(reason)
      }
      const answer = answering(config, take, pages, say)
      bot.on('callback_query:data', answer.press)
      bot.command([...CHAT_COMMANDS], answer.command)
      bot.on('message:text', answer.reply)
      try {
        await bot.handleUpdate(update)
      } catch (error) {
        throw error instanceof BotError ? error.error : error
      }
      return unsent[0] ?? null
    },
  }
}

/** What a bot does about updates of its projects' chats. Those of other chats are passed over. */
function answering(config: ChatBot, take: Take, pages: string | undefined, say: Say) {
  // Any person may follow a channel, and press what is written there.
  const chatsOf = ({ chat }: Context) =>
    chat?.type === 'channel'
      ? []
      : config.chats.filter(({ chatId }) => chatId === String(chat?.id) || (chat?.username !== undefined && chatId === `@${chat.username}`))
  const asked = ({ update, from }: Context) => ({
    updateId: update.update_id,
    from: { id: String(from?.id), name: from?.username ?? from?.first_name ?? null },
  })
  const sayAll = async (api: Api, { receiverId, chatId }: BotChat, { messages }: ChatReply) => {
    for (const message of messages) {
      await say(() => sendTelegramMessage(api, chatId, message, { scope: { token: config.token, receiverId, chatId }, pages }))
    }
  }
  return {
    async press(ctx: Context) {
      const found = readButton(config.token, chatsOf(ctx), ctx.callbackQuery?.data ?? '')
      if (found === null) return await say(() => ctx.answerCallbackQuery('This button is not of this chat.'))
      const reply = await take(found.chat, { ...asked(ctx), what: { kind: 'press', action: found.action } })
      const notice = cutToUnits(reply.notice, NOTICE_UNITS_MAX).text
      await say(() => ctx.answerCallbackQuery({ text: notice, show_alert: !reply.isSettled }))
      if (reply.isSettled) await say(() => ctx.editMessageReplyMarkup({ reply_markup: onlyPages(ctx.callbackQuery?.message) }))
      await sayAll(ctx.api, found.chat, reply)
    },
    async command(ctx: Context) {
      const [, name] = /^\/([a-z]+)/.exec(ctx.msg?.text ?? '') ?? []
      const command = CHAT_COMMANDS.find((each) => each === name)
      if (command === undefined) return
      for (const chat of chatsOf(ctx)) await sayAll(ctx.api, chat, await take(chat, { ...asked(ctx), what: { kind: 'command', command } }))
    },
    async reply(ctx: Context) {
      const repliedTo = ctx.msg?.reply_to_message
      // What a person wrote may have any buttons; those of the bot are ours.
      if (repliedTo?.from?.id !== ctx.me.id) return
      for (const data of dataOf(repliedTo)) {
        const found = readButton(config.token, chatsOf(ctx), data)
        if (found?.action.kind !== 'write') continue
        const { questionId } = found.action
        const reply = await take(found.chat, { ...asked(ctx), what: { kind: 'answer', questionId, text: ctx.msg?.text ?? '' } })
        await sayAll(ctx.api, found.chat, { ...reply, messages: [{ heading: reply.notice, text: '', buttons: [] }, ...reply.messages] })
        return
      }
    },
  }
}

type WithKeyboard = { reply_markup?: InlineKeyboardMarkup } | undefined

function dataOf(message: WithKeyboard): string[] {
  return (message?.reply_markup?.inline_keyboard ?? []).flat().flatMap((button) => ('callback_data' in button ? [button.callback_data] : []))
}

/** The keyboard of a message without what has been done. */
function onlyPages(message: object | undefined): InlineKeyboardMarkup {
  const rows = (message as WithKeyboard)?.reply_markup?.inline_keyboard ?? []
  return { inline_keyboard: rows.map((row) => row.filter((button) => 'url' in button)).filter((row) => row.length > 0) }
}

/**
 * Sends a reply, and waits where Telegram asks to. What it refuses is left out: the request has been done, and the same reply would be refused again.
 *
 * @returns why it was left out, or null
 * @throws HttpError where Telegram is not reached, GrammyError where it fails
 */
async function patiently(call: () => Promise<unknown>, signal: AbortSignal): Promise<string | null> {
  for (let tries = 1; ; tries += 1) {
    try {
      await call()
      return null
    } catch (error) {
      if (!(error instanceof GrammyError) || error.error_code >= 500) throw error
      const waitSeconds = error.parameters.retry_after
      if (error.error_code !== 429 || waitSeconds === undefined || waitSeconds > REPLY_WAIT_MAX || tries === REPLY_TRIES) return error.description
      await sleep(waitSeconds * 1_000, undefined, { signal })
    }
  }
}
