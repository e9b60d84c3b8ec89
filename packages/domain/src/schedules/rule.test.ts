import fc from 'fast-check'
import { RRuleTemporal } from 'rrule-temporal'
import { describe, expect, it } from 'vitest'
import { cronExprOf, firingsAfter, ruleOf, type Timing } from '../index.ts'
import type { CalendarTiming } from './cron-times.ts'

const ANCHOR = new Date('2026-03-06T12:34:56Z')

function calendar(crons: string | string[], every: CalendarTiming['every'] = null): CalendarTiming {
  return { kind: 'calendar', crons: [crons].flat(), every }
}

/** What rrule-temporal makes of it, each line by itself, in milliseconds. */
function expand(rule: string, most: number): number[] {
  const [start, ...lines] = rule.split('\n')
  const all = lines.flatMap((line) =>
    new RRuleTemporal({ rruleString: `${start}\n${line}` }).all((_, index) => index < most).map((each) => each.epochMilliseconds),
  )
  return [...new Set(all)].sort((a, b) => a - b).slice(0, most)
}

function firings(timing: Timing, most: number): number[] {
  return firingsAfter(timing, 'UTC', ANCHOR, most).map((each) => each.getTime())
}

describe('the cron expression of five fields', () => {
  it.each<[Timing, string | null]>([
    [calendar('0 0 8 * * *'), '0 8 * * *'],
    [calendar('00 30 9 L * *'), '30 9 L * *'],
    [calendar('0 0 9 * * 1#1'), '0 9 * * 1#1'],
    [calendar('0 0 9 1-31 * 1'), '0 9 1-31 * 1'],
    [calendar(['0 0 9 * * *', '0 0 17 * * *']), '0 9,17 * * *'],
    [calendar(['0 0 9 * * 1', '0 0 9 * * 4', '0 0 9 * * 1']), '0 9 * * 1,4'],
    [calendar('0 0 9 1 * *', { count: 3, unit: 'month', since: '2026-03-06' }), '0 9 1 3,6,9,12 *'],
    [calendar('0 0 9 1 * *', { count: 12, unit: 'month', since: '2026-03-06' }), '0 9 1 3 *'],
    [calendar('0 0 9 * * *', { count: 1, unit: 'week', since: '2026-03-06' }), '0 9 * * *'],
    // Five fields cannot say it.
    [calendar('30 0 8 * * *'), null],
    [calendar('*/10 * * * * *'), null],
    [calendar(['0 30 9 * * *', '0 45 17 * * *']), null],
    [calendar(['0 0 9 * * 1#1', '0 0 9 * * 2#1']), null],
    [calendar(['0 0 9 1 * *', '0 0 9 1 * 5L']), null],
    [calendar('0 0 9 * * 5', { count: 2, unit: 'week', since: '2026-03-06' }), null],
    [calendar('0 0 9 1 * *', { count: 5, unit: 'month', since: '2026-03-06' }), null],
    [calendar('0 0 9 30 2 *'), null],
    [{ kind: 'interval', seconds: 3_600, anchorAt: '2026-03-06T12:00:00Z' }, null],
    [{ kind: 'once', at: '2026-03-06T12:00:00Z' }, null],
  ])('of %j is %j', (timing, expected) => {
    expect(cronExprOf(timing)).toBe(expected)
    if (expected !== null) expect(firings(calendar(`0 ${expected}`), 20)).toEqual(firings(timing, 20))
  })

  it('reads back to the same firings', () => {
    const one = fc.constantFrom('0', '9', '*/6', '1-3')
    const days = fc.constantFrom('*', '1', '15,L', '*/2')
    const crons = fc.array(fc.tuple(one, one, days, fc.constantFrom('*', '1', '5L', '1-5')), { minLength: 1, maxLength: 2 })
    const every = fc.option(fc.record({ count: fc.constantFrom(1, 2, 3, 6), unit: fc.constant('month' as const), since: fc.constant('2026-03-06') }))
    let read = 0
    fc.assert(
      fc.property(crons, every, (fields, periods) => {
        const timing = calendar(
          fields.map(([minute, hour, day, weekday]) => `0 ${minute} ${hour} ${day} * ${weekday}`),
          periods,
        )
        const expression = cronExprOf(timing)
        if (expression === null) return
        read += 1
        expect(firings(calendar(`0 ${expression}`), 12)).toEqual(firings(timing, 12))
      }),
      { numRuns: 200 },
    )
    expect(read).toBeGreaterThan(50)
  })
})

