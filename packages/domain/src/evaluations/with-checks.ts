import type { CheckEnd } from '../checks/check-run.ts'
import { type CriterionVerdict, checkVerdict } from './criteria.ts'
import { closedGates, dimensionsOf, type Evaluation, recommend, unmetMark, warnAgain } from './evaluation.ts'
import { type Mark, scoreOfMarks } from './reflection.ts'
import type { EvaluationRules } from './settings.ts'

/** In characters, of the evidence of a check. */
const EVIDENCE_LENGTH_MAX = 2_000

/**
 * An evaluation with what the checks of its criteria came to, made of what is stored of it. Each check that ran adds its mark to the score: ✅, or
 * the lightest mark of an unmet criterion. One that could not run adds none and leaves its criterion unclear. A required criterion that its
 * check refutes sends the result back, whatever the score.
 *
 * @param rules that the evaluation was made by
 * @param ends by the ids of the criteria
 */
export function withChecks(
  given: Evaluation,
  rules: Pick<EvaluationRules, 'threshold' | 'approveAt' | 'gates'>,
  ends: ReadonlyMap<string, Pick<CheckEnd, 'status' | 'reason' | 'output'>>,
): Evaluation {
  if (given.scored === undefined) return given
  const { weights } = given.scored
  const criteria = given.criteria.map((criterion) => {
    const end = ends.get(criterion.id)
    return criterion.check === undefined || end === undefined ? criterion : verdictOf(criterion, criterion.check, end)
  })
  const added = criteria.flatMap(({ check, verdict }): Mark[] => {
    if (check === undefined || verdict === 'unclear') return []
    return [verdict === 'met' ? { category: 'verified', weight: weights.verified, count: 1 } : unmetMark(null, weights)]
  })
  const marks = [...given.scored.marks, ...added]
  const score = scoreOfMarks(marks)
  const closed = closedGates(rules, criteria, given.closedGates.includes('security'))
  return {
    ...given,
    score,
    dimensions: dimensionsOf(marks),
    criteria,
    closedGates: closed,
    recommendation: isRefuted(criteria) ? 'request_revision' : recommend(score, rules, closed.length > 0),
    warnings: warnAgain(given, { criteria, closedGates: closed, dropped: [] }),
  }
}

/** Whether a check shows that a required criterion is not met. */
export function isRefuted(criteria: readonly Pick<CriterionVerdict, 'required' | 'method' | 'verdict'>[]): boolean {
  return criteria.some(({ required, method, verdict }) => required && method === 'check' && verdict === 'unmet')
}

function verdictOf(criterion: CriterionVerdict, check: string, { status, reason, output }: Pick<CheckEnd, 'status' | 'reason' | 'output'>): CriterionVerdict {
  if (status === 'met') return checkVerdict(criterion, 'met', `The check "${check}" passed.`)
  const sentence = `The check "${check}" ${status === 'unmet' ? 'failed' : 'could not run'}. ${reason ?? ''}`.trim()
  const room = EVIDENCE_LENGTH_MAX - sentence.length - 1
  // Failures are printed last.
  const tail = room <= 0 ? '' : output.slice(-room).toWellFormed().trim()
  return checkVerdict(criterion, status === 'unmet' ? 'unmet' : 'unclear', tail === '' ? sentence : `${sentence}\n${tail}`)
}
