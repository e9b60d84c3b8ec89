import fc from 'fast-check'
import { DateTime } from 'luxon'
import { describe, expect, it } from 'vitest'
import { firingsAfter, nextFiring, type Timing } from '../index.ts'
import type { CalendarTiming } from './cron-times.ts'
import { shortestGapSeconds } from './timing.ts'

function calendar(crons: string | string[], every: CalendarTiming['every'] = null): CalendarTiming {
  return { kind: 'calendar', crons: [crons].flat(), every }
}

function iso(dates: Date[]): string[] {
  return dates.map((date) => date.toISOString().replace(/:00\.000Z$|\.000Z$/, 'Z'))
}

/** So many firings, after this instant. */
function firings(timing: Timing, zone: string, after: string, most: number): string[] {
  return iso(firingsAfter(timing, zone, new Date(after), most))
}

describe('a one-shot', () => {
  it('is due once, and not at the instant that it is asked for after', () => {
    const once: Timing = { kind: 'once', at: '2026-03-10T14:00:00Z' }
    expect(firings(once, 'UTC', '2026-03-10T13:59:59.999Z', 5)).toEqual(['2026-03-10T14:00Z'])
    expect(nextFiring(once, 'UTC', new Date('2026-03-10T14:00:00Z'))).toBe(null)
    expect(shortestGapSeconds(once, 'UTC', new Date(0))).toBe(null)
  })
})

describe('an interval', () => {
  const interval: Timing = { kind: 'interval', seconds: 7_201, anchorAt: '2026-03-06T12:34:56.789Z' }
  const anchor = Date.parse(interval.anchorAt)

  it('does not drift over 10,000 firings, whatever clocks are changed to', () => {
    const found = firingsAfter(interval, 'America/New_York', new Date(anchor), 10_000)
    expect(found.map((each) => each.getTime())).toEqual(Array.from({ length: 10_000 }, (_, index) => anchor + (index + 1) * 7_201_000))
  })

  it('is first due one interval after its anchor, even if it is asked about an earlier time', () => {
    expect(nextFiring(interval, 'UTC', new Date(0))).toEqual(new Date(anchor + 7_201_000))
  })

  it('is due at a multiple wherever one looks', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000 }), fc.nat({ max: 7_200_999 }), (multiple, into) => {
        expect(nextFiring(interval, 'UTC', new Date(anchor + multiple * 7_201_000 + into))).toEqual(new Date(anchor + (multiple + 1) * 7_201_000))
      }),
    )
  })

  it('says its own gap', () => {
    expect(shortestGapSeconds(interval, 'UTC', new Date(0))).toBe(7_201)
  })
})

