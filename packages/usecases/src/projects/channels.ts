import { receivers, type Tx } from '@muster/db'
import { CHANNEL_KINDS, type ChannelKind, DomainError, MESSAGE_EVENTS, type ProjectSettings, storedUrlProblem } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { sealSecret } from '../core/secret-box.ts'
import { destinationOfBot, moveToBot } from '../deliveries/bot-destination.ts'
import { removeReceiver } from '../deliveries/change-webhooks.ts'

/** A channel of the settings: what its receiver is made of. */
interface ChannelFields {
  on: readonly (keyof typeof MESSAGE_EVENTS)[]
  options: Record<string, unknown>
  /** Given in this request; null if the channel has none. */
  secret: string | null | undefined
  secretField: string | null
}

function readChannel(kind: ChannelKind, settings: ProjectSettings): ChannelFields | null {
  const { telegram, slack, email } = settings
  if (kind === 'telegram' && telegram !== undefined)
    return {
      on: telegram.on,
      // @name is public: every reader would decide.
      options: { chat_id: telegram.chat_id, interactive: telegram.interactive ?? !telegram.chat_id.startsWith('@') },
      secret: telegram.bot_token,
      secretField: 'bot_token',
    }
  if (kind === 'slack' && slack !== undefined) return { on: slack.on, options: {}, secret: slack.webhook_url, secretField: 'webhook_url' }
  return kind === 'email' && email !== undefined ? { on: email.on, options: { to: email.to }, secret: null, secretField: null } : null
}

/** The settings as they are stored and shown: without the secrets of channels. */
export function withoutSecrets({ telegram, slack, ...settings }: ProjectSettings): ProjectSettings {
  const { bot_token: _, ...telegramKept } = telegram ?? { on: [], chat_id: '' }
  const { webhook_url: __, ...slackKept } = slack ?? { on: [] }
  return { ...settings, ...(telegram === undefined ? {} : { telegram: telegramKept }), ...(slack === undefined ? {} : { slack: slackKept }) }
}

/**
 * Makes the receivers of a project's channels follow its settings, in the transaction that stores them, under the lock of the project's row. A secret that
 * is not given stays as it is.
 *
 * @throws DomainError `validation_failed` for a channel without its secret or its server, `secrets_not_configured`
 */
export async function applyChannels(ctx: Ctx, tx: Tx, projectId: string, settings: ProjectSettings): Promise<void> {
  for (const kind of CHANNEL_KINDS) {
    const channel = readChannel(kind, settings)
    const existing = await receivers.findChannel(tx, projectId, kind)
    if (channel === null) {
      if (existing !== null) await removeReceiver(tx, existing, 'The channel was removed from the settings of the project.')
      continue
    }
    const pointer = `/settings/${kind}`
    if (kind === 'email' && ctx.settings.SMTP_URL === undefined) throw refused(pointer, 'needs SMTP_URL, which is not set on this server')
    if (kind === 'slack' && typeof channel.secret === 'string') {
      const problem = storedUrlProblem(channel.secret, { operator: ctx.settings.OUTBOUND_ALLOW, project: settings.outbound_allow ?? [] })
      if (problem !== null) throw refused(`${pointer}/webhook_url`, problem)
    }
    if (channel.secret === undefined && existing === null) throw refused(`${pointer}/${channel.secretField}`, 'must be given when the channel is new')
    const id = existing?.id ?? ctx.newId()
    const secret = typeof channel.secret === 'string' ? { secret: sealSecret(ctx, id, channel.secret) } : {}
    const { quiet_hours, digest_minutes } = settings[kind] ?? {}
    const digest = digest_minutes === undefined ? {} : { digest_seconds: digest_minutes * 60 }
    const quiet = quiet_hours === undefined ? {} : { quiet_hours: { ...quiet_hours, timezone: settings.timezone ?? 'UTC' } }
    const fields = { events: channel.on.flatMap((occasion) => [...MESSAGE_EVENTS[occasion]]), options: { ...channel.options, ...quiet, ...digest }, ...secret }
    const destinationId = kind === 'telegram' && typeof channel.secret === 'string' ? destinationOfBot(channel.secret) : (existing?.destinationId ?? id)
    if (existing === null) {
      await receivers.insertChannel(tx, { projectId, id, kind, destinationId, secret: null, ...fields })
      continue
    }
    await receivers.changeChannel(tx, projectId, id, fields)
    if (destinationId !== existing.destinationId) await moveToBot(tx, projectId, existing, destinationId)
    // Its chat may be another one now.
    if (kind === 'telegram') await receivers.closeBreaker(tx, projectId, id)
  }
}

function refused(pointer: string, reason: string): DomainError {
  const field = pointer.slice(1).replaceAll('/', '.')
  return new DomainError('validation_failed', `${field} ${reason}.`, { errors: [{ pointer, field, reason }] })
}
