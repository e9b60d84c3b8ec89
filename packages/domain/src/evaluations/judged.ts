import { type JudgeVerdict, sortJudgeVerdicts, verdictWithJudge } from './criteria.ts'
import { closedGates, criterionWarnings, droppedWarnings, type Evaluation, gateWarnings, recommend } from './evaluation.ts'
import { isOutputCriterion } from './outputs.ts'
import type { EvaluationRules } from './settings.ts'

/**
 * An evaluation with the verdicts of a judge, as it would have been had the judge been asked at first: made of what is stored of it, so
 * that later check-ins, rules and briefs have no influence on it. The score stays. Takes time in proportion to the output.
 *
 * @param rules that the evaluation was made by
 * @param output that it is about
 */
export function withJudge(
  given: Evaluation,
  rules: Pick<EvaluationRules, 'threshold' | 'approveAt' | 'gates'>,
  output: string,
  verdicts: readonly JudgeVerdict[],
): Evaluation {
  const asked = given.criteria.filter((criterion) => !isOutputCriterion(criterion))
  const { kept, dropped } = sortJudgeVerdicts(output, asked, verdicts)
  const byCriterion = Map.groupBy(kept, ({ criterionId }) => criterionId)
  const criteria = given.criteria.map((criterion) => verdictWithJudge(criterion, byCriterion.get(criterion.id) ?? []))
  const closed = closedGates(rules, criteria, given.closedGates.includes('security'))
  const selfReported = new Set(criteria.filter(({ method, verdict }) => method === 'check_in' && verdict !== 'unmet').map(({ id }) => id))
  const old = (code: Evaluation['warnings'][number]['code']) => given.warnings.filter((warning) => warning.code === code)
  return {
    ...given,
    criteria,
    closedGates: closed,
    recommendation: recommend(given.score, rules, closed.length > 0),
    warnings: [
      ...gateWarnings(closed),
      ...criterionWarnings(criteria),
      ...old('negative_item'),
      ...old('unmatched'),
      ...droppedWarnings(dropped),
      ...old('self_report_only').filter(({ criterionId }) => criterionId === undefined || selfReported.has(criterionId)),
    ],
  }
}
