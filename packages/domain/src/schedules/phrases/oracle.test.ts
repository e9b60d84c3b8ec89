import { RRuleTemporal } from 'rrule-temporal'
import { describe, expect, it } from 'vitest'
import { cronExprOf, firingsAfter, readPhrase, ruleOf } from '../../index.ts'
import { readTable } from '../../testing/phrase-table.ts'
import type { PhraseContext } from './phrase.ts'

// What phrases mean, written a second time without any of the code that reads them: days and minutes are tried one by one.

const NOW = new Date('2026-03-06T12:00:00Z')
interface Span {
  now: Date
  /** How many days are tried. */
  days: number
}

/** The clocks of both continents are put forward in the first weeks of March and back in the first days of November. */
const YEAR: Span = { now: NOW, days: 250 }
const SPRING: Span = { now: NOW, days: 30 }
const AUTUMN: Span = { now: new Date('2026-10-23T12:00:00Z'), days: 12 }

interface WallDay {
  /** Milliseconds, counted as if the zone were UTC. */
  start: number
  month: number
  date: number
  /** 0 is Sunday. */
  weekday: number
  /** How many days the month has. */
  length: number
}

type Days = [phrase: string, isDue: (day: WallDay) => boolean]
type Times = [phrase: string, minutes: number[]]

function range(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step)
}

const isWorkday = ({ weekday }: WallDay): boolean => weekday > 0 && weekday < 6
const isQuarterEnd = ({ month }: WallDay): boolean => month % 3 === 0
const shifted = (day: WallDay, days: number): WallDay => ({ ...day, date: day.date + days, weekday: (day.weekday + days + 35) % 7 })

/** The first workday: a workday with no other one before it in its month. */
function isFirstWorkday(day: WallDay): boolean {
  return isWorkday(day) && range(1, day.date - 1, 1).every((date) => !isWorkday(shifted(day, date - day.date)))
}

function isLastWorkday(day: WallDay): boolean {
  return isWorkday(day) && range(day.date + 1, day.length, 1).every((date) => !isWorkday(shifted(day, date - day.date)))
}

const DAYS: Days[] = [
  ['every day', () => true],
  ['on weekdays', isWorkday],
  ['M-F', isWorkday],
  ['m/w/f', ({ weekday }) => [1, 3, 5].includes(weekday)],
  ['mon wed fri', ({ weekday }) => [1, 3, 5].includes(weekday)],
  ['tu/th', ({ weekday }) => [2, 4].includes(weekday)],
  ['every business day', isWorkday],
  ['every day except sunday', ({ weekday }) => weekday !== 0],
  ['weekdays except wednesday', (day) => isWorkday(day) && day.weekday !== 3],
  ['every day except in december', ({ month }) => month !== 12],
  ['every friday in june', ({ weekday, month }) => weekday === 5 && month === 6],
  ['on the first business day of the month', isFirstWorkday],
  ['on the last business day of the month', isLastWorkday],
  ['last working day of every month', isLastWorkday],
  ['on the 1st and last business day of the month', (day) => day.date === 1 || isLastWorkday(day)],
  ['2nd and 4th friday of the month', ({ weekday, date }) => weekday === 5 && [2, 4].includes(Math.ceil(date / 7))],
  ['every 2nd and 4th friday', ({ weekday, date }) => weekday === 5 && [2, 4].includes(Math.ceil(date / 7))],
  ['end of month', ({ date, length }) => date === length],
  ['on the last day of the quarter', (day) => isQuarterEnd(day) && day.date === day.length],
  ['quarterly on the 1st', ({ month, date }) => month % 3 === 1 && date === 1],
  ['first monday of every quarter', ({ month, date, weekday }) => month % 3 === 1 && weekday === 1 && date <= 7],
  ['last friday of the quarter', (day) => isQuarterEnd(day) && day.weekday === 5 && day.date > day.length - 7],
  ['last business day of the quarter', (day) => isQuarterEnd(day) && isLastWorkday(day)],
]

const TIMES: Times[] = [
  ['at 9.30am', [570]],
  ['@ 9 and 17', [540, 1020]],
  ['at 2:30', [150]],
  ['at 1:30am and 3am', [90, 180]],
  ['every 15 min between 9 and 5', range(540, 1020, 15)],
  ['every hour from 9 to 17', range(540, 1020, 60)],
  ['every 2 hours between 8am and 1pm', range(480, 780, 120)],
  ['every 45 minutes from 8:00 to 12:00', range(480, 720, 45)],
  ['every 20 minutes from 01:00 to 04:00', range(60, 240, 20)],
  ['every 25 minutes', range(0, 1439, 25)],
  ['every hour at :15', range(15, 1439, 60)],
  ['every hour at :10 and :40 from 9 to 12', [550, 580, 610, 640, 670, 700]],
  ['on the half hour', range(30, 1439, 60)],
  ['every 3 hours at :05', range(5, 1439, 180)],
]

const BOUNDS: [phrase: string, from: string, until: string][] = [
  ['', '2026-03-06', '9999-12-31'],
  [' until november 5', '2026-03-06', '2026-11-05'],
  [' starting next week', '2026-03-09', '9999-12-31'],
  [' starting april 6 until may 31', '2026-04-06', '2026-05-31'],
  [' before 2026-04-01', '2026-03-06', '2026-03-31'],
]

const ZONES = ['America/New_York', 'Europe/Berlin', 'UTC']

function formatter(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  return (instant) => {
    const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]))
    return Date.UTC(parts.year ?? 0, (parts.month ?? 1) - 1, parts.day, parts.hour, parts.minute)
  }
}

