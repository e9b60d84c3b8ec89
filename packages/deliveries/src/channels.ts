import type { Channel, ReceiverKind, Settings } from '@muster/domain'
import type { SendOptions } from './http-send.ts'
import { webhookChannel } from './webhook.ts'

/** The channels of a process. */
export function createChannels(
  settings: Pick<Settings, 'OUTBOUND_ALLOW'>,
  options: Pick<SendOptions, 'resolve' | 'dial'> = {},
): ReadonlyMap<ReceiverKind, Channel> {
  const webhook = webhookChannel({ operatorAllow: settings.OUTBOUND_ALLOW, ...options })
  return new Map<ReceiverKind, Channel>([
    ['webhook', webhook],
    ['callback', webhook],
  ])
}
