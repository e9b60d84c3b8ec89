import { bodies, type EndingRow, type LockedTask, type Question, type ReturnRow, type settle, type TerminalRow } from '@muster/db'
import { decideEnd, type EndDecision, isChecked, isTerminalTask, type NewEvent, NO_USAGE, type NplBlock, subtaskSessionId } from '@muster/domain'
import { evaluateEnd, evaluationEvent, type MadeEvaluation, type RulesOfEnds } from '../evaluations/evaluate-output.ts'
import { subtaskEvent } from '../events/event-data.ts'
import { saidOfTask } from '../tasks/check-in.ts'
import { budgetOfRound } from './chain-budget.ts'
import { writeContinuation } from './continuation.ts'
import type { PreparedEnd } from './prepare-ends.ts'
import { isSentBack, mayBeSentBack, planRevisionRound, type RevisionRoundPlan } from './revision-round.ts'

/** What the ends of a batch are decided by, all of it read under the locks of their tasks and rows. */
export interface EndFacts {
  projectId: string
  /** By their ids. */
  tasks: ReadonlyMap<string, LockedTask>
  rules: RulesOfEnds
  /** Target latencies by subtask, as its last event shows them. */
  targets: ReadonlyMap<string, Record<string, number>>
  /** The questions that ends of kind `waiting` name, by their ids. */
  questions: ReadonlyMap<string, Pick<Question, 'status' | 'subtaskId'>>
  ageingSeconds: number
  newId: () => string
}

/** The effect of an end on the task that its subtask held. */
export type TaskEffect =
  | { kind: 'none' }
  | { kind: 'revise'; task: LockedTask; round: RevisionRoundPlan; evaluation: MadeEvaluation }
  | { kind: 'complete'; task: LockedTask; evaluation: MadeEvaluation; outputs: Record<string, unknown>; summary: string | null }
  | { kind: 'return'; task: LockedTask; lastError: string }
  /** Sent back for a revision during the run, which never received the request. */
  | { kind: 'leave'; task: LockedTask }

/** The subtask returns to pending. */
export interface ReturnPlan {
  kind: 'return'
  row: EndingRow
  write: ReturnRow
  /** The text of a failure, to find guides for the next attempt; null if the attempt did not fail. */
  failure: string | null
  /** A continuation that is stored apart from its row. */
  body: { id: string; text: string } | null
  events: NewEvent[]
}

/** The subtask waits for the answer to its question. */
export interface WaitPlan {
  kind: 'wait'
  row: EndingRow
  write: settle.WaitRow
  body: { id: string; text: string } | null
  events: NewEvent[]
}

/** What the end of an attempt means. */
export type EndPlan = ReturnPlan | WaitPlan | TerminalPlan

/** The subtask ends. */
export interface TerminalPlan {
  kind: 'terminal'
  row: EndingRow
  write: TerminalRow
  /** A result that is stored apart from its row. */
  body: { id: string; text: string } | null
  evaluation: MadeEvaluation | null
  checkIn: { task: LockedTask; blocks: NonNullable<ReturnType<typeof saidOfTask>>['blocks']; text: string } | null
  effect: TaskEffect
  events: NewEvent[]
}

/** Decides what the reported end of a locked row means. Pure: reads nothing and writes nothing. */
export function decideRunEnd(facts: EndFacts, row: EndingRow, reported: Pick<PreparedEnd, 'end' | 'usage' | 'blocks'>): EndPlan {
  const held = heldTask(facts.tasks, row)
  const accepted = requiredOutputsNow(held, row)
  const decision = decideEnd({ ...row, requiredOutputs: accepted, questionStatus: questionStatus(facts, row, reported.end) }, reported.end)
  switch (decision.kind) {
    case 'back':
      return planReturn(facts, row, reported, decision)
    case 'wait':
      return planWait(facts, row, reported, decision.questionId)
    case 'terminal':
      return planTerminal(facts, row, reported, decision, { held, accepted })
  }
}

/** Of the question that the run waits for, if the run has asked it. */
function questionStatus({ questions }: EndFacts, row: EndingRow, end: PreparedEnd['end']): Question['status'] | null {
  const question = end.kind === 'waiting' ? questions.get(end.questionId) : undefined
  return question?.subtaskId === row.id ? question.status : null
}

