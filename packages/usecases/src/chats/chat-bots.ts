import { chatBots } from '@muster/db'
import { type BotChat, type ChatBot, DomainError } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { openSecret } from '../core/secret-box.ts'
import { hashToken } from '../core/secrets.ts'

/** A worker holds a bot for this long, in seconds, and renews that while it lives. */
export const BOT_LEASE_SECONDS = 15

/** The bots of all projects whose chats people may write in, each with its chats: projects may share one. */
export async function listChatBots(deps: Deps): Promise<ChatBot[]> {
  const rows = await chatBots.listChats(deps.dispatchDb)
  const bots = new Map<string, { token: string; chats: BotChat[] }>()
  for (const { id: receiverId, secret, ...chat } of rows) {
    const token = openToken(deps, receiverId, secret)
    if (token === null) continue
    const key = hashToken(token).toString('hex')
    const bot = bots.get(key) ?? { token, chats: [] }
    bot.chats.push({ receiverId, ...chat })
    bots.set(key, bot)
  }
  return [...bots].map(([key, bot]) => ({ key, ...bot }))
}

function openToken(deps: Deps, receiverId: string, secret: string): string | null {
  try {
    return openSecret(deps, receiverId, secret)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    deps.log.error({ err: error, receiver_id: receiverId }, 'cannot read what is written to a bot')
    return null
  }
}

/**
 * Takes a bot, or renews the hold on it: one worker of all reads its updates.
 *
 * @returns the number of the update from which on to read; null while another worker holds it
 */
export async function holdChatBot(deps: Deps, key: string, workerId: string): Promise<number | null> {
  return await chatBots.holdBot(deps.dispatchDb, key, workerId, BOT_LEASE_SECONDS)
}

/** Remembers that updates before this number are done. False if another worker holds the bot by now. */
export async function storeChatProgress(deps: Deps, key: string, workerId: string, nextUpdateId: number): Promise<boolean> {
  return await chatBots.storeProgress(deps.dispatchDb, key, workerId, nextUpdateId)
}

/** Lets another worker take the bot at once. */
export async function releaseChatBot(deps: Deps, key: string, workerId: string): Promise<void> {
  await chatBots.releaseBot(deps.dispatchDb, key, workerId)
}
