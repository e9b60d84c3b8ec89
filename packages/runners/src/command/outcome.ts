import { constants } from 'node:os'
import { cutToBytes } from '@muster/domain'
import type { RunOutcome } from '../port.ts'
import { LIMITS, type Transcript } from './transcript.ts'

/** How a program's process ended. */
export interface Ending {
  code: number | null
  signal: string | null
  /** Set when it was ended from here: because the run was stopped, or because it lingered after its closing line. */
  endedBy: 'stop' | 'lingering' | null
  /** The limit of memory of its sandbox in bytes, where the kernel has killed a process of it for that. */
  exceededMemoryBytes?: number
}

/**
 * What a run comes to, from how the program ended and what it said. A stop wins over everything: what the program managed to
 * say is then a partial result. After that its own word wins (`error`, `blocked`, `waiting`), except that a `result` needs an exit
 * with 0: a program that crashes after its result may not have finished what the result promises.
 *
 * @param exceeded which budget was used up, where the program was ended for it
 */
export function decideOutcome(
  ending: Ending,
  transcript: Pick<Transcript, 'closing' | 'plain' | 'outputs'>,
  errorTail: string,
  exceeded: string | null = null,
): RunOutcome {
  const { closing } = transcript
  const said = closing?.type === 'result' ? keptResult(closing.result) : { result: transcript.plain.text, isCut: transcript.plain.isCut }
  const partial = said.result === '' ? {} : { partialResult: said.result }

  if (ending.endedBy === 'stop') return { kind: 'stopped', ...partial }
  if (exceeded !== null && closing === null) return { kind: 'budget_exceeded', error: exceeded, ...partial }
  if (closing?.type === 'error') return { kind: 'errored', error: note(closing.error), retryable: closing.retryable ?? true, ...partial }
  if (closing?.type === 'blocked') return { kind: 'blocked', reason: note(closing.reason), ...partial }
  if (closing?.type === 'waiting') {
    return { kind: 'waiting', questionId: closing.question_id, ...(closing.continuation == null ? {} : { continuation: closing.continuation }) }
  }
  if (ending.endedBy === null && ending.code !== 0) {
    return { kind: 'errored', error: `${describeEnding(ending)}${errorTail === '' ? '.' : `:\n${errorTail}`}`, retryable: true, ...partial }
  }
  const outputs = transcript.outputs
  return {
    kind: 'completed',
    result: said.result,
    ...(said.isCut && { truncated: true }),
    ...(Object.keys(outputs).length > 0 && { outputs }),
    ...(closing?.type === 'result' && closing.summary != null && closing.summary.trim() !== '' && { summary: note(closing.summary) }),
  }
}

/** "The program exited with code 3", or "The program was ended by SIGSEGV (11)"; and that it used too much memory. */
export function describeEnding(ending: Omit<Ending, 'endedBy'>): string {
  const memory = describeMemory(ending)
  return `${describeExit(ending)}${memory === null ? '' : `: ${memory}`}`
}

/** That the kernel killed a process of it for its memory, as part of a sentence; null where it did not. */
export function describeMemory({ exceededMemoryBytes: bytes }: Pick<Ending, 'exceededMemoryBytes'>): string | null {
  return bytes === undefined ? null : `the kernel killed a process of it, because it used more than ${inMebibytes(bytes)} of memory (SANDBOX_MEMORY_BYTES_MAX)`
}

/** "8192 MiB" */
export function inMebibytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MiB`
}

function describeExit({ code, signal }: Pick<Ending, 'code' | 'signal'>): string {
  if (signal === null) return `The program exited with code ${code}`
  const number = (constants.signals as Record<string, number | undefined>)[signal]
  return `The program was ended by ${signal}${number === undefined ? '' : ` (${number})`}`
}

/** What is kept of a result. */
export function keptResult(text: string): { result: string; isCut: boolean } {
  const kept = cutToBytes(text, LIMITS.maxResultBytes)
  return { result: kept.text, isCut: kept.truncated }
}

/** A text that stands in lists, cut. */
export function note(text: string): string {
  return cutToBytes(text, LIMITS.maxNoteBytes).text
}