describe('a rule of the wall clock', () => {
  it.each<[string, string, string, string, string[]]>([
    ['America/New_York', '0 0 8 * * *', 'forward', '2026-03-07T00:00Z', ['2026-03-07T13:00Z', '2026-03-08T12:00Z', '2026-03-09T12:00Z']],
    ['America/New_York', '0 30 2 * * *', 'forward', '2026-03-07T00:00Z', ['2026-03-07T07:30Z', '2026-03-08T07:00Z', '2026-03-09T06:30Z']],
    ['America/New_York', '0 0 8 * * *', 'back', '2026-10-31T00:00Z', ['2026-10-31T12:00Z', '2026-11-01T13:00Z', '2026-11-02T13:00Z']],
    ['America/New_York', '0 30 1 * * *', 'back', '2026-10-31T00:00Z', ['2026-10-31T05:30Z', '2026-11-01T05:30Z', '2026-11-02T06:30Z']],
    ['Europe/Berlin', '0 30 2 * * *', 'forward', '2026-03-28T00:00Z', ['2026-03-28T01:30Z', '2026-03-29T01:00Z', '2026-03-30T00:30Z']],
    ['Europe/Berlin', '0 30 2 * * *', 'back', '2026-10-24T00:00Z', ['2026-10-24T00:30Z', '2026-10-25T00:30Z', '2026-10-26T01:30Z']],
    ['Australia/Lord_Howe', '0 15 2 * * *', 'forward', '2026-10-02T12:00Z', ['2026-10-02T15:45Z', '2026-10-03T15:30Z', '2026-10-04T15:15Z']],
    ['Australia/Lord_Howe', '0 45 1 * * *', 'back', '2027-04-02T12:00Z', ['2027-04-02T14:45Z', '2027-04-03T14:45Z', '2027-04-04T15:15Z']],
    ['America/Sao_Paulo', '0 0 0 * * *', 'forward', '2018-11-03T00:00Z', ['2018-11-03T03:00Z', '2018-11-04T03:00Z', '2018-11-05T02:00Z']],
    ['America/Sao_Paulo', '0 0 0 * * *', 'no more', '2019-11-02T00:00Z', ['2019-11-02T03:00Z', '2019-11-03T03:00Z', '2019-11-04T03:00Z']],
    ['Europe/Istanbul', '0 0 9 * * *', 'no more', '2016-10-29T00:00Z', ['2016-10-29T06:00Z', '2016-10-30T06:00Z', '2016-10-31T06:00Z']],
    [
      'Pacific/Apia',
      '0 0 9 * * *',
      'over the date line',
      '2011-12-28T00:00Z',
      ['2011-12-28T19:00Z', '2011-12-29T19:00Z', '2011-12-30T10:00Z', '2011-12-30T19:00Z'],
    ],
  ])('keeps its local time in %s when the clock of %s goes %s', (zone, cron, _change, after, expected) => {
    expect(firings(calendar(cron), zone, after, expected.length)).toEqual(expected)
  })

  it('is due once for all times that the clock skips, and not again for those that it shows again', () => {
    const quarters = calendar('0 */15 * * * *')
    expect(firings(quarters, 'America/New_York', '2026-03-08T06:40Z', 3)).toEqual(['2026-03-08T06:45Z', '2026-03-08T07:00Z', '2026-03-08T07:15Z'])
    expect(firings(quarters, 'America/New_York', '2026-11-01T05:40Z', 3)).toEqual(['2026-11-01T05:45Z', '2026-11-01T07:00Z', '2026-11-01T07:15Z'])
    // From within the hour that comes again.
    expect(firings(quarters, 'America/New_York', '2026-11-01T06:20Z', 1)).toEqual(['2026-11-01T07:00Z'])
  })

  it.each<[string, string, string]>([
    ['America/New_York', '2026-03-08T07:00Z', '0 */10 * * * *'],
    ['America/New_York', '2026-11-01T06:00Z', '0 */10 * * * *'],
    ['America/Havana', '2026-11-01T05:00Z', '0 20 * * * *'],
    ['Europe/Dublin', '2026-10-25T01:00Z', '0 10,50 1,2 * * *'],
    ['Australia/Lord_Howe', '2026-10-03T15:30Z', '0 5,15,45 * * * *'],
    ['Australia/Lord_Howe', '2027-04-03T15:00Z', '0 5,35,45 * * * *'],
    ['Antarctica/Troll', '2026-03-29T01:00Z', '0 30 * * * *'],
    ['Antarctica/Troll', '2026-10-25T01:00Z', '0 30 * * * *'],
    ['America/St_Johns', '2010-11-07T02:31Z', '0 59 23 * * *'],
    ['America/St_Johns', '2010-11-07T02:31Z', '0 0,30 0,23 * * *'],
    ['Africa/Casablanca', '2026-02-15T02:00Z', '0 */20 * * * *'],
    ['Asia/Tehran', '2022-03-21T20:30Z', '0 0,30 0 * * *'],
    ['Pacific/Apia', '2011-12-30T10:00Z', '0 0 */6 * * *'],
  ])('in %s around %s is due whenever the clock first shows or passes a time of %s', (zone, change, cron) => {
    // By the definition, minute by minute: the latest time shown moves on, and each time in between is due as it is passed.
    const hours = zone === 'Pacific/Apia' ? 30 : 3
    const start = Date.parse(change) - hours * 3_600_000
    const [, minuteField = '', hourField = ''] = cron.split(' ')
    const fits = (field: string, value: number) =>
      field === '*' || (field.startsWith('*/') ? value % Number(field.slice(2)) === 0 : field.split(',').includes(`${value}`))
    const expected: number[] = []
    const shown = (at: number) => at + DateTime.fromMillis(at, { zone }).offset * 60_000
    let latest = shown(start)
    for (let at = start + 60_000; at <= start + 2 * hours * 3_600_000; at += 60_000) {
      let isDue = false
      for (; latest < shown(at); latest += 60_000) {
        const passed = new Date(latest + 60_000)
        isDue ||= fits(minuteField, passed.getUTCMinutes()) && fits(hourField, passed.getUTCHours())
      }
      if (isDue) expected.push(at)
    }
    expect(expected.length).toBeGreaterThan(0)
    const [beyond, ...within] = firingsAfter(calendar(cron), zone, new Date(start), expected.length + 1).reverse()
    expect(within.reverse().map((each) => each.getTime())).toEqual(expected)
    expect(beyond?.getTime()).toBeGreaterThan(start + 2 * hours * 3_600_000)
  })

  it.each<[string, CalendarTiming, string, string[]]>([
    ['several expressions', calendar(['0 30 9 * * *', '0 45 17 * * *']), '2026-01-01T10:00Z', ['2026-01-01T17:45Z', '2026-01-02T09:30Z', '2026-01-02T17:45Z']],
    ['expressions that overlap', calendar(['0 0 9 * * *', '0 0 9 * * 4']), '2026-01-01T00:00Z', ['2026-01-01T09:00Z', '2026-01-02T09:00Z']],
    ['the leap day', calendar('0 0 9 29 2 *'), '2026-01-01T00:00Z', ['2028-02-29T09:00Z', '2032-02-29T09:00Z']],
    ['the 31st', calendar('0 0 9 31 * *'), '2026-03-01T00:00Z', ['2026-03-31T09:00Z', '2026-05-31T09:00Z', '2026-07-31T09:00Z', '2026-08-31T09:00Z']],
    ['the last day', calendar('0 0 18 L * *'), '2028-01-31T20:00Z', ['2028-02-29T18:00Z', '2028-03-31T18:00Z', '2028-04-30T18:00Z']],
    ['the turn of the year', calendar('30 59 23 * * *'), '2026-12-31T00:00Z', ['2026-12-31T23:59:30Z', '2027-01-01T23:59:30Z']],
    ['the first Monday', calendar('0 0 9 * * 1#1'), '2026-01-01T00:00Z', ['2026-01-05T09:00Z', '2026-02-02T09:00Z', '2026-03-02T09:00Z']],
    ['the last Friday', calendar('0 0 9 * * 5L'), '2026-01-01T00:00Z', ['2026-01-30T09:00Z', '2026-02-27T09:00Z', '2026-03-27T09:00Z']],
  ])('knows %s', (_name, timing, after, expected) => {
    expect(firings(timing, 'UTC', after, expected.length)).toEqual(expected)
  })

  it.each<[string, CalendarTiming, string, string[]]>([
    ['third day', calendar('0 0 9 * * *', { count: 3, unit: 'day', since: '2026-02-27' }), '2026-02-27T10:00Z', ['2026-03-02T09:00Z', '2026-03-05T09:00Z']],
    [
      // The week of the Sunday 2026-03-08 began on Monday, the 2nd.
      'second week',
      calendar('0 0 16 * * 1,5', { count: 2, unit: 'week', since: '2026-03-08' }),
      '2026-03-01T00:00Z',
      ['2026-03-02T16:00Z', '2026-03-06T16:00Z', '2026-03-16T16:00Z', '2026-03-20T16:00Z'],
    ],
    [
      'twelfth week',
      calendar('0 0 16 * * 5', { count: 12, unit: 'week', since: '2026-12-28' }),
      '2026-12-30T00:00Z',
      ['2027-01-01T16:00Z', '2027-03-26T16:00Z'],
    ],
    [
      'third month',
      calendar('0 0 9 31 * *', { count: 3, unit: 'month', since: '2026-01-15' }),
      '2026-01-31T09:00Z',
      ['2026-07-31T09:00Z', '2026-10-31T09:00Z', '2027-01-31T09:00Z', '2027-07-31T09:00Z'],
    ],
    ['fourth year', calendar('0 0 9 1 1 *', { count: 4, unit: 'year', since: '2026-06-01' }), '2026-06-01T00:00Z', ['2030-01-01T09:00Z', '2034-01-01T09:00Z']],
    [
      'third year, on the leap day',
      calendar('0 0 9 29 2 *', { count: 3, unit: 'year', since: '2026-01-01' }),
      '2026-01-01T00:00Z',
      ['2032-02-29T09:00Z', '2044-02-29T09:00Z'],
    ],
  ])('keeps to every %s', (_name, timing, after, expected) => {
    expect(firings(timing, 'UTC', after, expected.length)).toEqual(expected)
  })

  it('is not due before the period that its counting begins with', () => {
    const timing = calendar('0 0 9 * * *', { count: 2, unit: 'week', since: '2026-05-07' })
    expect(firings(timing, 'UTC', '2026-01-01T00:00Z', 1)).toEqual(['2026-05-04T09:00Z'])
  })

  it('counts days by its own clock', () => {
    const timing = calendar('0 0 0 * * *', { count: 2, unit: 'day', since: '2026-03-06' })
    expect(firings(timing, 'Asia/Tokyo', '2026-03-06T00:00Z', 2)).toEqual(['2026-03-07T15:00Z', '2026-03-09T15:00Z'])
  })

  it.each<[string, CalendarTiming]>([
    ['Feb 30', calendar('0 0 0 30 2 *')],
    ['Tuesdays in every seventh day from a Monday', calendar('0 0 9 * * 2', { count: 7, unit: 'day', since: '2026-03-09' })],
    ['a leap day in every fourth year from 2027', calendar('0 0 9 29 2 *', { count: 4, unit: 'year', since: '2027-01-01' })],
    ['what comes after more than a hundred years', calendar('0 0 9 1 1 *', { count: 150, unit: 'year', since: '2026-01-01' })],
  ])('is never due: %s', (_name, timing) => {
    const after = new Date('2026-03-09T12:00Z')
    expect(nextFiring(timing, 'Europe/Berlin', after)).toBe(null)
    expect(firingsAfter(timing, 'Europe/Berlin', after, 5)).toEqual([])
    expect(shortestGapSeconds(timing, 'Europe/Berlin', after)).toBe(null)
  })

  it('is due strictly after the instant asked for, later for a later one, and firingsAfter is what nextFiring says one by one', () => {
    const timings = fc.constantFrom(
      calendar('0 */15 * * * *'),
      calendar('0 30 2 * * *'),
      calendar('0 0,30 1,2,3 * * *', { count: 2, unit: 'day', since: '2026-01-01' }),
      calendar(['0 30 1 * * *', '0 0 3 * * 0']),
      calendar('0 0 9 L * *'),
    )
    const zones = fc.constantFrom('America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'Pacific/Apia')
    const instant = fc.oneof(
      fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2028, 0) }),
      fc.integer({ min: Date.UTC(2026, 9, 25), max: Date.UTC(2026, 10, 2) }),
    )
    fc.assert(
      fc.property(timings, zones, instant, fc.nat({ max: 100_000_000 }), (timing, zone, ms, more) => {
        const next = nextFiring(timing, zone, new Date(ms))?.getTime() ?? 0
        const later = nextFiring(timing, zone, new Date(ms + more))?.getTime() ?? 0
        expect(next).toBeGreaterThan(ms)
        expect(later).toBeGreaterThanOrEqual(next)
        if (ms + more < next) expect(later).toBe(next)
        const some = firingsAfter(timing, zone, new Date(ms), 4)
        expect(some.map((each) => each.getTime())).toEqual([ms, ...some].slice(0, 4).map((each) => nextFiring(timing, zone, new Date(each))?.getTime()))
      }),
      { numRuns: 200 },
    )
  })

  it.each<[CalendarTiming, number | null]>([
    [calendar('* * * * * *'), 1],
    [calendar('0 */15 * * * *'), 900],
    [calendar('0 0 9,17 * * *'), 28_800],
    // Not the 23 hours of a day in March.
    [calendar('0 0 9 * * *'), 86_400],
    [calendar(['0 30 9 * * *', '20 30 9 * * *']), 20],
    // From one day to the next, and only on one day of the year.
    [calendar(['58 59 23 * * *', '3 0 0 * * *']), 5],
    [calendar('0,5 0 9 31 12 *'), 5],
    [calendar('0 0 9 * * 1', { count: 2, unit: 'week', since: '2026-01-01' }), 14 * 86_400],
  ])('of %j leaves at least %s seconds between two firings', (timing, seconds) => {
    expect(shortestGapSeconds(timing, 'America/New_York', new Date('2026-03-01T00:00Z'))).toBe(seconds)
  })

  it.each(['no cron', '0 0 0 32 * *'])('throws for what was never stored: %s', (cron) => {
    expect(() => nextFiring(calendar(cron), 'UTC', new Date(0))).toThrow()
    expect(() => nextFiring(calendar('0 0 9 * * *'), 'EST', new Date(0))).toThrow(RangeError)
  })
})
