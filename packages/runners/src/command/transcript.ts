import { cutToBytes, RESULT_BYTES_MAX } from '@muster/domain'
import type { Run, RunStep, UsageDelta } from '../port.ts'
import type { Line } from './lines.ts'
import { type ProgramLine, parseProgramLine } from './protocol.ts'
import { createKeptText } from './text.ts'

const MIB = 1024 * 1024

/** What is kept of one attempt's output; the worker's memory must not depend on how much a program prints. */
export const LIMITS = {
  maxLineBytes: MIB,
  maxJsonLineBytes: 8 * MIB,
  maxResultBytes: RESULT_BYTES_MAX,
  maxSteps: 10_000,
  maxStepBytes: 8 * MIB,
  /** Plain lines that share one step: a result of many short lines must not become one stored row a line. */
  maxBlockBytes: 64 * 1024,
  maxAcknowledged: 1_000,
  maxOutputs: 1_000,
  maxOutputBytes: MIB,
  maxOutputsBytes: 8 * MIB,
  /** Of a summary, a reason, an error: texts that stand in lists. */
  maxNoteBytes: 16 * 1024,
} as const

/** How the program itself says that it is done. */
export type ClosingLine = Extract<ProgramLine, { type: 'result' | 'blocked' | 'waiting' | 'error' }>

/** The parsed standard output of a program so far. */
export interface Transcript {
  add(line: Line): void
  /** Passes on the plain lines that wait for more, as one step. */
  flush(): void
  readonly closing: ClosingLine | null
  /** True when one more line that is not of the protocol would change nothing. */
  readonly isPlainFull: boolean
  /** The lines that were not of the protocol. */
  readonly plain: { readonly text: string; readonly isCut: boolean }
  readonly outputs: Record<string, unknown>
}

/**
 * Reads a program's lines into a run: steps, acknowledgements and usage are passed on at once, outputs and the closing line
 * are kept. `onClosing` is called at the first closing line.
 */
export function createTranscript(run: Pick<Run, 'step' | 'usage' | 'acknowledge'>, onClosing: () => void): Transcript {
  const plain = createKeptText(LIMITS.maxResultBytes)
  const outputs = new Map<string, { value: unknown; bytes: number }>()
  const acknowledged = new Set<string>()
  const steps = { count: 0, bytes: 0, areDropped: false }
  const block = { lines: [] as string[], bytes: 0 }
  let outputsBytes = 0
  let closing: ClosingLine | null = null

  function step(kind: RunStep['kind'], content: unknown, bytes: number) {
    if (steps.areDropped) return
    if (steps.count >= LIMITS.maxSteps || steps.bytes + bytes > LIMITS.maxStepBytes) {
      steps.areDropped = true
      run.step({ kind: 'message', content: `Further steps were dropped: an attempt keeps ${LIMITS.maxSteps} steps or ${LIMITS.maxStepBytes} bytes of them.` })
      return
    }
    steps.count += 1
    steps.bytes += bytes
    run.step({ kind, content })
  }

  function plainLine(line: Line) {
    const { text, truncated } = cutToBytes(line.text, LIMITS.maxLineBytes)
    const isLineCut = truncated || line.isCut
    plain.addLine(text, isLineCut)
    addToBlock(isLineCut ? `${text}\n[cut: the line had ${line.bytes} bytes]` : text)
  }

  function addToBlock(text: string) {
    const bytes = Buffer.byteLength(text) + 1
    if (block.bytes + bytes > LIMITS.maxBlockBytes) flush()
    // An empty line belongs to a text, but says nothing as the beginning of a step.
    if (block.lines.length === 0 && text.trim() === '') return
    block.lines.push(text)
    block.bytes += bytes
  }

  function flush() {
    if (block.lines.length === 0) return
    const { lines, bytes } = block
    block.lines = []
    block.bytes = 0
    step('message', lines.join('\n').trimEnd(), bytes - 1)
  }

  function output(name: string, value: unknown) {
    const bytes = Buffer.byteLength(JSON.stringify(value))
    const replaced = outputs.get(name)
    const total = outputsBytes - (replaced?.bytes ?? 0) + bytes
    if (bytes > LIMITS.maxOutputBytes || total > LIMITS.maxOutputsBytes || (replaced === undefined && outputs.size >= LIMITS.maxOutputs)) {
      step(
        'error',
        `The output "${name}" was dropped: it has ${bytes} bytes, and an attempt keeps ${LIMITS.maxOutputs} outputs of ${LIMITS.maxOutputBytes} bytes each.`,
        200,
      )
      return
    }
    outputs.set(name, { value, bytes })
    outputsBytes = total
  }

  function acknowledge(updateId: string) {
    // Once each, and at most as many as were ever sent: these too wait in memory until the next checkpoint.
    if (acknowledged.has(updateId) || acknowledged.size >= LIMITS.maxAcknowledged) return
    acknowledged.add(updateId)
    run.acknowledge(updateId)
  }

  function close(line: ClosingLine) {
    const isFirst = closing === null
    closing = line
    if (isFirst) onClosing()
  }

  return {
    add(line) {
      const parsed = line.isCut ? null : parseProgramLine(line.text)
      if (parsed === null) return plainLine(line)
      // Steps keep the order in which the program printed them.
      flush()
      switch (parsed.type) {
        case 'step':
          return step(parsed.kind ?? 'message', keptContent(parsed.content, line), Math.min(line.bytes, LIMITS.maxLineBytes))
        case 'ack':
          return acknowledge(parsed.update_id)
        case 'usage':
          return run.usage(usageDelta(parsed))
        case 'output':
          return output(parsed.name, parsed.value)
        default:
          return close(parsed)
      }
    },
    flush,
    get closing() {
      return closing
    },
    get isPlainFull() {
      return plain.isCut && steps.areDropped
    },
    get plain() {
      return { text: plain.text, isCut: plain.isCut }
    },
    get outputs() {
      return Object.fromEntries([...outputs].map(([name, { value }]) => [name, value]))
    },
  }
}

/** A step's content as it is, or the beginning of its text where it is larger than a line may be. */
function keptContent(content: unknown, line: Line): unknown {
  if (line.bytes <= LIMITS.maxLineBytes) return content
  const { text, truncated } = cutToBytes(typeof content === 'string' ? content : JSON.stringify(content), LIMITS.maxLineBytes)
  return truncated ? `${text}\n[cut: the line had ${line.bytes} bytes]` : content
}

function usageDelta(line: Extract<ProgramLine, { type: 'usage' }>): UsageDelta {
  return {
    ...(line.input_tokens != null && { inputTokens: line.input_tokens }),
    ...(line.output_tokens != null && { outputTokens: line.output_tokens }),
    ...(line.cost_usd != null && { costUsdMicros: Math.round(line.cost_usd * 1_000_000) }),
    ...(line.cached_input_tokens != null && { cachedInputTokens: line.cached_input_tokens }),
    ...(line.tool_calls != null && { toolCalls: line.tool_calls }),
    ...(line.model != null && { model: line.model }),
  }
}
