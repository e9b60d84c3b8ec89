import { cutToCodePoints } from '../core/text.ts'
import type { EventType } from '../events/event.ts'
import type { NewQuestion, QuestionStatus } from '../questions/question.ts'
import type { ChatAction } from './chat-action.ts'

/** What people subscribe to: the events of each. */
export const MESSAGE_EVENTS = {
  completed: ['subtask.completed', 'task.completed'],
  failed: ['subtask.failed', 'task.failed'],
  question: ['question.asked'],
} as const satisfies Record<string, readonly EventType[]>

export const MESSAGE_OCCASIONS = Object.keys(MESSAGE_EVENTS) as (keyof typeof MESSAGE_EVENTS)[]

const HEADING_POINTS = 120

/** A message to people. */
export interface PersonMessage {
  /** One line. */
  heading: string
  /** Empty where the heading says everything. */
  text: string
  /** For channels that have buttons. */
  buttons: readonly MessageButton[]
}

/** Does something, or opens a page of the dashboard. One that permits what the text says is left out where the text had to be cut. */
export type MessageButton = { label: string; action: ChatAction; needsWholeText?: true } | { label: string; page: string }

/** What a message about a question says of it. Null where it is not known any more. */
export type ShownQuestion = Pick<NewQuestion, 'kind' | 'options' | 'schema' | 'arguments'> & {
  id: string
  prompt: string
  status: QuestionStatus
  subtaskId: string | null
  taskId: string | null
}

/** The message of an event. [011] Result Delivery */
export function messageOf(event: { type: string; data: Record<string, unknown> }, question: ShownQuestion | null = null): PersonMessage {
  const { type, data } = event
  const text = (name: string) => (typeof data[name] === 'string' ? (data[name] as string).trim() : '')
  if (type === 'question.asked') {
    if (question !== null) return questionMessage(question)
    return { heading: data.kind === 'approval' ? APPROVAL : QUESTION, text: text('prompt'), buttons: [] }
  }
  const subject = shortenToLine(text('task') || text('title'))
  const subtaskId = text('subtask_id')
  const open = openButton({ subtaskId, taskId: text('task_id') })
  if (type.endsWith('.failed')) {
    const retry: MessageButton[] = type === 'subtask.failed' && subtaskId !== '' ? [{ label: '🔁 Retry', action: { kind: 'retry', subtaskId } }] : []
    const reason = text('error') || text('reason') || 'no reason was given'
    return { heading: `❌ Task failed: "${subject}"`, text: `Error: ${reason}`, buttons: [...retry, ...open] }
  }
  const result = text('result') || text('summary')
  return { heading: `✅ Task completed: "${subject}"`, text: result === '' ? '' : `Result: ${result}`, buttons: open }
}

const QUESTION = '❓ Question'
const APPROVAL = '❓ Approval needed'

/** A question with what is needed to answer it. An approval shows what it permits. */
export function questionMessage(question: ShownQuestion): PersonMessage {
  const { id: questionId, kind, prompt, options, schema, arguments: args, status, subtaskId } = question
  const heading = kind === 'approval' ? APPROVAL : QUESTION
  const open = openButton(question)
  if (status !== 'open') return { heading: `${heading} (${status})`, text: prompt.trim(), buttons: open }
  const cancel: MessageButton[] = subtaskId === null ? [] : [{ label: '⏹ Cancel the work', action: { kind: 'cancel', subtaskId } }]
  const described = (options ?? []).filter(({ description }) => description !== null).map(({ label, description }) => `${label}: ${description}`)
  const text = [prompt.trim(), ...described, ...(args === null ? [] : ['Arguments:', JSON.stringify(args, null, 2)])].join('\n')
  if (kind === 'approval') {
    const approve: MessageButton = { label: '✅ Approve', action: { kind: 'approve', questionId }, needsWholeText: true }
    return { heading, text, buttons: [approve, { label: '🚫 Reject', action: { kind: 'reject', questionId } }, ...cancel, ...open] }
  }
  const answers: MessageButton[] =
    options !== null
      ? options.map(({ label }, place) => ({ label, action: { kind: 'choose', questionId, place } }))
      : // What has to fit a schema is answered where there is a form for it.
        schema === null
        ? [{ label: '✍️ Answer by a reply', action: { kind: 'write', questionId } }]
        : []
  return { heading, text, buttons: [...answers, ...cancel, ...open] }
}

function openButton({ subtaskId, taskId }: { subtaskId: string | null; taskId: string | null }): MessageButton[] {
  if (subtaskId !== null && subtaskId !== '') return [{ label: 'Open', page: `subtasks/${subtaskId}` }]
  return taskId === null || taskId === '' ? [] : [{ label: 'Open', page: `tasks/${taskId}` }]
}

/** As many messages go into one at most. Each has room for its heading and more than a line of its text, also in Slack. */
export const DIGEST_MESSAGES_MAX = 15
const DIGEST_UNITS = 2_800

/** Several messages as one. Each is in it, shortened where they are many. */
export function digestMessage(messages: readonly PersonMessage[]): PersonMessage {
  const room = Math.floor(DIGEST_UNITS / messages.length) - 2
  const parts = messages.map(({ heading, text }) => cutToUnits(text === '' ? heading : `${heading}\n${text.replaceAll(/\n{2,}/g, '\n')}`, room).text)
  return { heading: `📬 ${messages.length} messages`, text: parts.join('\n\n'), buttons: [] }
}

/** One line of at most 120 characters. */
export function shortenToLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  const cut = cutToCodePoints(line, HEADING_POINTS)
  return cut === line ? line : `${cut.trimEnd()}…`
}

/** Cuts a text to a number of UTF-16 units, as Telegram and Slack count, without splitting a character. */
export function cutToUnits(text: string, unitsMax: number): { text: string; isCut: boolean } {
  if (text.length <= unitsMax) return { text, isCut: false }
  const end = '…'
  let kept = text.slice(0, unitsMax - end.length)
  // Half of a surrogate pair, and what joins characters to one that follows.
  if (/[\uD800-\uDBFF]$/.test(kept)) kept = kept.slice(0, -1)
  return { text: `${kept.replace(/[\u200D\uFE0F]+$/, '')}${end}`, isCut: true }
}
