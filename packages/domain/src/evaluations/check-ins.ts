import type { BlockItem } from '../core/npl-blocks.ts'
import type { CheckIn, CriterionReport } from '../tasks/check-in.ts'
import type { EvaluatedCriterion } from './criteria.ts'

/** An earlier check-in: its reports on the criteria of its revision, and its unmatched lines. */
export interface EarlierCheckIn {
  reports: readonly CriterionReport[]
  unmatched: readonly BlockItem[]
  criteria: readonly Pick<EvaluatedCriterion, 'id' | 'text'>[]
}

/**
 * A check-in that was taken in before as lines again, for an evaluation by the criteria of a revision. A criterion that says something
 * else there than the one that was spoken of has not been spoken of.
 */
export function earlierLines({ reports, unmatched, criteria: spokenOf }: EarlierCheckIn, criteria: EarlierCheckIn['criteria']): Pick<CheckIn, 'lines'> {
  const texts = new Map(spokenOf.map(({ id, text }) => [id, text]))
  const kept = new Set(criteria.filter(({ id, text }) => texts.get(id) === text).map(({ id }) => id))
  const lines = reports
    .filter(({ criterionId }) => kept.has(criterionId))
    .map(({ criterionId, category, note }) => ({ emoji: null, category, text: `${note} (${criterionId})` }))
  return { lines: [...unmatched, ...lines] }
}
