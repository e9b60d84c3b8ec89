import { headerText, labelledOrFenced, oneLine } from '../core/fenced-text.ts'
import { cutToCodePoints } from '../core/text.ts'
import { renderData } from '../sessions/inbox-text.ts'
import type { SubagentDefinition } from '../subagents/subagent.ts'
import type { RequiredOutput } from '../tasks/output-schema.ts'
import { renderTaskUpdate, type TaskUpdateText } from '../tasks/update-text.ts'

export interface PromptInput {
  task: string
  /** The rendered brief, where the subtask runs one: it says the task and its outputs by itself. */
  assignment?: string | null
  parentSessionId: string | null
  background: boolean
  requiredOutputs: RequiredOutput[]
  /** Notes that were sent before this attempt began, oldest first. */
  updates: TaskUpdateText[]
  feedback: string | null
  /** The sub-agent that it is a run of. */
  subagent?: Pick<SubagentDefinition, 'name' | 'description' | 'instructions'> | null
  /** What it goes on from. */
  earlier?: EarlierWork | null
}

/** An ended subtask that another goes on from. [S10] `resume` */
export interface EarlierWork {
  subtaskId: string
  task: string
  status: string
  finalOutcome: string | null
  result: string | null
  error: string | null
  /** The last of its transcript, oldest first. */
  steps: { kind: string; content: unknown }[]
}

/**
 * The text a runner shows an agent before it starts: that it is a subtask, of whom, what to do, and what was added since.
 * [011] Subtask Execution
 *
 * @param fence of this delivery, see `fenceOf`
 */
export function renderPrompt(input: PromptInput, fence: string): string {
  const sections = [
    [
      input.background ? 'You are executing a background subtask.' : 'You are executing a subtask.',
      `Parent session: ${headerText(input.parentSessionId ?? 'none')}`,
      'Deliver a clear, complete result. Do not ask questions.',
    ].join('\n'),
    ...(input.subagent == null ? [] : [renderSubagent(input.subagent, fence)]),
    ...(input.earlier == null ? [] : [renderEarlierWork(input.earlier, fence)]),
    input.assignment ?? labelledOrFenced('Task', input.task, fence),
  ]
  if (input.assignment == null && input.requiredOutputs.length > 0) {
    const lines = input.requiredOutputs.map((output) => `- ${headerText(`${output.name}${output.description === null ? '' : `: ${output.description}`}`)}`)
    sections.push(`Required Outputs:\n${lines.join('\n')}`)
  }
  for (const update of input.updates) sections.push(renderTaskUpdate(update, fence))
  if (input.feedback !== null) sections.push(labelledOrFenced('Your last result was refused', input.feedback, fence))
  return sections.join('\n\n')
}

/** Whom the agent is to be: what its definition says of it, in the definition's own words. */
function renderSubagent({ name, description, instructions }: NonNullable<PromptInput['subagent']>, fence: string): string {
  const role = description === '' ? '' : ` Role: ${headerText(description)}`
  const instructionsText = instructions.trim()
  return [`You are the sub-agent ${name}.${role}`, ...(instructionsText === '' ? [] : [labelledOrFenced('Instructions', instructionsText, fence)])].join('\n\n')
}

/** The maximum length of the text about earlier work, in code points. */
const EARLIER = { task: 4_000, result: 16_000, step: 600, steps: 12_000 } as const

/** What was done before, as data: an agent wrote it, and it may quote pages and files. */
function renderEarlierWork(work: EarlierWork, fence: string): string {
  const parts = [
    `Task: ${cutToCodePoints(work.task, EARLIER.task)}`,
    ...(work.steps.length === 0 ? [] : [`Its last steps:\n${lastSteps(work.steps)}`]),
    ...(work.error === null ? [] : [`Error: ${cutToCodePoints(work.error, EARLIER.step)}`]),
    ...(work.result === null ? [] : [`Result:\n${cutToCodePoints(work.result, EARLIER.result)}`]),
  ]
  return [
    `You go on from your earlier subtask ${work.subtaskId}, which ended ${work.status}${work.finalOutcome === null ? '' : ` (${work.finalOutcome})`}.`,
    renderData(parts.join('\n'), fence),
  ].join('\n')
}

/** As many of the last as there is room for. */
function lastSteps(steps: EarlierWork['steps']): string {
  const lines: string[] = []
  let length = 0
  for (const { kind, content } of steps.toReversed()) {
    const text = typeof content === 'string' ? content : (JSON.stringify(content) ?? '')
    const line = `- ${kind}: ${cutToCodePoints(oneLine(text), EARLIER.step)}`
    length += line.length
    if (length > EARLIER.steps) break
    lines.unshift(line)
  }
  return lines.join('\n')
}

const TASK_LENGTH_MAX = 100_000

/** What the subtask is to do that runs a brief, in one text: for programs that look at nothing else of it. */
export function taskOfBrief({ title, instructions }: { title: string; instructions: string }): string {
  return cutToCodePoints(`${title}\n\n${instructions}`, TASK_LENGTH_MAX - 1)
}
