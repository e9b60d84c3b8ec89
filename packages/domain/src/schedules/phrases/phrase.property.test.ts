import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DomainError, PHRASE_KINDS, PHRASE_LENGTH_MAX, type PhraseKind, readPhrase } from '../../index.ts'
import { readTable } from '../../testing/phrase-table.ts'
import type { PhraseContext, PhraseReading } from './phrase.ts'

const AT: PhraseContext = { now: new Date('2026-03-06T12:00:00Z'), timezone: 'America/New_York', projectTimezone: null, minIntervalSeconds: 10 }

const PHRASES = [
  ...readTable('recurrences.txt').map(({ text, at }) => ({ kind: 'every' as PhraseKind, text, at })),
  ...readTable('moments.txt').map(({ text, at }) => ({ kind: 'when' as PhraseKind, text, at })),
]

/** Null: it is refused. Anything thrown but a DomainError fails the test. */
function readOrNull(kind: PhraseKind, text: string, at: PhraseContext = AT): PhraseReading | null {
  try {
    return readPhrase({ kind, text }, at)
  } catch (error) {
    if (error instanceof DomainError) return null
    throw error
  }
}

function meaning(reading: PhraseReading | null): string {
  return reading === null ? 'refused' : JSON.stringify([reading.timing, reading.timezone])
}

/** Every word that some pattern knows, and more that none does. */
const KNOWN = `every each other second third last first 1st 15th 31st 2 3 9 10 17 30 half a an and or , & - at on the of in from now next this today
    tomorrow tonight day days week weeks month months year years hour hours minute minutes seconds daily weekly monthly yearly hourly quarterly
    weekday weekdays weekend monday mondays fri sunday march january feb am pm h noon midnight 9am 9:30 17:45 9:30pm morning evening night once
    twice times per EST UTC Europe/Berlin IST 5/6/2026 2026-03-10 after before o'clock biweekly * */5 1-5`.split(/\s+/)
const UNKNOWN = [
  'please',
  'remind',
  'me',
  'only',
  'not',
  'except',
  'sharp',
  'approximately',
  'zzz',
  '☕',
  '—',
  '"',
  "it's",
  '#1',
  '?!',
  '__proto__',
  'constructor',
  '¼',
]

/** Words that only join others, and words that can say again what a phrase says already: "9 am" of the morning, "tomorrow" of the next 9am. */
const NOISE = new Set(
  `, & on at in of the and a an every each day o'clock h am pm morning evening night noon once twice hourly daily weekly monthly yearly week month year
    from today tonight tomorrow this next monday mondays fri sunday january march UTC EST Europe/Berlin`.split(/\s+/),
)

/** All that can be left out of one of the phrases: what it says is said by the others too, or it only makes a sentence of them. */
const NEEDLESS =
  `1 2026 2028 @ a.m. an and at business daily day each every friday from gmt gmt+0 in ist minutes monday monthly morning next o'clock of on once sat
  standard the this thrice time today tomorrow tonight tue tuesday twice utc weekly z`
    .split(/\s+/)
    .join(' ')

const words = (text: string): string[] => text.trim().split(/\s+/)

const codeUnits = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 32, max: 126 })), { maxLength: 60 })
  .map((units) => String.fromCharCode(...units))

describe('what is accepted', () => {
  it('has no word in it that is not known, wherever it stands', () => {
    for (const [index, { kind, text, at }] of PHRASES.entries()) {
      const alien = UNKNOWN[index % UNKNOWN.length] ?? ''
      const place = (index * 7) % (words(text).length + 1)
      const longer = words(text).toSpliced(place, 0, alien).join(' ')
      expect([longer, readOrNull(kind, longer, at)]).toEqual([longer, null])
    }
  })

  it('means something else with one more word, unless that is one of a few', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PHRASES), fc.constantFrom(...KNOWN), fc.nat(), ({ kind, text, at }, word, where) => {
        const before = words(text)
        const longer = before.toSpliced(where % (before.length + 1), 0, word).join(' ')
        const read = readOrNull(kind, longer, at)
        if (read === null || NOISE.has(word)) return
        const first = readOrNull(kind, text, at)
        expect([longer, meaning(read) === meaning(first) && read.reading === first?.reading]).toEqual([longer, false])
      }),
      { numRuns: 1_200 },
    )
  })

  it('means something else with one word less, unless that is one of a few', () => {
    const needless = new Set<string>()
    for (const { kind, text, at } of PHRASES) {
      const first = meaning(readOrNull(kind, text, at))
      for (const [place, word] of words(text).entries()) {
        const shorter = words(text).toSpliced(place, 1).join(' ')
        if (meaning(readOrNull(kind, shorter, at)) === first) needless.add(word.toLowerCase().replace(/,$/, ''))
      }
    }
    expect([...needless].sort().join(' ')).toBe(NEEDLESS)
  })

  it('has a canonical form that means the same and is a fixed point, whatever known words it is made of', () => {
    const soup = fc.array(fc.constantFrom(...KNOWN, ...KNOWN, ...UNKNOWN), { minLength: 1, maxLength: 9 }).map((all) => all.join(' '))
    fc.assert(
      fc.property(fc.constantFrom(...PHRASE_KINDS), soup, (kind, text) => {
        const read = readOrNull(kind, text)
        if (read === null) return
        const again = readPhrase({ kind, text: read.canonical }, AT)
        expect(again).toMatchObject({ timing: read.timing, timezone: read.timezone, canonical: read.canonical })
      }),
      { numRuns: 2_000 },
    )
  })

  it('is read from any text, or refused by a DomainError', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PHRASE_KINDS), codeUnits, (kind, text) => {
        readOrNull(kind, text)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a hostile phrase', () => {
  it.each<[string, string]>([
    ['one word', 'a'],
    ['blanks', ' '],
    ['words', 'every '],
    ['numbers', '99 '],
    ['lists', '1st, '],
    ['times', 'at 9 and '],
    ['dates', 'march 1 '],
    ['dates with weekdays', 'monday march 1 '],
    ['commas', ','],
    ['signs', '/-.:'],
    ['durations', '1 hour and '],
    ['zones', 'A/b '],
    ['brackets', '['],
    ['cron', '*/1,'],
    ['astral characters', '𝟗'],
    ['combining characters', 'é'],
    ['words with two senses', 'biweekly '],
    ['capitals that grow', 'İ'],
    ['lone surrogates', '\ud800'],
  ])('of %s is refused, whatever its length', (_, piece) => {
    for (const kind of PHRASE_KINDS) {
      for (const length of [10, PHRASE_LENGTH_MAX, PHRASE_LENGTH_MAX + 1, 100_000]) {
        expect(readOrNull(kind, piece.repeat(length).slice(0, length))).toBeNull()
      }
    }
  })

  it('is refused by its length, in code points', () => {
    const long = `every day at 9${' '.repeat(PHRASE_LENGTH_MAX)}`
    expect(() => readPhrase({ kind: 'every', text: long }, AT)).toThrow('A phrase may have 200 characters at most.')
    expect(() => readPhrase({ kind: 'every', text: '𝟗'.repeat(PHRASE_LENGTH_MAX) }, AT)).toThrow('is not understood')
  })

  it('that is empty is refused', () => {
    for (const text of ['', ' ', '\n\t']) expect(() => readPhrase({ kind: 'when', text }, AT)).toThrow('The phrase is empty.')
  })
})
