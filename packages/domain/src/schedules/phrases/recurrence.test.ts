import { describe, expect, it } from 'vitest'
import { firingsAfter, readPhrase } from '../../index.ts'
import { readTable } from '../../testing/phrase-table.ts'
import { toWallTime } from '../wall-clock.ts'

const ROWS = readTable('recurrences.txt')

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

/** By the clock of the zone, the year only where it changes, seconds only where there are any. */
function shown(firings: Date[], timezone: string): string {
  let shownYear = 0
  const texts = firings.map((firing) => {
    const { year, month, day, hour, minute, second } = toWallTime(firing, timezone)
    const text = `${twoDigits(month)}-${twoDigits(day)} ${twoDigits(hour)}:${twoDigits(minute)}${second === 0 ? '' : `:${twoDigits(second)}`}`
    const dated = year === shownYear ? text : `${year}-${text}`
    shownYear = year
    return dated
  })
  return texts.join(' · ')
}

describe('a recurrence', () => {
  it('has a table of more than 350 phrases, none of them twice', () => {
    expect(ROWS.length).toBeGreaterThan(350)
    expect(new Set(ROWS.map(({ text, at }) => `${text} ${at.now.toISOString()}`)).size).toBe(ROWS.length)
  })

  it.each(ROWS)('$text', ({ text, reading, codes, firings, at }) => {
    const read = readPhrase({ kind: 'every', text }, at)
    expect(read.reading).toBe(reading)
    expect(shown(firingsAfter(read.timing, read.timezone, at.now, 5), read.timezone)).toBe(firings)
    expect(read.warnings.map(({ code }) => code).join()).toBe(codes)

    const again = readPhrase({ kind: 'every', text: read.canonical }, { ...at, timezone: read.timing.kind === 'interval' ? at.timezone : null })
    expect(again).toMatchObject({ timing: read.timing, timezone: read.timezone, canonical: read.canonical })
  })
})