describe('the rule', () => {
  it.each<[CalendarTiming, string, string]>([
    [calendar('0 0 8 * * *'), 'America/New_York', 'DTSTART;TZID=America/New_York:20260306T080000\nRRULE:FREQ=DAILY;BYHOUR=8;BYMINUTE=0;BYSECOND=0'],
    [calendar('0 0 9 * * 1-5'), 'UTC', 'DTSTART;TZID=UTC:20260309T090000\nRRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0'],
    [calendar('0 0 18 L * *'), 'UTC', 'DTSTART;TZID=UTC:20260331T180000\nRRULE:FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=18;BYMINUTE=0;BYSECOND=0'],
    [calendar('0 0 9 * * 1#1'), 'UTC', 'DTSTART;TZID=UTC:20260406T090000\nRRULE:FREQ=MONTHLY;BYDAY=1MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0'],
    [
      calendar('0 0 16 * * 5', { count: 2, unit: 'week', since: '2026-03-06' }),
      'UTC',
      'DTSTART;TZID=UTC:20260306T160000\nRRULE:FREQ=WEEKLY;INTERVAL=2;WKST=MO;BYDAY=FR;BYHOUR=16;BYMINUTE=0;BYSECOND=0',
    ],
    [
      calendar(['0 30 9 * * *', '0 45 17 * * *']),
      'UTC',
      'DTSTART;TZID=UTC:20260306T174500\nRRULE:FREQ=DAILY;BYHOUR=9;BYMINUTE=30;BYSECOND=0\nRRULE:FREQ=DAILY;BYHOUR=17;BYMINUTE=45;BYSECOND=0',
    ],
    // A day of the month or a day of the week takes two lines.
    [
      calendar('0 0 9 13 * 5'),
      'UTC',
      'DTSTART;TZID=UTC:20260313T090000\nRRULE:FREQ=MONTHLY;BYMONTHDAY=13;BYHOUR=9;BYMINUTE=0;BYSECOND=0\nRRULE:FREQ=WEEKLY;BYDAY=FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0',
    ],
    // A line that would never be due is none.
    [calendar('0 0 9 30 2 1'), 'UTC', 'DTSTART;TZID=UTC:20270201T090000\nRRULE:FREQ=WEEKLY;BYMONTH=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0'],
    [
      calendar(['0 0 9 1 * *', '0 0 9 1 1,6 *'], { count: 3, unit: 'month', since: '2026-02-23' }),
      'UTC',
      'DTSTART;TZID=UTC:20260501T090000\nRRULE:FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=1;BYHOUR=9;BYMINUTE=0;BYSECOND=0',
    ],
    // What the wall shows, even where the clock skips it.
    [
      calendar('0 30 2 8 3 *'),
      'America/New_York',
      'DTSTART;TZID=America/New_York:20260308T023000\nRRULE:FREQ=MONTHLY;BYMONTH=3;BYMONTHDAY=8;BYHOUR=2;BYMINUTE=30;BYSECOND=0',
    ],
  ])('of %j in %s is what RFC 5545 says', (timing, zone, rule) => {
    expect(ruleOf(timing, zone, ANCHOR)).toBe(rule)
  })

  it.each<[string, Timing]>([
    ['an interval', { kind: 'interval', seconds: 3_600, anchorAt: '2026-03-06T12:00:00Z' }],
    ['a one-shot', { kind: 'once', at: '2026-03-06T12:00:00Z' }],
    ['what never comes', calendar('0 0 9 30 2 *')],
    ['days of the month in every so many weeks', calendar('0 0 9 1 * *', { count: 2, unit: 'week', since: '2026-03-06' })],
    ['first Mondays in every so many weeks', calendar('0 0 9 * * 1#1', { count: 2, unit: 'week', since: '2026-03-06' })],
  ])('of %s is none', (_name, timing) => {
    expect(ruleOf(timing, 'UTC', ANCHOR)).toBe(null)
  })

  const WEEKDAYS = ['*', '1', '1,4', '1-5', '0,6', '2#1', '5#5', '5L', '1,3L']
  const DAYS = ['*', '1', '15,L', '29', '31', '*/10']
  const UNITS = ['day', 'week', 'month', 'year'] as const

  it.each(UNITS.flatMap((unit) => WEEKDAYS.flatMap((weekday) => ['*', '1,L'].map((day) => [unit, day, weekday] as const))))(
    'in every second %s with days %s and weekdays %s is due when rrule-temporal says so',
    (unit, day, weekday) => {
      const timing = calendar(`0 0 9 ${day} * ${weekday}`, { count: 2, unit, since: '2026-03-06' })
      const rule = ruleOf(timing, 'UTC', ANCHOR)
      const isBeyondRules = unit === 'week' && (day !== '*' || /[#L]/.test(weekday))
      expect(rule === null).toBe(isBeyondRules)
      if (rule !== null) expect(expand(rule, 6)).toEqual(firings(timing, 6))
    },
  )

  it('is due when rrule-temporal says so', () => {
    const cron = fc
      .tuple(
        fc.constantFrom('0', '30'),
        fc.constantFrom('0', '15,45'),
        fc.constantFrom('9', '0,12', '*/8'),
        fc.constantFrom(...DAYS),
        fc.constantFrom('*', '1,6', '2-4'),
        fc.constantFrom(...WEEKDAYS),
      )
      .map((fields) => fields.join(' '))
    const every = fc.option(
      fc.record({ count: fc.integer({ min: 1, max: 5 }), unit: fc.constantFrom(...UNITS), since: fc.constantFrom('2026-03-06', '2026-02-23', '2025-12-31') }),
    )
    fc.assert(
      fc.property(fc.array(cron, { minLength: 1, maxLength: 2 }), every, (crons, periods) => {
        const timing = calendar(crons, periods)
        const rule = ruleOf(timing, 'UTC', ANCHOR)
        if (rule !== null) expect(expand(rule, 6)).toEqual(firings(timing, 6))
      }),
      { numRuns: 40 },
    )
  })
})
