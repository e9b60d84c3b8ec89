import { CronExpressionParser, type CronFieldCollection } from 'cron-parser'

/** Times of the wall clock. */
export interface CalendarTiming {
  kind: 'calendar'
  /** One or more cron expressions of six fields, as cron-parser reads them (`L`, `#` included), all due. */
  crons: string[]
  /** Only in every `count`-th of these periods, counted from the one that contains the date `since` (`2026-03-06`). Weeks begin on Monday. */
  every: { count: number; unit: 'day' | 'week' | 'month' | 'year'; since: string } | null
  /** The first and the last date that it is due on, `2026-12-01`, by the clock of its zone. Absent: unbounded. */
  from?: string
  until?: string
}

/** A cron expression as cron-parser reads it, ready to be searched. Days of the week count from Sunday, 0. */
export interface CronTimes {
  seconds: number[]
  minutes: number[]
  hours: number[]
  months: number[]
  /** Null: any day of the month. `workdays`: the first or the last one that is no day of a weekend, `1W` and `LW`. */
  days: { values: number[]; last: boolean; workdays: ('first' | 'last')[] } | null
  /** Null: any day of the week. `nth` of the month, 0 for all; `last`: those which count only in the last seven days of a month. */
  weekdays: { values: number[]; nth: number; last: number[] } | null
}

/** A date without a zone: days since 1970-01-01. */
type Day = number

const DAY = 86_400_000
const CACHED_MAX = 5_000
/** What cron-parser says of Feb 30, which is a rule like any other here, one that never comes. */
const IMPOSSIBLE_DAY = 'Invalid explicit day of month definition'
const cached = new Map<string, CronTimes>()

/**
 * What never comes within so many years counts as never. The calendar repeats Feb 29 within 8 years, and with it whatever a rule may reasonably say of
 * every so many years.
 */
const HORIZON_YEARS = 100

/**
 * Reads a cron expression of five or six fields. `H` stands for the same values each time. A day that no month has is in no month.
 * @throws Error of cron-parser, in its words, for what is none
 */
export function readCron(expression: string): CronTimes {
  const known = cached.get(expression)
  if (known !== undefined) return known
  const times = toTimes(expression)
  if (cached.size >= CACHED_MAX) cached.clear()
  cached.set(expression, times)
  return times
}

/**
 * The first time of the wall clock after `after` that fits one of the expressions, within the periods of `every`. Both are milliseconds, counted as if the
 * zone were UTC. cron-parser could search too, but steps through days with luxon, and costs up to half a millisecond for a rule of once a month.
 */
export function nextWall({ crons, every, from, until }: CalendarTiming, after: number): number | null {
  const since = from === undefined ? after : Math.max(after, dayOfDate(from) * DAY - 1)
  let next: number | null = null
  for (const cron of crons) {
    const wall = nextWallOf(readCron(cron), every, since)
    if (wall !== null && (next === null || wall < next)) next = wall
  }
  return next !== null && until !== undefined && Math.floor(next / DAY) > dayOfDate(until) ? null : next
}

/** Of one expression. */
export function nextWallOf(times: CronTimes, every: CalendarTiming['every'], after: number): number | null {
  const periods = every === null ? null : { ...every, since: dayOfDate(every.since) }
  const earliest = periods === null ? after : Math.max(after, firstDayOf(periodOf(periods.since, periods.unit), periods.unit) * DAY - 1)
  const from = Math.floor(earliest / 1_000) + 1
  const today = Math.floor(from / 86_400)
  const last = today + HORIZON_YEARS * 366
  const day = nextDay(times, periods, today, last)
  if (day === null) return null
  if (day > today) return day * DAY + firstTime(times) * 1_000
  const time = timeFrom(times, from - today * 86_400)
  if (time !== null) return day * DAY + time * 1_000
  const later = nextDay(times, periods, today + 1, last)
  return later === null ? null : later * DAY + firstTime(times) * 1_000
}

interface Periods {
  count: number
  unit: 'day' | 'week' | 'month' | 'year'
  since: Day
}

/** The first day from this one on that fits both the expression and the periods. Each turn ends in a later period, so it ends. */
function nextDay(times: CronTimes, periods: Periods | null, from: Day, last: Day): Day | null {
  let day = nextDayOf(times, from, last)
  while (day !== null && periods !== null) {
    const into = (((periodOf(day, periods.unit) - periodOf(periods.since, periods.unit)) % periods.count) + periods.count) % periods.count
    if (into === 0) return day
    day = nextDayOf(times, firstDayOf(periodOf(day, periods.unit) + periods.count - into, periods.unit), last)
  }
  return day
}

function nextDayOf(times: CronTimes, from: Day, last: Day): Day | null {
  const start = new Date(from * DAY)
  let year = start.getUTCFullYear()
  let month = start.getUTCMonth() + 1
  let date = start.getUTCDate()
  for (let first = from - date + 1; first + date - 1 <= last; date = 1) {
    const length = daysIn(year, month)
    if (times.months.includes(month)) {
      for (; date <= length; date += 1) if (fitsDay(times, first + date - 1, date, length)) return first + date - 1
    }
    first += length
    month = month === 12 ? 1 : month + 1
    if (month === 1) year += 1
  }
  return null
}

