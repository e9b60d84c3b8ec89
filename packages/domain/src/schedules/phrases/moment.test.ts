import { describe, expect, it } from 'vitest'
import { readPhrase } from '../../index.ts'
import { readTable } from '../../testing/phrase-table.ts'

const ROWS = readTable('moments.txt')

describe('a point in time', () => {
  it('has a table of more than 150 phrases, none of them twice', () => {
    expect(ROWS.length).toBeGreaterThan(150)
    expect(new Set(ROWS.map(({ text, at }) => `${text} ${at.now.toISOString()}`)).size).toBe(ROWS.length)
  })

  it.each(ROWS)('$text', ({ text, reading, codes, firings, at }) => {
    const read = readPhrase({ kind: 'when', text }, at)
    expect(read).toMatchObject({ reading, timing: { kind: 'once', at: new Date(firings).toISOString() } })
    expect(read.warnings.map(({ code }) => code).join()).toBe(codes)

    const again = readPhrase({ kind: 'when', text: read.canonical }, { ...at, timezone: null })
    expect(again).toMatchObject({ timing: read.timing, timezone: read.timezone, canonical: read.canonical })
  })

  it.each(['9999-12-31T23:59:59-12:00', '9999-12-31T23:59:59Z', 'march 10 9999 at 9am', 'march 10 2126 at 9am', '9999-03-10 9am'])(
    'is refused when it is too far ahead: %s',
    (text) => {
      const at = { now: new Date('2026-03-06T12:00:00Z'), timezone: 'UTC', projectTimezone: null, minIntervalSeconds: 10 }
      expect(() => readPhrase({ kind: 'when', text }, at)).toThrow(/a hundred years ahead at most|Name one up to 9998/)
    },
  )
})
