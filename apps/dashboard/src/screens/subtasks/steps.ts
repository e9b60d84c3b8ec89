import type { Step } from '@muster/client'

export const STEP_KINDS: Record<Step['kind'], string> = { message: 'Message', tool_call: 'Tool call', tool_result: 'Result', update: 'Update', error: 'Error' }

/** A result follows its call closely. In steps. */
const NEAR = 50
const SHOWN_MAX = 8_000

const callId = ({ content }: Step): unknown => (content as { id?: unknown } | null)?.id

/** How long a tool took: from its call to its result, which names the call. In milliseconds. */
export function tookMs(step: Step, steps: readonly Step[]): number | undefined {
  if (step.kind !== 'tool_result' || callId(step) === undefined) return undefined
  const from = step.seq - (steps[0]?.seq ?? 0)
  for (let index = Math.min(from, steps.length) - 1; index >= Math.max(0, from - NEAR); index -= 1) {
    const call = steps[index]
    if (call?.kind === 'tool_call' && callId(call) === callId(step)) return Date.parse(step.at) - Date.parse(call.at)
  }
  return undefined
}

export interface ToolCall {
  seq: number
  attempt: number
  name: string
  /** In milliseconds since the epoch. */
  startMs: number
  /** Null while there is no result. */
  endMs: number | null
}

/** The calls of tools in a transcript, each with its end where its result names it. */
export function toolCallsOf(steps: readonly Step[]): ToolCall[] {
  const calls: ToolCall[] = []
  const open = new Map<unknown, ToolCall>()
  for (const step of steps) {
    const id = callId(step)
    if (step.kind === 'tool_call') {
      const { name } = (step.content ?? {}) as { name?: unknown }
      const call = { seq: step.seq, attempt: step.attempt, name: typeof name === 'string' ? name : 'tool', startMs: Date.parse(step.at), endMs: null }
      calls.push(call)
      if (id !== undefined) open.set(id, call)
    } else if (step.kind === 'tool_result') {
      const call = open.get(id)
      if (call !== undefined) call.endMs = Date.parse(step.at)
      open.delete(id)
    }
  }
  return calls
}

/** The content of a step for people, cut where it is very long. */
export function textOfStep({ kind, content }: Step): string {
  const text = readable(kind, content)
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}\n… ${(text.length - SHOWN_MAX).toLocaleString('en')} more characters` : text
}

function readable(kind: Step['kind'], content: unknown): string {
  if (typeof content === 'string') return content
  const { name, input, output, text } = (content ?? {}) as Record<string, unknown>
  if (kind === 'tool_call' && typeof name === 'string') return `${name}  ${JSON.stringify(input ?? content, null, 2)}`
  if (kind === 'tool_result' && output !== undefined) return typeof output === 'string' ? output : JSON.stringify(output, null, 2)
  if (typeof text === 'string') return text
  return JSON.stringify(content, null, 2)
}
