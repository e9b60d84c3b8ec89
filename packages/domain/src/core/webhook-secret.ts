/** Characters of the URL of a webhook or a callback. */
export const WEBHOOK_URL_LENGTH_MAX = 2_000

/** The secret of a webhook, as Standard Webhooks writes it. */
export const WEBHOOK_SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = { min: 24, max: 64 }

/** Whether a text is a secret of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. */
export function isWebhookSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  const bytes = Buffer.from(base64, 'base64')
  return bytes.toString('base64').replaceAll('=', '') === base64.replaceAll('=', '') && bytes.length >= SECRET_BYTES.min && bytes.length <= SECRET_BYTES.max
}
