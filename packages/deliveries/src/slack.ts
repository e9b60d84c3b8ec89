import { type Channel, cutToUnits } from '@muster/domain'
import { allowing } from '@muster/outbound'
import { IncomingWebhook } from '@slack/webhook'
import type { SendOptions } from './http-send.ts'
import { outboundFetch } from './outbound-fetch.ts'
import { attempt, readMessage } from './send-message.ts'

const HEADER_UNITS_MAX = 150
const SECTION_UNITS_MAX = 3_000
/** The status of `channel_is_archived`. */
const ARCHIVED = 410

/** Messages to an incoming webhook of Slack, in Block Kit. The text is plain: nothing in a result can mention a user or a channel. */
export function slackChannel({ operatorAllow, resolve, dial }: SendOptions): Channel {
  return {
    async send(delivery, signal) {
      const { receiver } = delivery
      const { seen, fetch } = outboundFetch({ resolve, dial, signal, rules: allowing({ operator: operatorAllow, project: receiver.outboundAllow }) })
      const { heading, text } = readMessage(delivery)
      const plain = (value: string, max: number) => ({ type: 'plain_text' as const, text: cutToUnits(value, max).text, emoji: true })
      const blocks = [
        { type: 'header' as const, text: plain(heading, HEADER_UNITS_MAX) },
        ...(text === '' ? [] : [{ type: 'section' as const, text: plain(text, SECTION_UNITS_MAX) }]),
      ]
      const webhook = new IncomingWebhook(receiver.secrets[0] ?? '', { fetch: fetch as never })
      // The text of notifications, in which three characters are special.
      const fallback = heading.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
      const result = await attempt(seen, signal, () => webhook.send({ text: fallback, blocks, unfurl_links: false, unfurl_media: false }))
      return result.status === ARCHIVED ? { ...result, outcome: 'gone' } : result
    },
  }
}
