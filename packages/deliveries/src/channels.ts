import type { Channel, ChatClient, ReceiverKind, Settings } from '@muster/domain'
import { emailChannel } from './email.ts'
import type { SendOptions } from './http-send.ts'
import { slackChannel } from './slack.ts'
import { telegramChannel } from './telegram.ts'
import { telegramChats } from './telegram-chats.ts'
import { type BotPace, createBotPace } from './telegram-pace.ts'
import { webhookChannel } from './webhook.ts'

type ChannelSettings = Pick<Settings, 'OUTBOUND_ALLOW' | 'TELEGRAM_API_URL' | 'PUBLIC_URL' | 'SMTP_URL' | 'SMTP_FROM'>

/** The channels of a process. `pace` is shared with what reads the chats of its bots. */
export function createChannels(
  settings: ChannelSettings,
  { pace = createBotPace(), ...options }: Pick<SendOptions, 'resolve' | 'dial'> & { pace?: BotPace } = {},
): ReadonlyMap<ReceiverKind, Channel> {
  const common = { operatorAllow: settings.OUTBOUND_ALLOW, ...options }
  const webhook = webhookChannel(common)
  const channels = new Map<ReceiverKind, Channel>([
    ['webhook', webhook],
    ['callback', webhook],
    ['telegram', telegramChannel({ ...common, telegramApi: apiRootOf(settings), pages: settings.PUBLIC_URL, pace })],
    ['slack', slackChannel(common)],
  ])
  const { SMTP_URL: url, SMTP_FROM: from } = settings
  if (url !== undefined && from !== undefined) channels.set('email', emailChannel({ url, from }))
  return channels
}

/** Reads what people write to the bots of a process. */
export function createChatClient(
  settings: Pick<ChannelSettings, 'OUTBOUND_ALLOW' | 'TELEGRAM_API_URL' | 'PUBLIC_URL'>,
  waitSeconds: number,
  pace = createBotPace(),
): ChatClient {
  return telegramChats({ operatorAllow: settings.OUTBOUND_ALLOW, telegramApi: apiRootOf(settings), pages: settings.PUBLIC_URL, waitSeconds, pace })
}

/** The library throws for one that ends with a slash. */
function apiRootOf({ TELEGRAM_API_URL: url }: Pick<Settings, 'TELEGRAM_API_URL'>): string | undefined {
  return url?.replace(/\/+$/, '')
}
