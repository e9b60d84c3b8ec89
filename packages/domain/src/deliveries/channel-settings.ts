import { z } from 'zod'
import { MESSAGE_OCCASIONS } from './message.ts'
import { quietHoursSchema } from './quiet-hours.ts'

/** Channels for people, which a project has in its settings. */
export const CHANNEL_KINDS = ['telegram', 'slack', 'email'] as const
export type ChannelKind = (typeof CHANNEL_KINDS)[number]

const on = z
  .array(z.enum(MESSAGE_OCCASIONS as ['completed', 'failed', 'question']))
  .min(1)
  .describe('What is reported. A subtask or schedule with `notify: false` is not.')
const digestMinutes = z.int().min(1).max(1_440).optional().describe('What is reported within so many minutes becomes one message, but for questions.')
const rules = { on, quiet_hours: quietHoursSchema.optional(), digest_minutes: digestMinutes }
const secret = z.string().min(1).max(2_000)

export const channelSettings = {
  telegram: z
    .strictObject({
      bot_token: secret.optional().describe('Of the bot. It is stored encrypted and never shown; absent later: it stays as it is'),
      chat_id: z.string().min(1).max(64).describe('The chat that the bot writes to: a number, or @name of a channel'),
      interactive: z
        .boolean()
        .optional()
        .describe('Whether messages have buttons, and the bot reads this chat. Default: true, and false for @name, which is public'),
      ...rules,
    })
    .optional(),
  slack: z
    .strictObject({
      webhook_url: secret.optional().describe('An incoming webhook. It is stored encrypted and never shown; absent later: it stays as it is'),
      ...rules,
    })
    .optional(),
  email: z
    .strictObject({ to: z.array(z.email().max(254)).min(1).max(20), ...rules })
    .describe('Needs SMTP_URL and SMTP_FROM of the operator')
    .optional(),
}
