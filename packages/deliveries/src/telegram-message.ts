import { createHmac, timingSafeEqual } from 'node:crypto'
import { type BotChat, type ChatAction, chatActionCode, cutToUnits, type MessageButton, type PersonMessage, readChatAction } from '@muster/domain'
import { type Api, GrammyError } from 'grammy'

const MESSAGE_UNITS_MAX = 4_096
const LABEL_UNITS_MAX = 60
/** A keyboard has at most a hundred. */
const BUTTONS_MAX = 60
const TAG_LENGTH = 10

/** A chat in which a bot works: what its buttons are bound to. */
export interface ButtonScope {
  token: string
  receiverId: string
  chatId: string
}

/** Binds the data of a button to its bot, its project and its chat: what another chat or program sends is no button of ours. */
function tagOf({ token, receiverId, chatId }: ButtonScope, code: string): string {
  return createHmac('sha256', token).update(`${receiverId}/${chatId}/${code}`).digest('base64url').slice(0, TAG_LENGTH)
}

/** The data of a button, of at most 64 bytes. */
function buttonData(scope: ButtonScope, action: ChatAction): string {
  const code = chatActionCode(action)
  return `${code}.${tagOf(scope, code)}`
}

/** Which of these chats a button belongs to, and what it does; null if it is none that Muster made for them. */
export function readButton(token: string, chats: readonly BotChat[], data: string): { chat: BotChat; action: ChatAction } | null {
  const [code = '', tag = ''] = data.split('.')
  const action = readChatAction(code)
  const given = Buffer.from(tag)
  const chat = chats.find(({ receiverId, chatId }) => {
    const own = Buffer.from(tagOf({ token, receiverId, chatId }, code))
    return given.length === own.length && timingSafeEqual(given, own)
  })
  return action === null || chat === undefined ? null : { chat, action }
}

type InlineButton = { text: string; callback_data: string } | { text: string; url: string }

function keyboard(scope: ButtonScope, buttons: readonly MessageButton[], pages: string | undefined): InlineButton[][] {
  const shown = buttons.flatMap((button): InlineButton[] => {
    const text = cutToUnits(button.label, LABEL_UNITS_MAX).text
    if ('action' in button) return [{ text, callback_data: buttonData(scope, button.action) }]
    return pages === undefined ? [] : [{ text, url: new URL(`/ui/${button.page}`, pages).href }]
  })
  return shown.slice(0, BUTTONS_MAX).map((button) => [button])
}

/**
 * Sends a message once, as what Telegram takes of it: as Markdown if it can be, with its buttons, and with the pages of the dashboard. What a button says yes
 * to is plain text: Markdown would show it without its marks, and a link by another name.
 *
 * @param scope null for a message without buttons
 * @param pages PUBLIC_URL
 * @throws GrammyError, HttpError
 */
export async function sendTelegramMessage(
  api: Api,
  chatId: string,
  { heading, text: body, buttons }: PersonMessage,
  { scope, pages }: { scope: ButtonScope | null; pages: string | undefined },
): Promise<void> {
  const { text, isCut } = cutToUnits(body === '' ? heading : `${heading}\n\n${body}`, MESSAGE_UNITS_MAX)
  const shown = isCut ? buttons.filter((button) => !('needsWholeText' in button)) : buttons
  let isMarkdown = !isCut && !buttons.some((button) => 'needsWholeText' in button)
  let reachable = pages
  for (;;) {
    const rows = scope === null ? [] : keyboard(scope, shown, reachable)
    try {
      const options = { ...(isMarkdown ? { parse_mode: 'Markdown' as const } : {}), ...(rows.length === 0 ? {} : { reply_markup: { inline_keyboard: rows } }) }
      await api.sendMessage(chatId, text, options)
      return
    } catch (error) {
      if (!(error instanceof GrammyError) || error.error_code !== 400) throw error
      if (isMarkdown && /parse entities/i.test(error.description)) isMarkdown = false
      // Telegram takes addresses of the internet only.
      else if (reachable !== undefined && /button|url/i.test(error.description)) reachable = undefined
      else throw error
    }
  }
}
