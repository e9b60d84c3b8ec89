import type { Quality } from '../sessions/message.ts'
import type { CriterionVerdict } from './criteria.ts'
import type { Dimension, Evaluation, EvaluationWarning, Recommendation } from './evaluation.ts'
import type { Reflection } from './reflection.ts'
import type { Gate, Trust } from './settings.ts'

/** What an evaluation was made for: a request, a stored message, the result of a subtask, outputs that a task was completed with, or the review of a task. */
export const EVALUATION_ORIGINS = ['request', 'message', 'subtask', 'completion', 'review'] as const
export type EvaluationOrigin = (typeof EVALUATION_ORIGINS)[number]

export const JUDGEMENT_STATUSES = ['pending', 'done', 'failed'] as const
export type JudgementStatus = (typeof JUDGEMENT_STATUSES)[number]

/** What a quality flag is about. */
export const FLAG_SUBJECTS = ['task', 'subtask'] as const
export type FlagSubject = (typeof FLAG_SUBJECTS)[number]

/** What of an evaluation is only read with it. */
export interface EvaluationDetail {
  warnings: EvaluationWarning[]
  reflection: Reflection
  dimensions: Record<Dimension, number | null>
  criteria: CriterionVerdict[]
  /** The bounds that the recommendation was made by. */
  threshold: number
  approveAt: number
  /** The gates that it was made by, and which of them were closed. */
  gates: Readonly<Record<Gate, boolean>>
  closedGates: Gate[]
  /** Absent in evaluations of the first rule, which asked for no evidence. */
  trust?: Trust
  /** Present where checks decide criteria. */
  scored?: NonNullable<Evaluation['scored']>
  /** Who decided what; only of a review. Its decision is the recommendation. */
  review?: { note: string | null; author: QualityFlag['author'] }
}

/** Who judged, and what that took. */
export interface EvaluationJudge {
  model: string
  inputTokens: number
  outputTokens: number
  costUsdMicros: number
}

/** An evaluation as others point to it. */
export interface EvaluationRef {
  id: string
  score: number | null
  recommendation: Recommendation
}

/** An evaluation as it is stored. */
export interface EvaluationRecord extends EvaluationRef, Pick<Evaluation, 'criteriaRevision'> {
  projectId: string
  /** The rule that it was made by: `RULE_VERSION` of its time. */
  ruleVersion: number
  origin: EvaluationOrigin
  taskId: string | null
  subtaskId: string | null
  messageId: string | null
  sessionId: string | null
  subagentName: string | null
  detail: EvaluationDetail
  /** Set where the output is poor, in its place. */
  summary: string | null
  /** The evaluation of the same output that this one adds a judge's verdicts to. */
  judgeOf: string | null
  /** The first evaluation of the output that a person reviewed. */
  reviewOf: string | null
  judge: EvaluationJudge | null
  createdAt: Date
}

/** The quality flag of a task or a subtask; the latest one counts. [D2] flag_sequence_quality */
export interface QualityFlag {
  subject: { kind: FlagSubject; id: string }
  quality: Quality
  tags: string[]
  /** Whether it is an example to learn from. */
  trainingCandidate: boolean
  /** The latest evaluation of it when it was flagged. */
  evaluationId: string | null
  author: { kind: string; id: string }
  createdAt: Date
  updatedAt: Date
}

/** Whether work of a quality is a training example. */
export const TRAINING_CANDIDACY = { excellent: true, good: true, needs_work: false, bad: false } as const satisfies Record<Quality, boolean>
