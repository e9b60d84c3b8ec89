import { bodies, type EndingRow, type LockedTask, type ReturnRow, type settle, type TerminalRow } from '@muster/db'
import {
  decideEnd,
  type EndDecision,
  isTerminalTask,
  type NewEvent,
  type NplBlock,
  PRIORITY_RANKS,
  type Recommendation,
  subtaskSessionId,
} from '@muster/domain'
import { evaluateEnd, evaluationEvent, type MadeEvaluation, type RulesOfEnds } from '../evaluations/evaluate-output.ts'
import { subtaskEvent } from '../events/event-data.ts'
import { saidOfTask } from '../tasks/check-in.ts'
import { EVALUATOR } from '../tasks/review-task.ts'
import type { PreparedEnd } from './prepare-ends.ts'

/** What the ends of a batch are decided by, all of it read under the locks of their tasks and rows. */
export interface EndFacts {
  projectId: string
  /** By their ids. */
  tasks: ReadonlyMap<string, LockedTask>
  rules: RulesOfEnds
  /** Target latencies by subtask, as its last event shows them. */
  targets: ReadonlyMap<string, Record<string, number>>
  ageingSeconds: number
  newId: () => string
}

/** Another subtask of a chain, after a poor result. */
export interface RevisionRoundPlan {
  row: settle.RevisionRound
  created: NewEvent
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
  events: NewEvent[]
}

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

const NO_USAGE = { inputTokens: 0, outputTokens: 0, costUsdMicros: 0, toolCalls: 0 }

/** Decides what the reported end of a locked row means. Pure: reads nothing and writes nothing. */
export function decideRunEnd(facts: EndFacts, row: EndingRow, reported: Pick<PreparedEnd, 'end' | 'usage' | 'blocks'>): ReturnPlan | TerminalPlan {
  const held = heldTask(facts.tasks, row)
  const accepted = requiredOutputsNow(held, row)
  const decision = decideEnd({ ...row, requiredOutputs: accepted }, reported.end)
  return decision.kind === 'back' ? planReturn(facts, row, reported, decision) : planTerminal(facts, row, reported, decision, { held, accepted })
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
  const error = decision.event === 'subtask.released' ? null : decision.reason
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
      usage: { ...NO_USAGE, ...usage },
    },
    failure: end.kind === 'errored' ? error : null,
    events: [subtaskEvent(decision.event, row, workerOf(row), { attempt: row.attempt, failures: decision.failures, reason: decision.reason })],
  }
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
  const evaluation = decision.status === 'completed' ? evaluateEnd(facts, projectId, facts.rules, row, { result: result ?? '', blocks, accepted }) : null
  const effect = decideTaskEffect(facts, row, decision, held, evaluation)
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
      inboxId: row.parentSessionId === null || round !== null ? null : newId(),
    },
    body,
    evaluation,
    checkIn: evaluation === null ? null : checkInOf(held, blocks),
    effect,
    events: terminalEvents(facts, row, decision, evaluation, round),
  }
}

function terminalEvents(
  { targets }: EndFacts,
  row: EndingRow,
  decision: Extract<EndDecision, { kind: 'terminal' }>,
  evaluation: MadeEvaluation | null,
  round: RevisionRoundPlan | null,
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
    ...(row.subagentName === null ? {} : { subagent: { name: row.subagentName, version: row.subagentVersion } }),
    ...targets.get(row.id),
    ...(evaluation === null ? {} : { evaluation: { id: evaluation.row.id, score: evaluation.row.score, recommendation: evaluation.row.recommendation } }),
    ...(round === null ? {} : { revised_by: round.row.id }),
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
): TaskEffect {
  if (held?.status === 'revision_requested') return { kind: 'leave', task: held }
  if (held?.status !== 'in_progress') return { kind: 'none' }
  if (evaluation === null) {
    const reason = end.status === 'cancelled' ? 'The subtask that ran it was cancelled.' : `The subtask that ran it ended ${end.finalOutcome}.`
    return { kind: 'return', task: held, lastError: end.error ?? reason }
  }
  if (isSentBack(row, evaluation.row.recommendation)) return { kind: 'revise', task: held, round: planRevisionRound(facts, held, row), evaluation }
  return { kind: 'complete', task: held, evaluation, outputs: end.outputs ?? {}, summary: end.summary }
}

/** Whether a revision round follows: the result is poor, rounds remain, and no cancellation was requested. */
export function isSentBack(row: Pick<EndingRow, 'cancelRequested' | 'revisionRound' | 'maxRevisions'>, recommendation: Recommendation): boolean {
  return recommendation === 'request_revision' && !row.cancelRequested && row.revisionRound < row.maxRevisions
}

function planRevisionRound({ newId, ageingSeconds }: EndFacts, task: LockedTask, ended: EndingRow): RevisionRoundPlan {
  const id = newId()
  return {
    row: { id, revisionOf: ended.id, taskRevision: task.revision, rankSeconds: PRIORITY_RANKS[ended.priority] * ageingSeconds },
    created: subtaskEvent('subtask.created', { ...ended, id }, EVALUATOR, {
      priority: ended.priority,
      runner: ended.runner,
      task_id: task.id,
      revision_of: ended.id,
      revision_round: ended.revisionRound + 1,
      ...(ended.subagentName === null ? {} : { subagent: { name: ended.subagentName, version: ended.subagentVersion } }),
    }),
  }
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
