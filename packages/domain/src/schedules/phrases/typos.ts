import { CLAUSE_WORDS as MOMENT_WORDS } from './moment.ts'
import { CLAUSE_WORDS as RECURRENCE_WORDS } from './recurrence.ts'
import { HINTED_WORDS } from './refusal.ts'
import { NUMERALS, type Token } from './tokens.ts'
import { TABLE_WORDS } from './words.ts'

const KNOWN = new Set([
  ...MOMENT_WORDS,
  ...HINTED_WORDS,
  ...RECURRENCE_WORDS,
  ...NUMERALS,
  ...TABLE_WORDS,
  ...['noon', 'midday', 'midnight', "o'clock", 'half', 'other', 'times'],
])
/** A shorter word is one letter away from too many others. */
const LENGTH_MIN = 4
/** In words of this length a second letter may be wrong, as in "tommorow". */
const LONG = 7
const LENGTH_MAX = 16
const CORRECTIONS_MAX = 3

/**
 * The phrase with the words corrected that no pattern knows and that are one letter away from one that some pattern knows, or two in a long word: several
 * phrases where the nearest words are several, none where a word has no such neighbour. A correction is only ever offered.
 */
export function correctedPhrases(tokens: Token[], text: string): string[] {
  const wrong = tokens.filter(({ kind, text: word }) => kind === 'word' && word.length >= LENGTH_MIN && !KNOWN.has(word))
  if (wrong.length === 0 || wrong.length > CORRECTIONS_MAX) return []
  let phrases = [text]
  for (const { text: word, start, end } of wrong.reverse()) {
    const words = nearest(word)
    phrases = phrases.flatMap((phrase) => words.map((known) => phrase.slice(0, start) + known + phrase.slice(end))).slice(0, CORRECTIONS_MAX)
  }
  return phrases
}

function nearest(word: string): string[] {
  if (word.length > LENGTH_MAX) return []
  const most = word.length >= LONG ? 2 : 1
  const near = [...KNOWN].filter((known) => known.length >= LENGTH_MIN && Math.abs(known.length - word.length) <= most)
  const distances = near.map((known) => ({ known, distance: distanceOf(word, known) })).filter(({ distance }) => distance <= most)
  const least = Math.min(...distances.map(({ distance }) => distance))
  return distances.filter(({ distance }) => distance === least).map(({ known }) => known)
}

/** How many letters have to be put in, left out, replaced, or exchanged with their neighbour. */
function distanceOf(left: string, right: string): number {
  let before: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1]
      const isExchanged = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      const steps = [(last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (isSame ? 0 : 1)]
      if (isExchanged) steps.push((before[column - 2] ?? 0) + 1)
      current.push(Math.min(...steps))
    }
    before = last
    last = current
  }
  return last[right.length] ?? 0
}
