import type { RequiredOutput } from '@muster/domain'
import { describeFailure } from '../ai/failure.ts'
import type { Redact } from '../ai/redact.ts'
import { redactJson } from '../ai/redact.ts'
import { describeEnding, type Ending, keptResult, note } from '../command/outcome.ts'
import type { RunOutcome } from '../port.ts'
import type { ResultMessage } from './messages.ts'
import type { Session } from './session.ts'

/** What there is to judge a run by when the program has ended. */
export interface Evidence {
  ending: Ending
  session: Pick<Session, 'result' | 'exceeded' | 'refusedStatus' | 'said'>
  /** The last of its standard error. */
  errorTail: string
  requiredOutputs: readonly RequiredOutput[]
  /** As it was asked for; null for the program's own default. */
  model: string | null
  redact: Redact
}

/**
 * What a run comes to. A stop wins over everything, then what was found out on the way (a refused key, a budget), then the program's own result.
 * Without a result it has crashed.
 */
export function decideOutcome(evidence: Evidence): RunOutcome {
  const { ending, session, redact } = evidence
  const partial = session.said.trim() === '' ? {} : { partialResult: keptResult(redact(session.said)).result }
  if (ending.endedBy === 'stop') return { kind: 'stopped', ...partial }
  if (session.refusedStatus !== null) return { ...failureOf(evidence, session.refusedStatus, ''), ...partial }
  if (session.exceeded !== null) return { kind: 'budget_exceeded', error: session.exceeded, ...partial }
  const { result } = session
  if (result === null) return { ...crashOf(evidence), ...partial }
  if (result.subtype === 'error_max_turns') return { kind: 'budget_exceeded', error: "The sub-agent's turns (maxTurns) are used up.", ...partial }
  if (result.subtype === 'error_max_budget_usd') {
    return { kind: 'budget_exceeded', error: 'The budget in dollars (max_cost_usd) is used up.', ...partial }
  }
  if (result.stop_reason === 'refusal') return { kind: 'blocked', reason: note(redact(`The model refused the task. ${session.said}`.trim())), ...partial }
  if (result.subtype !== 'success') {
    const reasons = (result.errors ?? []).join('\n') || result.subtype
    return { kind: 'errored', error: note(redact(`Claude Code gave up: ${reasons}`)), retryable: true, ...partial }
  }
  if (result.is_error) return { ...failureOf(evidence, result.api_error_status ?? null, result.result ?? ''), ...partial }
  // One that crashes after its result may not have finished what the result promises.
  if (ending.endedBy === null && ending.code !== 0) return { ...crashOf(evidence), ...partial }
  return completed(result, evidence)
}

/** The provider's refusal, in the words of the runner `ai`. */
function failureOf({ model, redact }: Evidence, statusCode: number | null, message: string): Extract<RunOutcome, { kind: 'errored' }> {
  const choice = { provider: 'anthropic', modelId: model ?? 'the default model', price: null } as const
  const failure = describeFailure({ message, ...(statusCode !== null && { statusCode }) }, choice, redact)
  return { kind: 'errored', error: note(failure.message), retryable: failure.retryable }
}

/** What an older program says of an argument that it does not know. */
const UNKNOWN_OPTION = /^error: (unknown option|option '[^']*' argument)/m

function crashOf({ ending, errorTail, redact }: Evidence): Extract<RunOutcome, { kind: 'errored' }> {
  const tail = redact(errorTail)
  if (UNKNOWN_OPTION.test(tail)) {
    return {
      kind: 'errored',
      error: `This version of Claude Code is too old, update it, or name another in CLAUDE_CODE_PATH. It says:\n${tail}`,
      retryable: false,
    }
  }
  return { kind: 'errored', error: `${describeEnding(ending)} without a result${tail === '' ? '.' : `:\n${tail}`}`, retryable: true }
}

function completed({ result = '', structured_output: structured }: ResultMessage, { requiredOutputs, redact }: Evidence): RunOutcome {
  const answer = requiredOutputs.length > 0 && isRecord(structured) ? structured : null
  const outputs = answer !== null && isRecord(answer.outputs) ? (redactJson(answer.outputs, redact) as Record<string, unknown>) : {}
  const text = answer !== null && typeof answer.result === 'string' ? answer.result : result
  const kept = keptResult(redact(text))
  return { kind: 'completed', result: kept.result, ...(kept.isCut && { truncated: true }), ...(Object.keys(outputs).length > 0 && { outputs }) }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
