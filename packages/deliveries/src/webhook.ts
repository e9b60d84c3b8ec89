import type { Channel } from '@muster/domain'
import { Webhook } from 'standardwebhooks'
import { now } from './clock.ts'
import { post, type SendOptions } from './http-send.ts'

/**
 * Webhooks by the specification Standard Webhooks: the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`. While a secret is rotated, each
 * request carries a signature of both. A callback without a secret is not signed.
 */
export function webhookChannel(options: SendOptions): Channel {
  return {
    async send({ id, body, receiver, traceparent }, signal) {
      const at = now()
      const headers: Record<string, string> = {
        'content-type': 'application/json',
        'user-agent': 'Muster',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        ...(traceparent !== undefined && { traceparent }),
      }
      if (receiver.secrets.length > 0) {
        headers['webhook-signature'] = receiver.secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' ')
      }
      return await post(options, { url: receiver.url ?? '', headers, body, projectAllow: receiver.outboundAllow }, signal)
    },
  }
}
