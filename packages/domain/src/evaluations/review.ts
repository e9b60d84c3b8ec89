import { DomainError, type FieldProblem } from '../core/errors.ts'
import { neutralised, oneLine, unbracketed } from '../core/fenced-text.ts'
import { cutToCodePoints } from '../core/text.ts'
import type { Criterion } from '../tasks/task.ts'
import { type CriterionVerdict, isOutputCriterion, type JudgeVerdict, verdictOn } from './criteria.ts'
import { closedGates, type Evaluation, warnAgain } from './evaluation.ts'
import type { EvaluationRules } from './settings.ts'

export const REVIEW_DECISIONS = ['approve', 'request_revision'] as const
export type ReviewDecision = (typeof REVIEW_DECISIONS)[number]

/** What a person says of one criterion. */
export interface PersonVerdict {
  criterionId: string
  verdict: JudgeVerdict['verdict']
  comment: string | null
}

/**
 * The verdicts of a review, with the ids as the task has them.
 *
 * @throws DomainError `validation_failed` for a criterion that the task does not have, or that is named twice
 */
export function requireOwnCriteria(criteria: readonly Pick<Criterion, 'id'>[], said: readonly PersonVerdict[]): PersonVerdict[] {
  const own = said.map((verdict) => ({ ...verdict, criterionId: verdict.criterionId.toLowerCase() }))
  const known = new Set(criteria.map(({ id }) => id))
  const errors = own.flatMap(({ criterionId }, at): FieldProblem[] => {
    const reason = known.has(criterionId)
      ? own.findIndex((other) => other.criterionId === criterionId) === at
        ? null
        : 'is named twice'
      : 'is no criterion of the current brief of this task'
    return reason === null ? [] : [{ pointer: `/criteria/${at}/criterion_id`, field: `criteria[${at}].criterion_id`, reason, value: criterionId }]
  })
  const [first] = errors
  if (first !== undefined) throw new DomainError('validation_failed', `The request has a problem: ${first.field} ${first.reason}.`, { errors })
  return own
}

/**
 * An evaluation as a review leaves it: by the criteria of the current brief, each with the verdict of the person who named it, otherwise with the one it
 * had under the same text. A person has the last word, also against "unmet". The score stays; the recommendation is the decision.
 *
 * @param rules that the evaluation was made by
 */
export function withReview(
  given: Evaluation,
  rules: Pick<EvaluationRules, 'gates'>,
  brief: { criteria: readonly Criterion[]; revision: number },
  { decision, said }: { decision: ReviewDecision; said: readonly PersonVerdict[] },
): Evaluation {
  const before = new Map(given.criteria.map((criterion) => [criterion.id, criterion]))
  const named = new Map(said.map((verdict) => [verdict.criterionId, verdict]))
  const criteria = [
    ...brief.criteria.map((criterion): CriterionVerdict => {
      const earlier = before.get(criterion.id)
      const known = earlier?.text === criterion.text ? earlier : verdictOn(criterion, { schema: [], judge: [], report: null })
      const own = named.get(criterion.id)
      const { id, text, source, required } = criterion
      const base = { ...known, id, text, source, required }
      return own === undefined ? base : { ...base, verdict: own.verdict, evidence: own.comment, method: 'person' }
    }),
    ...given.criteria.filter(isOutputCriterion),
  ]
  const closed = closedGates(rules, criteria, given.closedGates.includes('security'))
  return {
    ...given,
    criteria,
    criteriaRevision: brief.revision,
    closedGates: closed,
    recommendation: decision,
    warnings: warnAgain(given, { criteria, closedGates: closed, dropped: [] }),
  }
}

/** The states of a task's criteria once a person has spoken. */
export function statesAfterReview(criteria: readonly Criterion[], said: readonly PersonVerdict[]): Criterion[] {
  const named = new Map(said.map(({ criterionId, verdict }) => [criterionId, verdict]))
  return criteria.map((criterion) => ({ ...criterion, state: named.get(criterion.id) ?? criterion.state }))
}

/** In characters: of an update, and of a line of it. */
const REQUEST_LENGTH_MAX = 20_000
const LINE_LENGTH_MAX = 600

/** What a request for revision says: the note, and which criteria the person found not met. */
export function reviewRequest(note: string, criteria: readonly Pick<Criterion, 'id' | 'text'>[], said: readonly PersonVerdict[]): string {
  const texts = new Map(criteria.map(({ id, text }) => [id, text]))
  const lines = said
    .filter(({ verdict }) => verdict !== 'met')
    .map(({ criterionId, verdict, comment }) => {
      const text = cutToCodePoints(neutralised(unbracketed(oneLine(texts.get(criterionId) ?? ''))), LINE_LENGTH_MAX / 2)
      return cutToCodePoints(`- ${verdict}: ${text} (${criterionId})${comment === null ? '' : `: ${oneLine(comment)}`}`, LINE_LENGTH_MAX)
    })
  return lines.length === 0 ? note : cutToCodePoints(`${note}\n\nCriteria that are not met:\n${lines.join('\n')}`, REQUEST_LENGTH_MAX - 1)
}
