import { distance } from 'fastest-levenshtein'

/** As many names are suggested at most. */
const SUGGESTIONS_MAX = 2
/** Shorter names are part of too many others. */
const PART_LENGTH_MIN = 4
/** Longer names are not compared: the time grows with their length. */
const LENGTH_MAX = 64

/** The known names that an unknown one may stand for, the closest first: written otherwise (`acceptanceCriteria`), in part (`criteria`), or mistyped. */
export function didYouMean(unknown: string, known: readonly string[]): string[] {
  const folded = fold(unknown)
  if (folded === '' || folded.length > LENGTH_MAX) return []
  return known
    .map((name) => ({ name, away: away(folded, fold(name)) }))
    .filter(({ away: steps }) => steps !== null)
    .sort((one, other) => (one.away as number) - (other.away as number))
    .slice(0, SUGGESTIONS_MAX)
    .map(({ name }) => name)
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '')
}

/** Edits between two names, or null where they are too many to be a mistake. */
function away(unknown: string, name: string): number | null {
  const edits = distance(unknown, name)
  const isPart = Math.min(unknown.length, name.length) >= PART_LENGTH_MIN && (name.includes(unknown) || unknown.includes(name))
  return isPart || edits <= Math.max(1, Math.floor(unknown.length / 3)) ? edits : null
}
