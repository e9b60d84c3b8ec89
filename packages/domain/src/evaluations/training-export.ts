import type { MessageRole, Quality } from '../sessions/message.ts'
import type { Evaluation } from './evaluation.ts'

export const TRAINING_FORMATS = ['openai', 'anthropic', 'jsonl'] as const
export type TrainingFormat = (typeof TRAINING_FORMATS)[number]

export interface TrainingMessage {
  role: MessageRole
  content: string
}

export interface TrainingExample {
  /** In the order in which they were said. */
  messages: readonly TrainingMessage[]
  evaluation: Pick<Evaluation, 'score' | 'recommendation' | 'dimensions' | 'criteria' | 'criteriaRevision'> | null
  quality: Quality | null
  tags: readonly string[]
}

/**
 * One example as one line of JSON, without the line feed: as a fine-tuning of the one or the other provider takes it, or with everything
 * that is known of it.
 *
 * @returns null where the messages are no example in that format: nothing that the assistant said, or nothing that it answers
 */
export function trainingRecord(format: TrainingFormat, example: TrainingExample): string | null {
  const record = RECORDS[format](example)
  return record === null ? null : onOneLine(JSON.stringify(record))
}

const RECORDS: Record<TrainingFormat, (example: TrainingExample) => object | null> = {
  /** `{"messages": […]}` that ends with what is to be learnt. */
  openai: ({ messages }) => {
    const conversation = uptoAnswer(messages.filter(hasContent).map(withoutTools))
    return conversation.length === 0 ? null : { messages: conversation }
  },
  /** The system's words apart; then user and assistant in turn, from a user to an assistant. No other key is allowed. */
  anthropic: ({ messages }) => {
    const said = messages.filter(hasContent)
    const system = said.filter(({ role }) => role === 'system').map(({ content }) => content.toWellFormed())
    const turns = inTurns(said.filter(({ role }) => role !== 'system').map(withoutTools))
    const conversation = uptoAnswer(turns.slice(turns.findIndex(({ role }) => role === 'user')))
    if (conversation[0]?.role !== 'user') return null
    return { ...(system.length === 0 ? {} : { system: system.join('\n\n') }), messages: conversation }
  },
  jsonl: ({ messages, evaluation, quality, tags }) => ({
    messages: messages.map(({ role, content }) => ({ role, content: content.toWellFormed() })),
    evaluation: evaluation === null ? null : wireEvaluation(evaluation),
    quality,
    tags: tags.map((tag) => tag.toWellFormed()),
  }),
}

function hasContent({ content }: TrainingMessage): boolean {
  return content.trim() !== ''
}

/** What a tool answered is said to the assistant. As a tool's it would have to name a call, which is not kept. */
function withoutTools({ role, content }: TrainingMessage): TrainingMessage {
  return { role: role === 'tool' ? 'user' : role, content: content.toWellFormed() }
}

/** Everything up to the last words of the assistant. */
function uptoAnswer(messages: readonly TrainingMessage[]): TrainingMessage[] {
  return messages.slice(0, messages.findLastIndex(({ role }) => role === 'assistant') + 1)
}

/** Messages of one role that follow each other, as one. */
function inTurns(messages: readonly TrainingMessage[]): TrainingMessage[] {
  const turns: { role: MessageRole; contents: string[] }[] = []
  for (const { role, content } of messages) {
    const last = turns.at(-1)
    if (last?.role === role) last.contents.push(content)
    else turns.push({ role, contents: [content] })
  }
  return turns.map(({ role, contents }) => ({ role, content: contents.join('\n\n') }))
}

function wireEvaluation({ score, recommendation, dimensions, criteria, criteriaRevision }: NonNullable<TrainingExample['evaluation']>): object {
  return {
    score,
    recommendation,
    dimensions,
    criteria: criteria.map(({ id, text, verdict, evidence, method }) => ({ id, text, verdict, evidence, method })),
    criteria_revision: criteriaRevision,
  }
}

/** JSON may have them inside of strings; readers that divide a file into lines by them break. */
function onOneLine(json: string): string {
  return json.replace(/[\u0085\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