/** The first instant at which the clock shows this or later, by trying. */
function instantOf(wall: number, wallAt: (instant: number) => number, known: Map<number, number>): number {
  const day = Math.floor(wall / 86_400_000)
  const [before, after] = [day - 1, day + 2].map((each) => {
    const noon = each * 86_400_000
    const offset = known.get(each) ?? wallAt(noon) - noon
    known.set(each, offset)
    return offset
  }) as [number, number]
  if (before === after) return wall - before
  const instants = [wall - before, wall - after].sort((a, b) => a - b)
  const shown = instants.find((instant) => wallAt(instant) === wall)
  if (shown !== undefined) return shown
  let instant = Math.min(...instants)
  while (wallAt(instant) < wall) instant += 60_000
  return instant
}

function expectedFirings([, isDue]: Days, [, minutes]: Times, [, from, until]: (typeof BOUNDS)[number], zone: string, span: Span): number[] {
  const wallAt = formatter(zone)
  const first = Math.floor(span.now.getTime() / 86_400_000) * 86_400_000
  const known = new Map<number, number>()
  const instants = new Set<number>()
  for (const index of range(0, span.days, 1)) {
    const start = first + index * 86_400_000
    const at = new Date(start)
    const text = at.toISOString().slice(0, 10)
    const [month, date] = [at.getUTCMonth() + 1, at.getUTCDate()]
    const day = { start, month, date, weekday: at.getUTCDay(), length: new Date(Date.UTC(at.getUTCFullYear(), month, 0)).getUTCDate() }
    if (text < from || text > until || !isDue(day)) continue
    for (const minute of minutes) instants.add(instantOf(start + minute * 60_000, wallAt, known))
  }
  return [...instants].filter((instant) => instant > span.now.getTime()).sort((a, b) => a - b)
}

const context = (timezone: string, now = NOW): PhraseContext => ({ now, timezone, projectTimezone: null, minIntervalSeconds: 10 })

describe('phrases put together', () => {
  const check = (days: Days, times: Times, bounds: (typeof BOUNDS)[number], zone: string, span: Span, text: string): void => {
    const expected = expectedFirings(days, times, bounds, zone, span).map((each) => new Date(each).toISOString())
    if (expected.length === 0) return
    const at = context(zone, span.now)
    const read = readPhrase({ kind: 'every', text }, at)
    const found = firingsAfter(read.timing, read.timezone, span.now, expected.length).map((each) => each.toISOString())
    expect([text, zone, found]).toEqual([text, zone, expected])

    const again = readPhrase({ kind: 'every', text: read.canonical }, at)
    expect([text, again.timing, again.canonical]).toEqual([text, read.timing, read.canonical])
  }

  it.each(DAYS.map((days) => [days[0], days] as const))('are due on "%s" when every minute is tried', (name, days) => {
    const place = DAYS.indexOf(days)
    for (const [index, times] of TIMES.entries()) {
      const bounds = BOUNDS[(index + place) % BOUNDS.length] as (typeof BOUNDS)[number]
      const zone = ZONES[(index + place) % ZONES.length] as string
      const parts = index % 2 === 0 ? [times[0], name] : [name, times[0]]
      const isDense = place < 10
      check(days, times, bounds, zone, isDense ? SPRING : YEAR, `${parts.join(' ')}${bounds[0]}`)
      if (isDense) check(days, times, ['', '', '9999-12-31'], zone, AUTUMN, parts.join(' '))
    }
  })

  it('end on the day that they name', () => {
    for (const [bounds, , until] of BOUNDS.filter(([, , last]) => last < '9999')) {
      for (const zone of ZONES) {
        const { timing, timezone } = readPhrase({ kind: 'every', text: `every day at 23:30${bounds}` }, context(zone))
        const last = firingsAfter(timing, timezone, NOW, 400).at(-1)
        expect(last?.toLocaleString('sv', { timeZone: zone })).toBe(`${until} 23:30:00`)
      }
    }
  })
})

/** Of each line by itself, in milliseconds. */
function expand(rule: string, most: number): number[] {
  const [start, ...lines] = rule.split('\n')
  const all = lines.flatMap((line) =>
    new RRuleTemporal({ rruleString: `${start}\n${line}` }).all((_, index) => index < most).map((each) => each.epochMilliseconds),
  )
  return [...new Set(all)].sort((a, b) => a - b).slice(0, most)
}

describe('the rule and the cron expression of a phrase', () => {
  const rows = [
    ...readTable('recurrences.txt').map(({ text, at }) => ({ text, at })),
    ...DAYS.filter(([days]) => !days.includes('june')).flatMap(([days], index) =>
      BOUNDS.slice(0, 3).map(([bounds], place) => ({ text: `${days} ${TIMES[(index + place) % TIMES.length]?.[0]}${bounds}`, at: context('UTC') })),
    ),
  ]

  it('say the same as the phrase, where they say anything', () => {
    let compared = 0
    for (const { text, at } of rows) {
      // In UTC, because RRULE says nothing about clocks that change.
      const { timing } = readPhrase({ kind: 'every', text }, at)
      const rule = ruleOf(timing, 'UTC', at.now)
      const found = firingsAfter(timing, 'UTC', at.now, 6).map((each) => each.getTime())
      if (rule !== null) expect([text, expand(rule, 6)]).toEqual([text, found])
      const cron = cronExprOf(timing)
      if (cron !== null && timing.kind === 'calendar') {
        const read = readPhrase({ kind: 'cron', text: cron }, { ...at, timezone: 'UTC' })
        expect([text, firingsAfter(read.timing, 'UTC', at.now, 6).map((each) => each.getTime())]).toEqual([text, found])
      }
      compared += rule === null ? 0 : 1
    }
    expect(compared).toBeGreaterThan(400)
  })
})
