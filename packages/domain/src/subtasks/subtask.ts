import type { Priority } from '../core/priority.ts'
import type { EvaluationRef } from '../evaluations/record.ts'
import type { QuestionStatus } from '../questions/question.ts'
import { outputProblems, type RequiredOutput } from '../tasks/output-schema.ts'
import { classifyResult } from './result-text.ts'

export const SUBTASK_STATUSES = ['pending', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const
export type SubtaskStatus = (typeof SUBTASK_STATUSES)[number]

/** The state machine, once. Drawn in docs/subtask-lifecycle.md with the use-case behind each arrow. */
export const NEXT_STATUSES = {
  pending: ['running', 'cancelled'],
  running: ['pending', 'waiting', 'completed', 'failed', 'cancelled'],
  // For the answer to a question, without a permit, a worker or a process. It fails where a budget that is used up is not raised.
  waiting: ['pending', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<SubtaskStatus, readonly SubtaskStatus[]>

export type TerminalStatus = 'completed' | 'failed' | 'cancelled'

export function isTerminal(status: SubtaskStatus): status is TerminalStatus {
  return NEXT_STATUSES[status].length === 0
}

export const FINAL_OUTCOMES = [
  'completed',
  'cancelled',
  'incomplete_blocked',
  'validation_failed',
  'timed_out',
  'errored',
  'worker_lost',
  'budget_exceeded',
] as const
export type FinalOutcome = (typeof FINAL_OUTCOMES)[number]

/** As often as a poor result may be sent back at most. */
export const REVISIONS_MAX = 10

export const STEP_KINDS = ['message', 'tool_call', 'tool_result', 'update', 'error'] as const
export type StepKind = (typeof STEP_KINDS)[number]

/** A result is kept up to this many bytes of UTF-8. */
export const RESULT_BYTES_MAX = 1_048_576

/** Each text of a prompt is kept up to this many bytes of UTF-8. */
export const PROMPT_BYTES_MAX = 262_144

/** A continuation of more bytes of UTF-8 is not kept: the next attempt then begins again. */
export const CONTINUATION_BYTES_MAX = 8 * 1_048_576

/** Text above this many bytes lives in `bodies`, so that lists never read it. */
export const INLINE_BYTES_MAX = 65_536

export interface Budget {
  maxSteps: number
  maxTokens: number | null
  maxCostUsdMicros: number | null
}

/** Amounts used so far, over all attempts. Money is in millionths of a US dollar. */
export interface Usage {
  inputTokens: number
  outputTokens: number
  costUsdMicros: number
  steps: number
  toolCalls: number
}

/** What an attempt has used since it was last reported: amounts to add. */
export interface UsageAdded extends Omit<Usage, 'steps'> {
  /** Of the input tokens, as far as they are known. */
  cachedInputTokens: number
  /** The model that was used, the last one of several; null for the one that is stored already. */
  model: string | null
}

export const NO_USAGE: UsageAdded = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsdMicros: 0, toolCalls: 0, model: null }

export interface Subtask {
  id: string
  projectId: string
  agentId: string
  parentSessionId: string | null
  task: string
  taskId: string | null
  taskRevision: number | null
  scheduleId: string | null
  subagentName: string | null
  subagentVersion: number | null
  /** The ended subtask of the same sub-agent that this one goes on from. */
  resumeOf: string | null
  background: boolean
  priority: Priority
  status: SubtaskStatus
  finalOutcome: FinalOutcome | null
  /** Null before the end, where there is none, and in lists where it is longer than `INLINE_BYTES_MAX`. */
  result: string | null
  resultTruncated: boolean
  summary: string | null
  error: string | null
  outputs: Record<string, unknown> | null
  requiredOutputs: RequiredOutput[]
  workerId: string | null
  attempt: number
  failures: number
  maxAttempts: number
  timeoutSeconds: number
  budget: Budget
  notify: boolean
  runner: string
  /** Why this runner. Not stored: only the answer that accepts a subtask has it. */
  runnerReason?: string
  /** Tools that the definition lists and the run will not have, a sentence each. Not stored: only the answer that accepts a subtask has them. */
  warnings?: string[]
  model: string | null
  usage: Usage
  /** The subtask before it in its chain, whose result was poor. */
  revisionOf: string | null
  revisionRound: number
  /** How many rounds may follow the first one. */
  maxRevisions: number
  /** The latest of its result. */
  evaluation: EvaluationRef | null
  createdAt: Date
  startedAt: Date | null
  completedAt: Date | null
  /** For how long it was running without a live worker, over all attempts. */
  lostMs: number
  /** The question whose answer it waits for; null in every other status. */
  waitingFor: string | null
  /** For how long it waited for answers. While it waits, the time since `waitingSince` is not part of it. */
  waitedMs: number
  cancelRequestedAt: Date | null
  metadata: Record<string, unknown>
}

/** What there was of a result when an attempt ended without one. */
export interface PartialResult {
  partialResult: string | null
  /** Whether more of it was there than is kept. */
  truncated?: boolean
}

/** How one attempt came to an end, before it is decided what that means for the subtask. */
export type AttemptEnd =
  | { kind: 'completed'; result: string; truncated: boolean; outputs: Record<string, unknown>; summary: string | null }
  | ({ kind: 'blocked'; reason: string } & PartialResult)
  | ({ kind: 'errored'; error: string; retryable: boolean } & PartialResult)
  /** `continuation` is what the next attempt goes on from if the budget is raised. */
  | ({ kind: 'budget_exceeded'; error: string; continuation?: string | null } & PartialResult)
  | ({ kind: 'timed_out' } & PartialResult)
  /** The runner stopped because the subtask was cancelled. */
  | ({ kind: 'cancelled' } & PartialResult)
  /** The run cannot go on without the answer to its question. `continuation` is what its next attempt goes on from, as the runner wrote it. */
  | { kind: 'waiting'; questionId: string; continuation: string | null }
  /** The worker gives its lease back, at shutdown or on request. Never counts as a failure. */
  | { kind: 'released' }
  /**
   * The worker died or its lease lapsed. `ranMs` is how long the attempt ran until the last sign of life of its worker, `lostMs` how long it
   * was lost before this was found out. Never a timeout, however long that was: the time of an attempt counts only while a worker holds it.
   */
  | { kind: 'lost'; ranMs: number; lostMs: number }

/** What is known of a subtask when its attempt ends. */
export interface EndingSubtask {
  failures: number
  maxAttempts: number
  timeoutSeconds: number
  cancelRequested: boolean
  requiredOutputs: RequiredOutput[]
  /** Of the question that an end of kind `waiting` names: null if this subtask has asked no such question. */
  questionStatus?: QuestionStatus | null
}

/** The next state of the subtask. `back` returns it to pending, to be run again. `wait` frees its permit until its question is closed. */
export type EndDecision =
  | {
      kind: 'terminal'
      status: TerminalStatus
      finalOutcome: FinalOutcome
      error: string | null
      result: string | null
      resultTruncated: boolean
      summary: string | null
      outputs: Record<string, unknown> | null
      failures: number
    }
  | { kind: 'back'; event: 'subtask.retrying' | 'subtask.released' | 'subtask.resumed'; failures: number; feedback: string | null; reason: string }
  | { kind: 'wait'; questionId: string }

/**
 * Decides what the end of an attempt means for its subtask: the one place where outcomes are chosen. [011] Worker Pool
 *
 * A valid result wins over a cancellation that came while it was being made; nothing else does. Timeout, budget and cancel are
 * never retried, and neither is a result that only asks; everything else that counts as a failure is, while `failures` stays below
 * `maxAttempts`.
 */
export function decideEnd(subtask: EndingSubtask, end: AttemptEnd): EndDecision {
  const failures = subtask.failures
  if (end.kind === 'completed') {
    const refusal = refuseResult(subtask, end.result, end.outputs)
    if (refusal === null) {
      return {
        kind: 'terminal',
        status: 'completed',
        finalOutcome: 'completed',
        error: null,
        result: end.result,
        resultTruncated: end.truncated,
        summary: end.summary,
        outputs: end.outputs,
        failures,
      }
    }
    const kept = { partialResult: end.result, truncated: end.truncated }
    if (subtask.cancelRequested) return ended(failures, 'cancelled', 'cancelled', null, kept)
    if (refusal.outcome === 'incomplete_blocked') return { ...ended(failures, 'failed', refusal.outcome, refusal.reason, kept), outputs: end.outputs }
    if (failures + 1 < subtask.maxAttempts) {
      return { kind: 'back', event: 'subtask.retrying', failures: failures + 1, feedback: refusal.reason, reason: refusal.reason }
    }
    return { ...ended(failures + 1, 'failed', refusal.outcome, refusal.reason, kept), outputs: end.outputs }
  }
  if (end.kind === 'cancelled' || subtask.cancelRequested) {
    return ended(failures, 'cancelled', 'cancelled', null, 'partialResult' in end ? end : NOTHING)
  }
  switch (end.kind) {
    case 'blocked':
      return ended(failures, 'failed', 'incomplete_blocked', end.reason, end)
    case 'budget_exceeded':
      return ended(failures, 'failed', 'budget_exceeded', end.error, end)
    case 'timed_out':
      return ended(failures, 'failed', 'timed_out', `The attempt took longer than its ${subtask.timeoutSeconds} s.`, end)
    case 'waiting': {
      const { questionId } = end
      if (subtask.questionStatus == null) {
        return ended(failures, 'failed', 'errored', `The run waits for question ${questionId}, which it has not asked.`, NOTHING)
      }
      if (subtask.questionStatus === 'open') return { kind: 'wait', questionId }
      // It was closed before the attempt ended.
      return { kind: 'back', event: 'subtask.resumed', failures, feedback: null, reason: `Question ${questionId} is ${subtask.questionStatus}.` }
    }
    case 'released':
      return { kind: 'back', event: 'subtask.released', failures, feedback: null, reason: 'The worker gave its lease back.' }
    case 'lost': {
      const reason = `The worker was lost before it could finish: the attempt ran for ${toSeconds(end.ranMs)} s, and was lost for ${toSeconds(end.lostMs)} s.`
      if (failures + 1 < subtask.maxAttempts) return { kind: 'back', event: 'subtask.retrying', failures: failures + 1, feedback: null, reason }
      return ended(failures + 1, 'failed', 'worker_lost', `${reason} It was tried ${failures + 1} times.`, NOTHING)
    }
    case 'errored':
      if (end.retryable && failures + 1 < subtask.maxAttempts) {
        return { kind: 'back', event: 'subtask.retrying', failures: failures + 1, feedback: null, reason: end.error }
      }
      return ended(end.retryable ? failures + 1 : failures, 'failed', 'errored', end.error, end)
  }
}

function toSeconds(ms: number): string {
  return (ms / 1_000).toFixed(1)
}

const NOTHING: PartialResult = { partialResult: null }

function ended(failures: number, status: TerminalStatus, finalOutcome: FinalOutcome, error: string | null, { partialResult, truncated }: PartialResult) {
  const result = partialResult === null || partialResult.trim() === '' ? null : partialResult
  const resultTruncated = result !== null && truncated === true
  return { kind: 'terminal', status, finalOutcome, error, result, resultTruncated, summary: null, outputs: null, failures } as const
}

/** Why a result is not accepted, and whether another attempt could deliver a better one. */
interface Refusal {
  outcome: 'validation_failed' | 'incomplete_blocked'
  reason: string
}

/**
 * Why a result is not accepted, or null when it is. Required outputs that are all valid are a result, whatever the text announces or asks;
 * only an empty text is refused with them too.
 */
function refuseResult(subtask: EndingSubtask, result: string, outputs: Record<string, unknown>): Refusal | null {
  const text = classifyResult(result)
  if (text.kind === 'empty') return { outcome: 'validation_failed', reason: 'The result was empty. Deliver the complete result of the task.' }
  const problems = outputProblems(subtask.requiredOutputs, outputs)
  const isDelivered = subtask.requiredOutputs.length > 0 && problems.length === 0
  if (text.kind === 'intentions' && !isDelivered) {
    return { outcome: 'validation_failed', reason: 'The result only announced what would be done. Do the work and deliver its complete result.' }
  }
  if (text.kind === 'question' && !isDelivered) return { outcome: 'incomplete_blocked', reason: text.question }
  if (problems.length === 0) return null
  return { outcome: 'validation_failed', reason: `Required outputs were not accepted: ${problems.map(({ name, reason }) => `${name} ${reason}`).join('; ')}.` }
}
