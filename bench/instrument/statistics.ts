/** The value that `share` (0 to 1) of the values do not exceed, by nearest rank: a value that was measured, never one in between. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] as number
}

/** The middle one, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN
  const sorted = [...values].sort((a, b) => a - b)
  const upper = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[upper] as number) : ((sorted[upper - 1] as number) + (sorted[upper] as number)) / 2
}

/**
 * Events per second in the steady part of a run: the first and the last 5 % are left out, where processes warm up and the
 * last places run empty.
 *
 * @param atMs when each event was, in any order
 */
export function steadyRate(atMs: readonly number[]): number {
  const sorted = [...atMs].sort((a, b) => a - b)
  const [from, to] = [Math.floor(sorted.length * 0.05), Math.ceil(sorted.length * 0.95) - 1]
  return ((to - from) * 1_000) / ((sorted[to] as number) - (sorted[from] as number))
}
