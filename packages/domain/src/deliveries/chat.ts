import type { ChatAction } from './chat-action.ts'
import type { PersonMessage } from './message.ts'

export const CHAT_COMMANDS = ['status', 'inbox'] as const
export type ChatCommand = (typeof CHAT_COMMANDS)[number]

/** What a person wrote or pressed in the chat of a project. */
export interface ChatRequest {
  /** The update's number: the same when it arrives again. */
  updateId: number
  from: { id: string; name: string | null }
  what:
    | { kind: 'command'; command: ChatCommand }
    | { kind: 'press'; action: ChatAction }
    /** A reply to the message of a question. */
    | { kind: 'answer'; questionId: string; text: string }
}

/** What the bot says to it. */
export interface ChatReply {
  /** A short text for the person who pressed the button. */
  notice: string
  messages: PersonMessage[]
  /** Whether the buttons of the message have served their purpose, and are taken away. */
  isSettled: boolean
}

/** A bot, and the chats of projects in which it works. */
export interface ChatBot {
  /** Names the bot without its token. */
  key: string
  token: string
  chats: readonly BotChat[]
}

export interface BotChat {
  receiverId: string
  projectId: string
  /** As the settings name it. */
  chatId: string
  outboundAllow: readonly string[]
}

/** How a look for updates ended. */
export type ChatPoll =
  | { outcome: 'updates'; updates: readonly ChatUpdate[] }
  /** Not now. Lasting is what a person has to end: another program takes the updates of this bot, or the token is refused. */
  | { outcome: 'refused'; reason: string; isLasting: boolean; retryAfterSeconds: number | null }

export interface ChatUpdate {
  id: number
  /** Passes on what it asks of a chat, and sends the reply. Asks nothing of other chats. Resolves with why a reply was not sent, or null. */
  handle(take: (chat: BotChat, request: ChatRequest) => Promise<ChatReply>): Promise<string | null>
}

/** Reads what people write to bots. */
export interface ChatClient {
  /** Waits for updates from this number on, for a while. Earlier ones are gone then. */
  poll(bot: ChatBot, fromId: number, signal: AbortSignal): Promise<ChatPoll>
}
