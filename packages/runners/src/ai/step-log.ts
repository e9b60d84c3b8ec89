import { createHash } from 'node:crypto'
import { cutToBytes } from '@muster/domain'
import { LIMITS } from '../command/transcript.ts'
import type { Run, RunStep, SentPrompt } from '../port.ts'
import { type Redact, redactJson } from './redact.ts'

/** The transcript of a run, on its way out: without secrets, cut to its limits, counted. */
export interface StepLog {
  prompt(sent: SentPrompt): void
  message(text: string): void
  toolCall(id: string, name: string, input: unknown): void
  toolResult(id: string, name: string, text: string, isError: boolean): void
  error(text: string): void
}

export function createStepLog(run: Pick<Run, 'step' | 'prompt'>, redact: Redact): StepLog {
  let keptBytes = 0
  let count = 0
  let areDropped = false

  function add(kind: RunStep['kind'], content: unknown) {
    if (areDropped) return
    const bytes = Buffer.byteLength(JSON.stringify(content))
    if (count >= LIMITS.maxSteps || keptBytes + bytes > LIMITS.maxStepBytes) {
      areDropped = true
      run.step({ kind: 'message', content: `Further steps were dropped: an attempt keeps ${LIMITS.maxSteps} steps or ${LIMITS.maxStepBytes} bytes of them.` })
      return
    }
    count += 1
    keptBytes += bytes
    run.step({ kind, content })
  }

  const clean = (text: string | null) => (text === null ? null : redact(text))

  return {
    prompt: ({ system, message, isContinued }) => run.prompt({ system: clean(system), message: clean(message), isContinued }),
    message: (text) => add('message', cut(redact(text))),
    toolCall: (id, name, input) => add('tool_call', { id, name, input: cutInput(redactJson(input, redact)) }),
    toolResult: (id, name, text, isError) => add('tool_result', { id, name, output: cut(redact(text)), is_error: isError }),
    error: (text) => add('error', cut(redact(text))),
  }
}

function cut(text: string): string {
  const kept = cutToBytes(text, LIMITS.maxLineBytes)
  return kept.truncated ? `${kept.text}\n[cut: the text had ${Buffer.byteLength(text)} bytes]` : text
}

/** A large input, such as a file that is written, as the beginning of its JSON. The digest tells inputs with the same beginning apart, for who looks for loops. */
function cutInput(input: unknown): unknown {
  const text = JSON.stringify(input ?? null)
  return Buffer.byteLength(text) <= LIMITS.maxLineBytes ? input : `${cut(text)} [SHA-256 ${createHash('sha256').update(text).digest('hex')}]`
}
