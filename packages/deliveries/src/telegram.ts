import type { Channel } from '@muster/domain'
import { allowing } from '@muster/outbound'
import { Api, GrammyError } from 'grammy'
import type { SendOptions } from './http-send.ts'
import { outboundFetch } from './outbound-fetch.ts'
import { attempt, readMessage } from './send-message.ts'
import { sendTelegramMessage } from './telegram-message.ts'
import type { BotPace } from './telegram-pace.ts'
import { secretOf } from './telegram-token.ts'

/** Telegram knows the bot, and does not let it write to this chat: there is none of this id, or the bot is blocked or was removed from it. */
const OF_CHAT: ReadonlySet<number> = new Set([400, 403])

export interface TelegramOptions extends SendOptions {
  /** TELEGRAM_API_URL. */
  telegramApi: string | undefined
  /** PUBLIC_URL, which buttons that open a page lead to. */
  pages: string | undefined
  pace: BotPace
}

/**
 * Messages of a Telegram bot. A result is often Markdown, so it is sent as such; what Telegram refuses as Markdown, and what had to be cut, is sent as plain
 * text, because half an entity would be refused.
 */
export function telegramChannel({ operatorAllow, resolve, dial, telegramApi, pages, pace }: TelegramOptions): Channel {
  return {
    async send(delivery, signal) {
      const { receiver } = delivery
      const token = receiver.secrets[0] ?? ''
      const rules = allowing({ operator: operatorAllow, project: receiver.outboundAllow })
      const { seen, fetch } = outboundFetch({ resolve, dial, signal, rules, secret: secretOf(token) })
      const api = new Api(token, { fetch, ...(telegramApi === undefined ? {} : { apiRoot: telegramApi }) })
      api.config.use(pace.of(token, signal))
      const chatId = String(receiver.options.chat_id)
      // Settings that were stored before there were buttons have none until they are given again.
      const scope = receiver.options.interactive === true ? { token, receiverId: receiver.id, chatId } : null
      let isOfChat = false
      const result = await attempt(seen, signal, async () => {
        try {
          await sendTelegramMessage(api, chatId, readMessage(delivery), { scope, pages })
        } catch (error) {
          if (error instanceof GrammyError) {
            seen.retryAfterSeconds = error.parameters.retry_after ?? null
            // Also of a message that was not sent, because it would have come within a pause.
            seen.status = error.error_code
            isOfChat = OF_CHAT.has(error.error_code)
          }
          throw error
        }
      })
      // All workers together send one message of a bot at a time, so the pace of each of them is that of all.
      await pace.rest(token)
      // Each project permits addresses of its own.
      return isOfChat || seen.refusal !== null ? { ...result, isOfReceiverAlone: true } : result
    },
  }
}
