/** What a button of a message does. */
export type ChatAction =
  /** Chooses the option of a question at this place, from 0. */
  | { kind: 'choose'; questionId: string; place: number }
  /** Says how a question is answered in words. A reply to the message is that answer. */
  | { kind: 'write'; questionId: string }
  | { kind: 'approve'; questionId: string }
  | { kind: 'reject'; questionId: string }
  | { kind: 'cancel'; subtaskId: string }
  /** Runs the work of a subtask that failed once more. */
  | { kind: 'retry'; subtaskId: string }

const CODES = { choose: 'o', write: 'w', approve: 'y', reject: 'n', cancel: 'c', retry: 'r' } as const satisfies Record<ChatAction['kind'], string>
const KINDS = new Map(Object.entries(CODES).map(([kind, code]) => [code as string, kind as ChatAction['kind']]))
const UUID_BYTES = 16

/** An action as the data of a button, of which Telegram takes 64 bytes: a letter, the id in base64url, and a number. */
export function chatActionCode(action: ChatAction): string {
  const id = 'questionId' in action ? action.questionId : action.subtaskId
  const place = action.kind === 'choose' ? String(action.place) : ''
  return CODES[action.kind] + Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url') + place
}

/** Null for what is no code of an action. It says nothing about whether the caller may do it. */
export function readChatAction(code: string): ChatAction | null {
  const [, letter = '', base64 = '', place = ''] = /^([a-z])([A-Za-z0-9_-]{22})(\d{0,2})$/.exec(code) ?? []
  const kind = KINDS.get(letter)
  const bytes = Buffer.from(base64, 'base64url')
  if (kind === undefined || bytes.length !== UUID_BYTES || (kind === 'choose') !== (place !== '')) return null
  const id = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  if (kind === 'choose') return { kind, questionId: id, place: Number(place) }
  return kind === 'cancel' || kind === 'retry' ? { kind, subtaskId: id } : { kind, questionId: id }
}