/** The actor of everything that the end of a run causes. */
export function workerOf(row: Pick<EndingRow, 'workerId'>): NewEvent['actor'] {
  return { kind: 'worker', id: row.workerId }
}

function planReturn(
  { newId }: EndFacts,
  row: EndingRow,
  { end, usage }: Pick<PreparedEnd, 'end' | 'usage'>,
  decision: Extract<EndDecision, { kind: 'back' }>,
): ReturnPlan {
  const error = decision.event === 'subtask.retrying' ? decision.reason : null
  const body = continuationOf(row, end, newId)
  return {
    kind: 'return',
    row,
    write: {
      id: row.id,
      attempt: row.attempt,
      failures: decision.failures,
      feedback: decision.feedback,
      outcome: end.kind,
      error,
      lostMs: end.kind === 'lost' ? end.lostMs : 0,
      jobId: newId(),
      // An attempt that failed is repeated from where it began.
      continuationBodyId: end.kind === 'waiting' ? (body?.id ?? null) : row.continuationBodyId,
      usage: { ...NO_USAGE, ...usage },
    },
    body,
    failure: end.kind === 'errored' ? error : null,
    events: [
      // A wait that is over at once is announced like any other.
      ...(end.kind === 'waiting' ? [waitingEvent(row, end.questionId)] : []),
      subtaskEvent(decision.event, row, workerOf(row), {
        attempt: row.attempt,
        failures: decision.failures,
        ...(end.kind === 'waiting' ? { question_id: end.questionId } : {}),
        reason: decision.reason,
      }),
    ],
  }
}

function planWait({ newId }: EndFacts, row: EndingRow, { end, usage }: Pick<PreparedEnd, 'end' | 'usage'>, questionId: string): WaitPlan {
  const body = continuationOf(row, end, newId)
  return {
    kind: 'wait',
    row,
    write: { id: row.id, attempt: row.attempt, waitingFor: questionId, continuationBodyId: body?.id ?? null, lostMs: 0, usage: { ...NO_USAGE, ...usage } },
    body,
    events: [waitingEvent(row, questionId)],
  }
}

function waitingEvent(row: EndingRow, questionId: string): NewEvent {
  return subtaskEvent('subtask.waiting', row, workerOf(row), { attempt: row.attempt, question_id: questionId })
}

/** What the next attempt goes on from, to be stored. */
function continuationOf({ attempt }: EndingRow, end: PreparedEnd['end'], newId: () => string): { id: string; text: string } | null {
  return end.kind === 'waiting' ? { id: newId(), text: writeContinuation({ attempt, state: end.continuation }) } : null
}

function planTerminal(
  facts: EndFacts,
  row: EndingRow,
  { end, usage, blocks }: Pick<PreparedEnd, 'end' | 'usage' | 'blocks'>,
  decision: Extract<EndDecision, { kind: 'terminal' }>,
  { held, accepted }: { held: LockedTask | null; accepted: EndingRow['requiredOutputs'] },
): TerminalPlan {
  const { projectId, newId } = facts
  const { result } = decision
  const made = decision.status === 'completed' ? evaluateEnd(facts, projectId, facts.rules, row, { result: result ?? '', blocks, accepted }) : null
  const waitsForChecks = held?.status === 'in_progress' && made?.evaluation.criteria.some(isChecked) === true
  // A judge is asked once the checks have ended.
  const evaluation = waitsForChecks && made !== null ? { ...made, judge: null } : made
  const effect = decideTaskEffect(facts, row, decision, held, evaluation, usage)
  const round = effect.kind === 'revise' ? effect.round : null
  const body = result !== null && bodies.needsBody(result) ? { id: newId(), text: result } : null
  return {
    kind: 'terminal',
    row,
    write: {
      id: row.id,
      attempt: row.attempt,
      status: decision.status,
      finalOutcome: decision.finalOutcome,
      result: body === null ? result : null,
      resultBodyId: body?.id ?? null,
      resultTruncated: decision.resultTruncated,
      summary: decision.summary,
      error: decision.error,
      outputs: decision.outputs,
      failures: decision.failures,
      lostMs: end.kind === 'lost' ? end.lostMs : 0,
      usage: { ...NO_USAGE, ...usage },
      // If another revision round may follow the checks, their end inserts it, or that of the revision round.
      inboxId: row.parentSessionId === null || round !== null || (waitsForChecks && mayBeSentBack(row)) ? null : newId(),
    },
    body,
    evaluation,
    checkIn: evaluation === null ? null : checkInOf(held, blocks),
    effect,
    events: terminalEvents(facts, row, decision, evaluation, round, waitsForChecks),
  }
}

