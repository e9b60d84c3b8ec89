import type { CalendarTiming } from './cron-times.ts'
import { type CronTimes, dayOfDate, nextWall, nextWallOf, readCron } from './cron-times.ts'
import type { Timing } from './timing.ts'
import { instantOfWall, latestWallUpTo } from './wall-clock.ts'

const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'] as const
const EVERY_DATE = 'BYMONTHDAY=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31'
const EVERY_WEEKDAY = 'BYDAY=MO,TU,WE,TH,FR,SA,SU'
const EVERY_MONTH = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

/**
 * The rule as one cron expression of five fields, or null where none says the same: intervals, one-shots, seconds, times of day that do not multiply, every
 * so many periods (but for months that a year divides into), rules that begin or end on a date.
 */
export function cronExprOf(timing: Timing): string | null {
  if (timing.kind !== 'calendar' || timing.from !== undefined || timing.until !== undefined) return null
  const merged = mergeCrons(timing.crons.map((cron) => cron.trim().split(/\s+/)))
  if (merged === null || merged.length !== 6) return null
  const [second = '', minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = merged
  const months = monthsOf(timing.every, month)
  // A workday stands alone in its field, for those who read cron.
  const isInList = dayOfMonth.includes('W') && dayOfMonth.includes(',')
  if (months === null || isInList || !/^0+$/.test(second)) return null
  const expression = [minute, hour, dayOfMonth, months, dayOfWeek].join(' ')
  return isReadable(expression) ? expression : null
}

/** Of expressions that differ in one field, the one with all values of that field. */
function mergeCrons(crons: string[][]): string[] | null {
  const [first = [], ...others] = crons
  const differing = first.flatMap((field, index) => (others.some((other) => other[index] !== field) ? [index] : []))
  const [index, ...more] = differing
  if (more.length > 0) return null
  if (index === undefined) return first
  const values = [...new Set(crons.map((cron) => cron[index] ?? ''))]
  // In a list a star is no wildcard any more, and a day of the other field would do as well.
  if (values.some((value) => value === '*' || value === '?')) return null
  return first.map((field, at) => (at === index ? values.join(',') : field))
}

function monthsOf(every: CalendarTiming['every'], month: string): string | null {
  if (every === null || every.count === 1) return month
  if (every.unit !== 'month' || 12 % every.count !== 0 || month !== '*') return null
  const since = new Date(dayOfDate(every.since) * 86_400_000).getUTCMonth()
  return EVERY_MONTH.filter((each) => (each - 1 - since) % every.count === 0).join(',')
}

function isReadable(expression: string): boolean {
  try {
    return readCron(expression).months.length > 0
  } catch {
    return false
  }
}

/**
 * The rule as RFC 5545 has it: DTSTART is the first firing after `anchorAt` by the wall clock, and each RRULE line adds its days. Null for intervals and
 * one-shots, for what is never due, and for days of the month in every so many weeks, which no RRULE can say. RRULE has no word for clocks that change:
 * its readers drop or move what falls into a gap, each in its own way.
 */
export function ruleOf(timing: Timing, timezone: string, anchorAt: Date): string | null {
  if (timing.kind !== 'calendar') return null
  const after = latestWallUpTo(anchorAt.getTime(), timezone)
  const start = nextWall(timing, after)
  if (start === null) return null
  const every = timing.every?.count === 1 ? null : timing.every
  // Some readers search for ever for a line that is never due.
  const parts = timing.crons.flatMap((cron) => partsOf(readCron(cron))).filter((part) => nextWallOf(part, every, start - 1) !== null)
  const until = timing.until === undefined ? '' : `;UNTIL=${stampOf(instantOfWall((dayOfDate(timing.until) + 1) * 86_400_000 - 1_000, timezone))}Z`
  const lines = parts.map((part) => lineOf(part, every)).map((line) => (line === null ? null : `${line}${until}`))
  if (lines.includes(null)) return null
  return [`DTSTART;TZID=${timezone}:${stampOf(start)}`, ...new Set(lines)].join('\n')
}

/** `20260310T090000`. */
function stampOf(at: number): string {
  return new Date(at).toISOString().replace(/[-:]|\.\d+Z/g, '')
}

/** What together says the same, each restricted by days of the month, by days of the week, or by last ones of the month, but by one of them only. */
function partsOf(times: CronTimes): DayPart[] {
  const { days, weekdays } = times
  if (days === null && weekdays === null) return [times]
  const dates = days !== null && (days.values.length > 0 || days.last) ? [{ ...times, weekdays: null }] : []
  const parts: DayPart[] = [...dates, ...(days?.workdays ?? []).flatMap((end) => workdayParts(times, end))]
  if (weekdays === null) return parts
  if (weekdays.values.length > 0) parts.push({ ...times, days: null, weekdays: { ...weekdays, last: [] } })
  if (weekdays.last.length > 0) parts.push({ ...times, days: null, weekdays: { ...weekdays, values: [] } })
  return parts
}

/** One rule of RRULE. `datesOfWeekdays`: only those of its weekdays that are one of these days of the month, counted from its end if negative. */
interface DayPart extends CronTimes {
  datesOfWeekdays?: number[]
}

/** The first workday of a month is its first day, or a Monday up to the third; the last one its last day, or a Friday of the last three. */
function workdayParts(times: CronTimes, end: 'first' | 'last'): DayPart[] {
  const sign = end === 'first' ? 1 : -1
  const on = (values: number[], dates: number[]): DayPart => ({
    ...times,
    days: null,
    weekdays: { values, nth: 0, last: [] },
    datesOfWeekdays: dates.map((date) => date * sign),
  })
  return end === 'first' ? [on([1], [1, 2, 3]), on([2, 3, 4, 5], [1])] : [on([5], [1, 2, 3]), on([1, 2, 3, 4], [1])]
}

/** Null: RRULE cannot say it. */
function lineOf(part: DayPart, every: CalendarTiming['every']): string | null {
  const day = dayRuleOf(part, every?.unit ?? null)
  if (day === null) return null
  const { months, hours, minutes, seconds } = part
  // A yearly rule takes its months for granted only where it has no days.
  const isAnyMonth = months.length === 12 && every?.unit !== 'year'
  return [
    `RRULE:FREQ=${day.freq}`,
    every === null ? [] : `INTERVAL=${every.count}`,
    every?.unit === 'week' ? 'WKST=MO' : [],
    isAnyMonth ? [] : `BYMONTH=${months.join(',')}`,
    day.by,
    `BYHOUR=${hours.join(',')}`,
    `BYMINUTE=${minutes.join(',')}`,
    `BYSECOND=${seconds.join(',')}`,
  ]
    .flat()
    .join(';')
}

interface DayRule {
  freq: 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY'
  by: string[]
}

const FREQUENCIES = { day: 'DAILY', week: 'WEEKLY', month: 'MONTHLY', year: 'YEARLY' } as const

function dayRuleOf({ days, weekdays, datesOfWeekdays }: DayPart, unit: keyof typeof FREQUENCIES | null): DayRule | null {
  if (days !== null) {
    const freq = FREQUENCIES[unit ?? 'month']
    return freq === 'WEEKLY' ? null : { freq, by: [`BYMONTHDAY=${[...days.values, ...(days.last ? [-1] : [])].join(',')}`] }
  }
  if (weekdays !== null) {
    const nth = weekdays.last.length > 0 ? -1 : weekdays.nth
    const named = [...weekdays.values, ...weekdays.last].map((each) => WEEKDAYS[each])
    const freq = FREQUENCIES[unit ?? (nth === 0 ? 'week' : 'month')]
    if (datesOfWeekdays) {
      const by = [`BYDAY=${named.join(',')}`, `BYMONTHDAY=${datesOfWeekdays.join(',')}`]
      return unit === 'week' ? null : { freq: FREQUENCIES[unit ?? 'month'], by }
    }
    if (nth === 0) return { freq, by: [`BYDAY=${named.join(',')}`] }
    // A daily rule knows no first Monday, but a Monday that is one of the first seven days.
    if (freq === 'DAILY') return { freq, by: [`BYDAY=${named.join(',')}`, `BYMONTHDAY=${datesOfNth(nth).join(',')}`] }
    return freq === 'WEEKLY' ? null : { freq, by: [`BYDAY=${named.map((name) => `${nth}${name}`).join(',')}`] }
  }
  const freq = FREQUENCIES[unit ?? 'day']
  return { freq, by: { DAILY: [], WEEKLY: [EVERY_WEEKDAY], MONTHLY: [EVERY_DATE], YEARLY: [EVERY_DATE] }[freq] }
}

function datesOfNth(nth: number): number[] {
  const dates = [1, 2, 3, 4, 5, 6, 7]
  return nth < 0 ? dates.map((date) => -date) : dates.map((date) => date + (nth - 1) * 7).filter((date) => date <= 31)
}
