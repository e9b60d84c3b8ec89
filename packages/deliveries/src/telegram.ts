import { setTimeout as sleep } from 'node:timers/promises'
import { type Channel, cutToUnits } from '@muster/domain'
import { allowing } from '@muster/outbound'
import { Api, GrammyError } from 'grammy'
import type { SendOptions } from './http-send.ts'
import { outboundFetch } from './outbound-fetch.ts'
import { attempt, readMessage } from './send-message.ts'

const MESSAGE_UNITS_MAX = 4_096
/** A bot may send 30 messages a second. Messages of one receiver are sent one at a time, each of which takes at least this long. */
const MESSAGE_MS_MIN = 35

/**
 * Messages of a Telegram bot. A result is often Markdown, so it is sent as such; what Telegram refuses as Markdown, and what had to be cut, is sent as plain
 * text, because half an entity would be refused.
 */
export function telegramChannel({ operatorAllow, resolve, dial, telegramApi }: SendOptions & { telegramApi: string | undefined }): Channel {
  return {
    async send(delivery, signal) {
      const { receiver } = delivery
      const { seen, fetch } = outboundFetch({ resolve, dial, signal, rules: allowing({ operator: operatorAllow, project: receiver.outboundAllow }) })
      const api = new Api(receiver.secrets[0] ?? '', { fetch, ...(telegramApi === undefined ? {} : { apiRoot: telegramApi }) })
      const { heading, text: body } = readMessage(delivery)
      const { text, isCut } = cutToUnits(body === '' ? heading : `${heading}\n\n${body}`, MESSAGE_UNITS_MAX)
      const chatId = String(receiver.options.chat_id)
      const pace = sleep(MESSAGE_MS_MIN)
      const result = await attempt(seen, signal, async () => {
        try {
          await api.sendMessage(chatId, text, isCut ? {} : { parse_mode: 'Markdown' })
        } catch (error) {
          if (isCut || !(error instanceof GrammyError) || error.error_code !== 400 || !/parse entities/i.test(error.description)) {
            if (error instanceof GrammyError) seen.retryAfterSeconds = error.parameters.retry_after ?? null
            throw error
          }
          await api.sendMessage(chatId, text)
        }
      })
      await pace
      return result
    },
  }
}