/** As cron has it: where both the day of the month and the day of the week are restricted, either will do. */
function fitsDay({ days, weekdays }: CronTimes, day: Day, date: number, length: number): boolean {
  if (days === null && weekdays === null) return true
  if (days !== null && (days.values.includes(date) || (days.last && date === length))) return true
  const weekday = (((day + 4) % 7) + 7) % 7
  if (days?.workdays.some((end) => isEndWorkday(weekday, end === 'first' ? date : length - date + 1, end === 'first' ? 1 : 5))) return true
  if (weekdays === null) return false
  if (weekdays.values.includes(weekday) && (weekdays.nth === 0 || Math.ceil(date / 7) === weekdays.nth)) return true
  return date > length - 7 && weekdays.last.includes(weekday)
}

/** The day of a month that is the `nth` from its end, or its beginning: a workday with nothing but a weekend outside of it, up to a Monday, or down to a Friday. */
function isEndWorkday(weekday: number, nth: number, edge: number): boolean {
  return weekday === edge ? nth <= 3 : nth === 1 && weekday !== 0 && weekday !== 6
}

function firstTime({ hours, minutes, seconds }: CronTimes): number {
  return (hours[0] ?? 0) * 3_600 + (minutes[0] ?? 0) * 60 + (seconds[0] ?? 0)
}

/** The first second of the day from this one on. */
function timeFrom({ hours, minutes, seconds }: CronTimes, from: number): number | null {
  for (const hour of hours) {
    if (hour * 3_600 + 3_599 < from) continue
    for (const minute of minutes) {
      const start = hour * 3_600 + minute * 60
      if (start + 59 < from) continue
      for (const second of seconds) if (start + second >= from) return start + second
    }
  }
  return null
}

export function dayOfDate(date: string): Day {
  const day = Date.parse(`${date}T00:00:00Z`) / DAY
  if (!Number.isInteger(day)) throw new RangeError(`not a date: ${date}`)
  return day
}

function periodOf(day: Day, unit: Periods['unit']): number {
  if (unit === 'day') return day
  if (unit === 'week') return Math.floor((day + 3) / 7)
  const date = new Date(day * DAY)
  return unit === 'year' ? date.getUTCFullYear() : date.getUTCFullYear() * 12 + date.getUTCMonth()
}

function firstDayOf(period: number, unit: Periods['unit']): Day {
  if (unit === 'day') return period
  if (unit === 'week') return period * 7 - 3
  return (unit === 'year' ? Date.UTC(period, 0) : Date.UTC(Math.floor(period / 12), period % 12)) / DAY
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

const WORKDAYS: Record<string, 'first' | 'last'> = { '1W': 'first', LW: 'last' }

/** Takes out `1W` and `LW`, which cron-parser does not know. */
function toTimes(expression: string): CronTimes {
  if (!expression.includes('W')) return toPlainTimes(expression)
  const fields = expression.trim().split(/\s+/)
  const index = fields.length - 3
  const items = (fields[index] ?? '').split(',')
  const workdays = items.flatMap((item) => WORKDAYS[item] ?? [])
  if (workdays.length === 0) return toPlainTimes(expression)
  const rest = items.filter((item) => WORKDAYS[item] === undefined).join(',')
  const times = toPlainTimes(fields.with(index, rest === '' ? '*' : rest).join(' '))
  const days = rest === '' || times.days === null ? { values: [], last: false } : times.days
  return { ...times, days: { ...days, workdays } }
}

function toPlainTimes(expression: string): CronTimes {
  try {
    return timesOf(parse(expression))
  } catch (error) {
    if (!(error instanceof Error) || error.message !== IMPOSSIBLE_DAY) throw error
    const [dayOfWeek = '*', , ...earlier] = expression.trim().split(/\s+/).reverse()
    return { ...timesOf(parse([...earlier.reverse(), '*', dayOfWeek].join(' '))), months: [] }
  }
}

function timesOf({ second, minute, hour, month, dayOfMonth, dayOfWeek }: CronFieldCollection): CronTimes {
  const days = numbers(dayOfMonth.values)
  const weekdays = [...new Set(numbers(dayOfWeek.values).map((weekday) => weekday % 7))].sort((a, b) => a - b)
  const lastOnes = dayOfWeek.values.filter((value) => typeof value === 'string').map((value) => Number.parseInt(value, 10) % 7)
  return {
    seconds: numbers(second.values),
    minutes: numbers(minute.values),
    hours: numbers(hour.values),
    months: numbers(month.values),
    days: dayOfMonth.isWildcard ? null : { values: days, last: dayOfMonth.hasLastChar, workdays: [] },
    weekdays: dayOfWeek.isWildcard ? null : { values: weekdays, nth: dayOfWeek.nthDay, last: lastOnes },
  }
}

function parse(expression: string): CronFieldCollection {
  // Seeded, since `H` would be drawn anew each time otherwise.
  return CronExpressionParser.parse(expression, { tz: 'UTC', hashSeed: 'muster' }).fields
}

function numbers(values: readonly (number | string)[]): number[] {
  return values.filter((value) => typeof value === 'number')
}
