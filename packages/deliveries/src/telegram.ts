import { setTimeout as sleep } from 'node:timers/promises'
import type { Channel } from '@muster/domain'
import { allowing } from '@muster/outbound'
import { Api, GrammyError } from 'grammy'
import type { SendOptions } from './http-send.ts'
import { outboundFetch } from './outbound-fetch.ts'
import { attempt, readMessage } from './send-message.ts'
import { sendTelegramMessage } from './telegram-message.ts'

/** A bot may send 30 messages a second. Messages of one receiver are sent one at a time, each of which takes at least this long. */
const MESSAGE_MS_MIN = 35

export interface TelegramOptions extends SendOptions {
  /** TELEGRAM_API_URL. */
  telegramApi: string | undefined
  /** PUBLIC_URL, which buttons that open a page lead to. */
  pages: string | undefined
}

/**
 * Messages of a Telegram bot. A result is often Markdown, so it is sent as such; what Telegram refuses as Markdown, and what had to be cut, is sent as plain
 * text, because half an entity would be refused.
 */
export function telegramChannel({ operatorAllow, resolve, dial, telegramApi, pages }: TelegramOptions): Channel {
  return {
    async send(delivery, signal) {
      const { receiver } = delivery
      const { seen, fetch } = outboundFetch({ resolve, dial, signal, rules: allowing({ operator: operatorAllow, project: receiver.outboundAllow }) })
      const token = receiver.secrets[0] ?? ''
      const api = new Api(token, { fetch, ...(telegramApi === undefined ? {} : { apiRoot: telegramApi }) })
      const chatId = String(receiver.options.chat_id)
      // Settings that were stored before there were buttons have none until they are given again.
      const scope = receiver.options.interactive === true ? { token, receiverId: receiver.id, chatId } : null
      const pace = sleep(MESSAGE_MS_MIN)
      const result = await attempt(seen, signal, async () => {
        try {
          await sendTelegramMessage(api, chatId, readMessage(delivery), { scope, pages })
        } catch (error) {
          if (error instanceof GrammyError) seen.retryAfterSeconds = error.parameters.retry_after ?? null
          throw error
        }
      })
      await pace
      return result
    },
  }
}
