import { describe, expect, it } from 'vitest'
import { DomainError, type PhraseKind, readPhrase } from '../../index.ts'
import type { PhraseContext, PhraseReading } from './phrase.ts'

/** A Friday of the winter of America. */
const AT: PhraseContext = { now: new Date('2026-03-06T12:00:00Z'), timezone: null, projectTimezone: null, minIntervalSeconds: 10 }

function read(text: string, at: Partial<PhraseContext> = {}, kind: PhraseKind = 'every'): PhraseReading {
  return readPhrase({ kind, text }, { ...AT, ...at })
}

function codes({ warnings }: PhraseReading): string[] {
  return warnings.map(({ code }) => code)
}

describe('the zone of a phrase', () => {
  it('is its own, else that of the field, else that of the project, else UTC, and the reading says which', () => {
    const all = { timezone: 'Europe/Berlin', projectTimezone: 'Asia/Tokyo' }
    expect(read('daily at 9 America/New_York', all).reading).toBe('Every day at 09:00, America/New_York')
    expect(read('daily at 9', all).reading).toBe('Every day at 09:00, Europe/Berlin')
    expect(read('daily at 9', { ...all, timezone: null }).reading).toBe("Every day at 09:00, Asia/Tokyo (the project's time zone)")
    expect(read('daily at 9').reading).toBe('Every day at 09:00, UTC (no time zone was given)')
    expect(read('tomorrow at 9am', {}, 'when').reading).toBe('Once, on Saturday, 7 March 2026 at 09:00, UTC (no time zone was given)')
    expect(read('0 9 * * *').reading).toBe('At 09:00, every day, UTC (no time zone was given)')
  })

  it('is named by the canonical form', () => {
    for (const timezone of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC']) {
      expect(read('daily at 9', { timezone }).canonical).toBe(`every day at 09:00 ${timezone}`)
      expect(read('daily at 9', { projectTimezone: timezone }).canonical).toBe(`every day at 09:00 ${timezone}`)
      expect(read('tomorrow at 9am', { timezone }, 'when').canonical).toMatch(new RegExp(`^2026-03-07T09:00:00.*\\[${timezone}\\]$`))
    }
  })

  it('wins over the field, with a warning', () => {
    expect(read('daily at 9 America/New_York', { timezone: 'Europe/Berlin' }).warnings).toEqual([
      { code: 'zone_conflict', message: 'The phrase names America/New_York, so the `timezone` field, Europe/Berlin, is not used.' },
    ])
    expect(codes(read('daily at 9 EST', { timezone: 'America/New_York' }))).toEqual([])
    expect(codes(read('daily at 9 EST', { projectTimezone: 'Europe/Berlin' }))).toEqual([])
  })

  it.each([
    ['EST', '2026-01-15', []],
    ['EDT', '2026-01-15', ['zone_season']],
    ['ET', '2026-01-15', []],
    ['EST', '2026-07-15', ['zone_season']],
    ['EDT', '2026-07-15', []],
    ['ET', '2026-07-15', []],
    ['CST', '2026-07-15', ['zone_season']],
    ['CDT', '2026-07-15', []],
    ['MST', '2026-07-15', ['zone_season']],
    ['MDT', '2026-01-15', ['zone_season']],
    ['PST', '2026-01-15', []],
    ['PDT', '2026-01-15', ['zone_season']],
    ['GMT', '2026-07-15', []],
    ['HST', '2026-07-15', []],
  ])('has letters of a season: %s on %s', (letters, date, expected) => {
    expect(codes(read(`daily at noon ${letters}`, { now: new Date(`${date}T00:00:00Z`) }))).toEqual(expected)
  })

  it('has the season of the day that the phrase is next due on', () => {
    // The clocks of New York are changed on 8 March 2026.
    expect(codes(read('saturdays at 9am EST'))).toEqual([])
    expect(read('mondays at 9am EST').warnings).toEqual([
      { code: 'zone_season', message: 'EST is read as the wall clock of America/New_York, which is at -04:00 on 2026-03-09.' },
    ])
    expect(read('mondays at 9am EST')).toMatchObject({ timezone: 'America/New_York', timing: { crons: ['0 0 9 * * 1'] } })
  })

  it.each<[string, Partial<PhraseContext>]>([
    ['America/Chicago', {}],
    ['America/Chicago', { timezone: 'UTC' }],
    ['America/Chicago', { timezone: 'America/Sao_Paulo' }],
    ['America/Chicago', { timezone: 'US/Pacific' }],
    ['America/Chicago', { timezone: null, projectTimezone: 'Canada/Central' }],
    ['America/Chicago', { timezone: 'America/New_York', projectTimezone: 'Asia/Shanghai' }],
  ])('is %s for CST in the Americas: %j', (timezone, at) => {
    expect(read('daily at 9am CST', at).timezone).toBe(timezone)
  })

  it.each<Partial<PhraseContext>>([{ timezone: 'Asia/Tokyo' }, { timezone: 'Europe/Berlin' }, { projectTimezone: 'Asia/Tokyo' }])(
    'is open for CST elsewhere: %j',
    (at) => {
      const attempt = (): unknown => read('daily at 9am CST', at)
      expect(attempt).toThrow('"CST" is used for several time zones: America/Chicago, Asia/Shanghai, America/Havana.')
      try {
        attempt()
      } catch (error) {
        const candidates = (error as DomainError).details.candidates as { phrase: string }[]
        expect(candidates.map(({ phrase }) => phrase)).toEqual(['daily at 9am America/Chicago', 'daily at 9am Asia/Shanghai', 'daily at 9am America/Havana'])
      }
      expect(read('daily at 9am CDT', at).timezone).toBe('America/Chicago')
      expect(read('daily at 9am CT', at).timezone).toBe('America/Chicago')
    },
  )

  it.each(['Mars/Phobos', 'EST', 'CET', '+02:00', '', 'utc+2', 'Berlin', 'America/New York', 'x'.repeat(10_000)])(
    'is refused in the field when it is none: %j',
    (timezone) => {
      try {
        read('every 2 hours', { timezone })
        expect.unreachable()
      } catch (error) {
        expect(error).toBeInstanceOf(DomainError)
        expect(error).toMatchObject({ code: 'validation_failed', details: { errors: [{ pointer: '/timezone', field: 'timezone' }] } })
      }
    },
  )

  it('is named where letters stand in the field', () => {
    expect(() => read('every 2 hours', { timezone: 'EST' })).toThrow('The time zone "EST" is no IANA name; use America/New_York.')
  })

  it('does not matter to intervals, and one in their phrase is refused', () => {
    expect(read('every 2 hours', { timezone: 'Asia/Tokyo' })).toMatchObject({ timezone: 'Asia/Tokyo', canonical: 'every 2 hours', reading: 'Every 2 hours' })
    expect(() => read('every 2 hours Asia/Tokyo')).toThrow('An interval counts real time and has no time zone.')
  })
})
