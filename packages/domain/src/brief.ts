import type { RequiredOutput } from './output-schema.ts'
import { cutToCodePoints } from './text.ts'

export interface BriefInput {
  task: string
  /** The rendered brief, where the subtask runs one: it says the task and its outputs by itself. */
  assignment?: string | null
  parentSessionId: string | null
  background: boolean
  requiredOutputs: RequiredOutput[]
  /** Notes that were sent before this attempt began, oldest first. */
  updates: { updateId: string; content: string }[]
  feedback: string | null
}

/**
 * The text a runner shows an agent before it starts: that it is a subtask, of whom, what to do, and what was added since.
 * [011] Subtask Execution
 */
export function renderBrief(input: BriefInput): string {
  const sections = [
    [
      input.background ? 'You are executing a background subtask.' : 'You are executing a subtask.',
      `Parent session: ${input.parentSessionId ?? 'none'}`,
      'Deliver a clear, complete result. Do not ask questions.',
    ].join('\n'),
    input.assignment ?? `Task: ${input.task}`,
  ]
  if (input.assignment == null && input.requiredOutputs.length > 0) {
    const lines = input.requiredOutputs.map((output) => `- ${output.name}${output.description === null ? '' : `: ${output.description}`}`)
    sections.push(`Required Outputs:\n${lines.join('\n')}`)
  }
  for (const update of input.updates) sections.push(renderUpdate(update.updateId, update.content))
  if (input.feedback !== null) sections.push(`Your last result was refused: ${input.feedback}`)
  return sections.join('\n\n')
}

const TASK_LENGTH_MAX = 100_000

/** What the subtask is to do that runs a brief, in one text: for programs that look at nothing else of it. */
export function taskOfBrief({ title, instructions }: { title: string; instructions: string }): string {
  return cutToCodePoints(`${title}\n\n${instructions}`, TASK_LENGTH_MAX - 1)
}

/** One note for a subtask, as its agent sees it: always with the id by which it can be confirmed. */
export function renderUpdate(updateId: string, content: string): string {
  return `[Task Update: Note]\nUpdate id: ${updateId}\n${content}`
}
