import type { NewEvaluationRow } from '@muster/db'
import { type EvaluationInput, type EvaluationJudge, type EvaluationOrigin, type EvaluationRules, evaluate, type NewEvent, summarize } from '@muster/domain'

/** What an output is of. */
export interface EvaluatedSubject {
  projectId: string
  origin: EvaluationOrigin
  taskId: string | null
  subtaskId: string | null
  messageId: string | null
  sessionId: string | null
  subagentName: string | null
}

/** Judges an output, and makes of it the row that is to be stored. Reads and writes nothing. */
export function evaluateOutput(
  id: string,
  subject: EvaluatedSubject,
  input: EvaluationInput & { settings: EvaluationRules },
  judged: { judgeOf: string; judge: EvaluationJudge } | null = null,
): { evaluation: ReturnType<typeof evaluate>; row: NewEvaluationRow } {
  const evaluation = evaluate(input)
  const { score, recommendation, criteriaRevision, warnings, reflection, dimensions, criteria, closedGates } = evaluation
  const { threshold, approveAt, gates } = input.settings
  return {
    evaluation,
    row: {
      ...subject,
      id,
      score,
      recommendation,
      criteriaRevision,
      detail: { warnings, reflection, dimensions, criteria, threshold, approveAt, gates, closedGates },
      summary: recommendation === 'request_revision' ? summarize(evaluation, input.output) : null,
      judgeOf: judged?.judgeOf ?? null,
      judge: judged?.judge ?? null,
      output: null,
      outputBodyId: null,
    },
  }
}

/** What is announced of a new evaluation. */
export function evaluationEvent(row: NewEvaluationRow, actor: NewEvent['actor']): NewEvent {
  return {
    type: 'evaluation.created',
    subject: { kind: 'evaluation', id: row.id },
    data: {
      evaluation_id: row.id,
      origin: row.origin,
      task_id: row.taskId,
      subtask_id: row.subtaskId,
      message_id: row.messageId,
      session_id: row.sessionId,
      score: row.score,
      recommendation: row.recommendation,
      criteria_revision: row.criteriaRevision,
      judge_of: row.judgeOf,
    },
    actor: { kind: actor.kind, id: actor.id },
  }
}
