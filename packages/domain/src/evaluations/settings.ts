import { z } from 'zod'
import { DomainError } from '../core/errors.ts'
import { DEFAULT_WEIGHTS, WEIGHTED_CATEGORIES, type Weights } from './reflection.ts'

/** What keeps a result from being approved, whatever its score. */
export const GATES = ['security', 'required_criteria', 'strict_constraints'] as const
export type Gate = (typeof GATES)[number]

/** What `review: auto` completes a task on: evidence for each required criterion, or the agent's own word as well. */
export const TRUSTS = ['evidence', 'self_report'] as const
export type Trust = (typeof TRUSTS)[number]

/** By what outputs are judged. */
export interface EvaluationRules {
  weights: Weights
  /** From this score on a result is approved, unless a gate holds it back. */
  approveAt: number
  /** Below this score it has to be revised. Never more than `approveAt`. */
  threshold: number
  gates: Readonly<Record<Gate, boolean>>
  trust: Trust
}

/** [D2] Recommendation Logic */
export const DEFAULT_EVALUATION_RULES: EvaluationRules = {
  weights: DEFAULT_WEIGHTS,
  approveAt: 0.8,
  threshold: 0.6,
  gates: { security: true, required_criteria: true, strict_constraints: true },
  trust: 'evidence',
}

const fraction = z.number().min(0).max(1)
const MODEL_LENGTH_MAX = 128

/** Which model judges. */
export const judgeSettingsSchema = z.strictObject({ model: z.string().min(1).max(MODEL_LENGTH_MAX).optional() })

/** `evaluation` in the settings of a project, as it is stored and sent. Absent fields are those of `DEFAULT_EVALUATION_RULES`. */
export const evaluationSettingsSchema = z
  .strictObject({
    weights: z
      .partialRecord(z.enum(WEIGHTED_CATEGORIES), z.number().min(-1).max(1))
      .optional()
      .describe('What an item of each category adds, from -1 to 1; 0: it does not count.'),
    approve_at: fraction.optional().describe('From this score on a result is approved (0.8).'),
    threshold: fraction.optional().describe('Below this score a result has to be revised (0.6); at most approve_at.'),
    gates: z
      .strictObject({ security: z.boolean().optional(), required_criteria: z.boolean().optional(), strict_constraints: z.boolean().optional() })
      .optional()
      .describe(
        'What caps a recommendation at review: a security item, a required criterion that is not met, a strict constraint that is not shown to be kept.',
      ),
    trust: z
      .enum(TRUSTS)
      .optional()
      .describe(
        'What `review: auto` completes a task on. evidence (the default): for each required criterion. self_report: the word of the agent is enough, except for strict constraints.',
      ),
    judge: z.union([z.boolean(), judgeSettingsSchema]).optional().describe('Whether a model gives verdicts as well (false), and which.'),
  })
  .refine(({ approve_at = DEFAULT_EVALUATION_RULES.approveAt, threshold }) => threshold === undefined || threshold <= approve_at, {
    path: ['threshold'],
    message: `must not exceed approve_at (${DEFAULT_EVALUATION_RULES.approveAt} where that is absent)`,
  })

export type EvaluationSettings = z.infer<typeof evaluationSettingsSchema>

/**
 * The rules that hold for one evaluation.
 *
 * @param threshold of the request; it moves the lower bound only
 * @throws DomainError `validation_failed` for a threshold that is no fraction, or above the score from which results are approved
 */
export function evaluationRules(settings: EvaluationSettings = {}, threshold?: number): EvaluationRules {
  const { weights, approveAt: approveAtDefault, threshold: thresholdDefault, gates, trust } = DEFAULT_EVALUATION_RULES
  const approveAt = settings.approve_at ?? approveAtDefault
  if (threshold !== undefined && !(threshold >= 0 && threshold <= approveAt)) throw thresholdRefused(threshold, approveAt)
  return {
    weights: withGiven(weights, settings.weights),
    approveAt,
    threshold: threshold ?? settings.threshold ?? Math.min(thresholdDefault, approveAt),
    gates: withGiven(gates, settings.gates),
    trust: settings.trust ?? trust,
  }
}

/** Whether outputs of a project are given to a judge as well, and to which model; a model of null is the judge's default. Null: they are not. */
export function judgeOf({ judge = false }: EvaluationSettings = {}): { model: string | null } | null {
  if (judge === false) return null
  return { model: judge === true ? null : (judge.model ?? null) }
}

/** Defaults, with what is given in their place. */
function withGiven<Values extends object>(defaults: Values, given: { [Key in keyof Values]?: Values[Key] | undefined } = {}): Values {
  return { ...defaults, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) }
}

function thresholdRefused(value: number, approveAt: number): DomainError {
  const reason = `must be from 0 to ${approveAt}, the score from which results are approved`
  return new DomainError('validation_failed', `The request has a problem: threshold ${reason}.`, {
    errors: [{ pointer: '/threshold', field: 'threshold', reason, value }],
  })
}
