import fc from 'fast-check'
import { DateTime } from 'luxon'
import { describe, expect, it } from 'vitest'
import { isTimeZone } from '../index.ts'
import { latestWallUpTo, toInstant, toWallTime, type WallTime } from './wall-clock.ts'

const HOUR = 3_600_000

/** `2026-03-08 02:30` or `2026-03-08 02:30:15`. */
function wall(text: string): WallTime {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = text.split(/[- :]/).map(Number)
  return { year, month, day, hour, minute, second }
}

describe('a name of a time zone', () => {
  it.each(['UTC', 'America/New_York', 'Europe/Berlin', 'US/Eastern', 'Asia/Kolkata', 'Asia/Calcutta', 'America/Argentina/Ushuaia', 'Etc/GMT+5'])(
    'is %s',
    (name) => {
      expect(isTimeZone(name)).toBe(true)
    },
  )

  it.each([
    '',
    'EST',
    'CET',
    'GMT',
    'EST5EDT',
    'local',
    'system',
    'utc',
    'Z',
    '+02:00',
    '-0500',
    'UTC+2',
    'Fantasia/Castle',
    'Europe/',
    '/Berlin',
    'Europe/Berlin ',
    'Europe/Berlin\n',
    `Europe/${'x'.repeat(1_000)}`,
  ])('is not %j', (name) => {
    expect(isTimeZone(name)).toBe(false)
    expect(() => toInstant(wall('2026-01-01 00:00'), name)).toThrow(RangeError)
    expect(() => toWallTime(new Date(0), name)).toThrow(RangeError)
  })
})

describe('a time of the wall clock', () => {
  it.each([
    ['UTC', '2026-03-08 02:30', '2026-03-08T02:30:00Z'],
    ['US/Eastern', '2026-07-01 08:00', '2026-07-01T12:00:00Z'],
    ['Asia/Kolkata', '2026-07-01 08:00', '2026-07-01T02:30:00Z'],
    ['Pacific/Kiritimati', '2026-07-01 08:00', '2026-06-30T18:00:00Z'],
    ['Pacific/Pago_Pago', '2026-07-01 08:00', '2026-07-01T19:00:00Z'],
    // Rules that were given up: Turkey stays on summer time since 2016, Brazil on winter time since 2019.
    ['Europe/Istanbul', '2015-12-01 09:00', '2015-12-01T07:00:00Z'],
    ['Europe/Istanbul', '2016-12-01 09:00', '2016-12-01T06:00:00Z'],
    ['America/Sao_Paulo', '2018-12-01 09:00', '2018-12-01T11:00:00Z'],
    ['America/Sao_Paulo', '2019-12-01 09:00', '2019-12-01T12:00:00Z'],
  ])('in %s, %s, is %s', (zone, shown, instant) => {
    expect(toInstant(wall(shown), zone)).toEqual(new Date(instant))
    expect(toWallTime(new Date(instant), zone)).toEqual(wall(shown))
  })

  it.each([
    ['America/New_York', '2026-03-08 01:59:59', '2026-03-08T06:59:59Z'],
    ['America/New_York', '2026-03-08 02:00', '2026-03-08T07:00:00Z'],
    ['America/New_York', '2026-03-08 02:30', '2026-03-08T07:00:00Z'],
    ['America/New_York', '2026-03-08 03:00', '2026-03-08T07:00:00Z'],
    ['America/New_York', '2026-03-08 03:30', '2026-03-08T07:30:00Z'],
    ['Europe/Berlin', '2026-03-29 02:30', '2026-03-29T01:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-04 02:15', '2026-10-03T15:30:00Z'],
    ['Australia/Lord_Howe', '2026-10-04 02:30', '2026-10-03T15:30:00Z'],
    ['America/Sao_Paulo', '2018-11-04 00:00', '2018-11-04T03:00:00Z'],
    // Samoa went over the date line, and had no December 30.
    ['Pacific/Apia', '2011-12-29 23:59', '2011-12-30T09:59:00Z'],
    ['Pacific/Apia', '2011-12-30 00:00', '2011-12-30T10:00:00Z'],
    ['Pacific/Apia', '2011-12-30 12:00', '2011-12-30T10:00:00Z'],
    ['Pacific/Apia', '2011-12-31 00:00', '2011-12-30T10:00:00Z'],
  ])('that %s skips, %s, is the first instant after the gap, %s', (zone, skipped, instant) => {
    expect(toInstant(wall(skipped), zone)).toEqual(new Date(instant))
  })

  it.each([
    ['America/New_York', '2026-11-01 01:30', '2026-11-01T05:30:00Z'],
    ['America/New_York', '2026-11-01 01:59:59', '2026-11-01T05:59:59Z'],
    ['America/New_York', '2026-11-01 02:00', '2026-11-01T07:00:00Z'],
    ['Europe/Berlin', '2026-10-25 02:30', '2026-10-25T00:30:00Z'],
    ['Australia/Lord_Howe', '2027-04-04 01:45', '2027-04-03T14:45:00Z'],
    ['America/Havana', '2026-11-01 00:30', '2026-11-01T04:30:00Z'],
  ])('that exists twice in %s, %s, is the first one, %s', (zone, shown, instant) => {
    expect(toInstant(wall(shown), zone)).toEqual(new Date(instant))
  })

  const ZONES = [
    'America/New_York',
    'Europe/Dublin',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'Asia/Tehran',
    'Pacific/Apia',
    'America/St_Johns',
    'Antarctica/Troll',
  ]

  it('is what luxon says, and reads back, unless the clock shows it twice or skips it', () => {
    const instant = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2040, 0) }).map((ms) => ms - (ms % 1_000))
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), instant, (zone, ms) => {
        const { year, month, day, hour, minute, second } = DateTime.fromMillis(ms, { zone })
        const shown = { year, month, day, hour, minute, second }
        expect(toWallTime(new Date(ms), zone)).toEqual(shown)
        const back = toInstant(shown, zone).getTime()
        // The second time that the clock shows it, the first was an hour or two before.
        expect(
          back === ms || (back < ms && ms - back <= 3 * HOUR && DateTime.fromMillis(back, { zone }).offset > DateTime.fromMillis(ms, { zone }).offset),
        ).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('comes no earlier than another that is earlier, and after an instant exactly if it is later than the latest one shown', () => {
    const near = fc.constantFrom(
      ...([
        ['America/New_York', '2026-03-08T07:00Z'],
        ['America/New_York', '2026-11-01T06:00Z'],
        ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
        ['Australia/Lord_Howe', '2027-04-03T15:00Z'],
        ['Pacific/Apia', '2011-12-30T10:00Z'],
        ['Antarctica/Troll', '2026-10-25T01:00Z'],
      ] as const),
    )
    const minutes = fc.integer({ min: -1_600, max: 1_600 })
    fc.assert(
      fc.property(near, minutes, minutes, ([zone, change], one, other) => {
        const at = Date.parse(change)
        const shown = (offset: number) => toInstant(toWallTime(new Date(at + offset * 60_000), 'UTC'), zone).getTime()
        expect(shown(Math.min(one, other))).toBeLessThanOrEqual(shown(Math.max(one, other)))
        const local = at + DateTime.fromMillis(at, { zone }).offset * 60_000 + one * 60_000
        const instant = at + other * 60_000
        expect(toInstant(toWallTime(new Date(local), 'UTC'), zone).getTime() > instant).toBe(local > latestWallUpTo(instant, zone))
      }),
      { numRuns: 300 },
    )
  })
})
