import type { Channel, ChatClient, ReceiverKind, Settings } from '@muster/domain'
import { emailChannel } from './email.ts'
import type { SendOptions } from './http-send.ts'
import { slackChannel } from './slack.ts'
import { telegramChannel } from './telegram.ts'
import { telegramChats } from './telegram-chats.ts'
import { webhookChannel } from './webhook.ts'

type ChannelSettings = Pick<Settings, 'OUTBOUND_ALLOW' | 'TELEGRAM_API_URL' | 'PUBLIC_URL' | 'SMTP_URL' | 'SMTP_FROM'>

/** The channels of a process. */
export function createChannels(settings: ChannelSettings, options: Pick<SendOptions, 'resolve' | 'dial'> = {}): ReadonlyMap<ReceiverKind, Channel> {
  const common = { operatorAllow: settings.OUTBOUND_ALLOW, ...options }
  const webhook = webhookChannel(common)
  const channels = new Map<ReceiverKind, Channel>([
    ['webhook', webhook],
    ['callback', webhook],
    ['telegram', telegramChannel({ ...common, telegramApi: settings.TELEGRAM_API_URL, pages: settings.PUBLIC_URL })],
    ['slack', slackChannel(common)],
  ])
  const { SMTP_URL: url, SMTP_FROM: from } = settings
  if (url !== undefined && from !== undefined) channels.set('email', emailChannel({ url, from }))
  return channels
}

/** Reads what people write to the bots of a process. */
export function createChatClient(settings: Pick<ChannelSettings, 'OUTBOUND_ALLOW' | 'TELEGRAM_API_URL' | 'PUBLIC_URL'>, waitSeconds: number): ChatClient {
  return telegramChats({ operatorAllow: settings.OUTBOUND_ALLOW, telegramApi: settings.TELEGRAM_API_URL, pages: settings.PUBLIC_URL, waitSeconds })
}
