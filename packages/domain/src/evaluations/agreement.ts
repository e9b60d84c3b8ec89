/** How far two raters agree on the same cases, beyond what chance alone would bring about. */

/** Fewer cases say nothing about agreement. */
export const KAPPA_CASES_MIN = 10

/** Why there is no kappa. too_few: there are fewer than `KAPPA_CASES_MIN` cases. one_category: a rater says the same of all of them. */
export const NO_KAPPA_REASONS = ['too_few', 'one_category'] as const
export type NoKappaReason = (typeof NO_KAPPA_REASONS)[number]

export interface Agreement {
  /** How many cases both have rated. */
  n: number
  /** The part of them on which they agree, from 0 to 1; null without cases. */
  observed: number | null
  /** From −1 to 1; 0 is the agreement of chance. */
  kappa: number | null
  /** Null exactly where there is a kappa. */
  reason: NoKappaReason | null
}

/**
 * Cohen's kappa: (observed − expected) / (1 − expected), where `expected` is the agreement of two raters who use each category as often as these do, but
 * independently. If a rater uses one category only, kappa is 0 or undefined whatever the other says; then there is none.
 *
 * @param table square; `table[i][j]` is the number of cases that the first rater puts into category i and the second into j
 */
export function cohensKappa(table: readonly (readonly number[])[]): Agreement {
  const rows = table.map(sum)
  const columns = table.map((_, at) => sum(table.map((row) => row[at] ?? 0)))
  const n = sum(rows)
  if (n === 0) return { n, observed: null, kappa: null, reason: 'too_few' }
  const observed = sum(table.map((row, at) => row[at] ?? 0)) / n
  if (n < KAPPA_CASES_MIN) return { n, observed, kappa: null, reason: 'too_few' }
  if (rows.includes(n) || columns.includes(n)) return { n, observed, kappa: null, reason: 'one_category' }
  const expected = sum(rows.map((row, at) => (row / n) * ((columns[at] as number) / n)))
  return { n, observed, kappa: (observed - expected) / (1 - expected), reason: null }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
