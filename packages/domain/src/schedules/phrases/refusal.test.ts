import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DomainError, nextFiring, type PhraseKind, readPhrase } from '../../index.ts'
import type { PhraseCandidate, PhraseContext } from './phrase.ts'

const AT: PhraseContext = { now: new Date('2026-03-06T12:00:00Z'), timezone: 'UTC', projectTimezone: null, minIntervalSeconds: 10 }

function refusalOf(kind: PhraseKind, text: string, at: PhraseContext): DomainError {
  try {
    readPhrase({ kind, text }, at)
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
  throw new Error(`"${text}" was accepted`)
}

function candidatesOf(refusal: DomainError): PhraseCandidate[] {
  return (refusal.details.candidates ?? []) as PhraseCandidate[]
}

/** The table beside this file, which says how it is written. */
const ROWS = readFileSync(new URL('refusals.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('//') && !line.startsWith('#'))
  .map((line) => {
    const [, kind = '', text = '', code = '', reason = '', candidates] = /^(\w+): (.*?) \| (\w+) \| (.*?)(?: \| (.*))?$/.exec(line) ?? []
    return { kind: kind as PhraseKind, text, code, reason, candidates: candidates?.split(' ; ') ?? [] }
  })

describe('a phrase is refused', () => {
  it.each(ROWS)('$kind: $text', ({ kind, text, code, reason, candidates }) => {
    const refusal = refusalOf(kind, text, AT)
    expect(refusal.message).toContain(reason)
    expect(refusal).toMatchObject({ code })
    expect(candidatesOf(refusal).map(({ phrase }) => phrase)).toEqual(candidates)
  })

  it('with candidates only that are accepted as they are typed, and mean what is said of them', () => {
    for (const { kind, text } of ROWS) {
      for (const candidate of candidatesOf(refusalOf(kind, text, AT))) {
        const read = readPhrase({ kind, text: candidate.phrase }, AT)
        expect(candidate.reading).toBe(read.reading)
        expect(candidate.next_fire_at).toBe(nextFiring(read.timing, read.timezone, AT.now)?.toISOString())
      }
    }
  })

  it('when an hour before dawn may be of the night that is passing, which goes by the name of yesterday', () => {
    const saturday = { ...AT, now: new Date('2026-03-07T00:30:00Z') }
    for (const text of ['friday night at 1', 'this friday night at 1']) {
      const candidates = candidatesOf(refusalOf('when', text, saturday))
      expect(candidates.map(({ phrase }) => phrase)).toEqual(['2026-03-07 01:00', '2026-03-14 01:00'])
    }
  })

  it('with examples of its own field that are accepted', () => {
    for (const kind of ['when', 'every', 'cron'] as const) {
      const { message } = refusalOf(kind, 'nonsense', AT)
      const [, examples = ''] = message.split(`Examples of \`${kind}\`: `)
      const phrases = [...examples.matchAll(/"([^"]+)"/g)].map(([, phrase]) => phrase ?? '')
      expect(phrases.length).toBeGreaterThan(2)
      const before = { ...AT, now: new Date('2026-03-01T00:00:00Z') }
      for (const text of phrases) expect(readPhrase({ kind, text }, before).reading).not.toBe('')
    }
  })
})
