import { cutToCodePoints } from '../core/text.ts'
import type { EventType } from '../events/event.ts'

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
}

/** The message of an event. [011] Result Delivery */
export function messageOf(event: { type: string; data: Record<string, unknown> }): PersonMessage {
  const { type, data } = event
  const text = (name: string) => (typeof data[name] === 'string' ? (data[name] as string).trim() : '')
  const subject = shorten(text('task') || text('title'))
  if (type === 'question.asked') return { heading: data.kind === 'approval' ? '❓ Approval needed' : '❓ Question', text: text('prompt') }
  if (type.endsWith('.failed')) return { heading: `❌ Task failed: "${subject}"`, text: `Error: ${text('error') || text('reason') || 'no reason was given'}` }
  const result = text('result') || text('summary')
  return { heading: `✅ Task completed: "${subject}"`, text: result === '' ? '' : `Result: ${result}` }
}

function shorten(text: string): string {
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