function terminalEvents(
  { targets }: EndFacts,
  row: EndingRow,
  decision: Extract<EndDecision, { kind: 'terminal' }>,
  evaluation: MadeEvaluation | null,
  round: RevisionRoundPlan | null,
  waitsForChecks: boolean,
): NewEvent[] {
  const actor = workerOf(row)
  const ended = subtaskEvent(`subtask.${decision.status}`, row, actor, {
    attempt: row.attempt,
    status: decision.status,
    final_outcome: decision.finalOutcome,
    result: decision.result,
    summary: decision.summary,
    error: decision.error,
    task_id: row.taskId,
    schedule_id: row.scheduleId,
    ...(row.notify ? {} : { notify: false }),
    ...(row.subagentName === null ? {} : { subagent: { name: row.subagentName, version: row.subagentVersion } }),
    ...targets.get(row.id),
    ...(evaluation === null ? {} : { evaluation: { id: evaluation.row.id, score: evaluation.row.score, recommendation: evaluation.row.recommendation } }),
    ...(round === null ? {} : { revised_by: round.row.id }),
    ...(waitsForChecks ? { awaits_checks: true } : {}),
  })
  return [...(evaluation === null ? [] : [evaluationEvent(evaluation.row, actor)]), ended, ...(round === null ? [] : [round.created])]
}

function checkInOf(held: LockedTask | null, blocks: readonly NplBlock[]): TerminalPlan['checkIn'] {
  if (held === null || isTerminalTask(held.status)) return null
  const said = saidOfTask(held.id, blocks)
  return said === null ? null : { task: held, blocks: said.blocks, text: said.text }
}

function decideTaskEffect(
  facts: EndFacts,
  row: EndingRow,
  end: Extract<EndDecision, { kind: 'terminal' }>,
  held: LockedTask | null,
  evaluation: MadeEvaluation | null,
  usage: PreparedEnd['usage'],
): TaskEffect {
  if (held?.status === 'revision_requested') return { kind: 'leave', task: held }
  if (held?.status !== 'in_progress') return { kind: 'none' }
  if (evaluation === null) {
    const reason = end.status === 'cancelled' ? 'The subtask that ran it was cancelled.' : `The subtask that ran it ended ${end.finalOutcome}.`
    return { kind: 'return', task: held, lastError: end.error ?? reason }
  }
  const isFollowed = !evaluation.evaluation.criteria.some(isChecked) && isSentBack(row, evaluation.row.recommendation)
  const budget = isFollowed ? budgetOfRound(held, row, usage) : null
  if (budget !== null) return { kind: 'revise', task: held, round: planRevisionRound(facts, held, row, budget), evaluation }
  return { kind: 'complete', task: held, evaluation, outputs: end.outputs ?? {}, summary: end.summary }
}

/** The task that the subtask runs; null if the subtask only mentions one, or if another holder has it now. */
function heldTask(tasks: ReadonlyMap<string, LockedTask>, row: EndingRow): LockedTask | null {
  const task = row.taskId === null ? undefined : tasks.get(row.taskId)
  return task?.subtaskId === row.id && task.subagentSessionId === subtaskSessionId(row.id) ? task : null
}

/**
 * The outputs that the result must contain: for a dispatched task those of its current revision; none if the run has submitted them
 * itself, with its own credential.
 */
function requiredOutputsNow(task: LockedTask | null, row: EndingRow): EndingRow['requiredOutputs'] {
  if (task?.status === 'in_progress') return task.requiredOutputs
  return task?.status === 'completed' || task?.status === 'in_review' ? [] : row.requiredOutputs
}
