import { type CronTimes, dayOfDate, nextWall, readCron } from './cron-times.ts'
import type { CalendarTiming, Timing } from './timing.ts'
import { latestWallUpTo } from './wall-clock.ts'

const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'] as const
const EVERY_DAY = 'BYMONTHDAY=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31'
const EVERY_WEEKDAY = 'BYDAY=MO,TU,WE,TH,FR,SA,SU'
const EVERY_MONTH = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

/**
 * The rule as one cron expression of five fields, or null where none says the same: intervals, one-shots, seconds, times of day that do not multiply, every
 * so many periods (but for months that a year divides into).
 */
export function cronExprOf(timing: Timing): string | null {
  if (timing.kind !== 'calendar') return null
  const merged = mergeCrons(timing.crons.map((cron) => cron.trim().split(/\s+/)))
  if (merged === null || merged.length !== 6) return null
  const [second = '', minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = merged
  const months = monthsOf(timing.every, month)
  if (months === null || !/^0+$/.test(second)) return null
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
  const start = nextWall(timing, latestWallUpTo(anchorAt.getTime(), timezone))
  if (start === null) return null
  const lines = timing.crons.map((cron) => linesOf(readCron(cron), timing.every))
  if (lines.some((each) => each.length === 0)) return null
  const at = new Date(start).toISOString().replace(/[-:]|\.\d+Z/g, '')
  return [`DTSTART;TZID=${timezone}:${at}`, ...new Set(lines.flat())].join('\n')
}

/** None: RRULE cannot say it. */
function linesOf(times: CronTimes, every: CalendarTiming['every']): string[] {
  const anyMonth = times.months.length === 12
  const months = anyMonth && every?.unit !== 'year' ? [] : [`BYMONTH=${times.months.join(',')}`]
  const clock = [`BYHOUR=${times.hours.join(',')}`, `BYMINUTE=${times.minutes.join(',')}`, `BYSECOND=${times.seconds.join(',')}`]
  const days = every === null || every.count === 1 ? daysOf(times) : daysOfPeriods(times, every.unit, every.count)
  return days.map((day) => `RRULE:${[day[0], ...months, ...day.slice(1), ...clock].join(';')}`)
}

/** For each line what comes before the months, and what comes after them. */
function daysOf({ days, weekdays }: CronTimes): string[][] {
  if (days === null && weekdays === null) return [['FREQ=DAILY']]
  const lines: string[][] = []
  if (days !== null) lines.push(['FREQ=MONTHLY', datesOf(days)])
  if (weekdays !== null) lines.push([isPlain(weekdays) ? 'FREQ=WEEKLY' : 'FREQ=MONTHLY', weekdaysOf(weekdays)])
  return lines
}

function daysOfPeriods(times: CronTimes, unit: 'day' | 'week' | 'month' | 'year', count: number): string[][] {
  const { days, weekdays } = times
  const anyDay = days === null && weekdays === null
  if (unit === 'week') {
    const only = `FREQ=WEEKLY;INTERVAL=${count};WKST=MO`
    if (days !== null || (weekdays !== null && !isPlain(weekdays))) return []
    return [[only, weekdays === null ? EVERY_WEEKDAY : weekdaysOf(weekdays)]]
  }
  const only = `FREQ=${{ day: 'DAILY', month: 'MONTHLY', year: 'YEARLY' }[unit]};INTERVAL=${count}`
  if (anyDay) return [unit === 'day' ? [only] : [only, EVERY_DAY]]
  const lines: string[][] = []
  if (days !== null) lines.push([only, datesOf(days)])
  if (weekdays !== null) {
    if (unit === 'day') lines.push(...weekdaysAsDates(weekdays).map((parts) => [only, ...parts]))
    else lines.push([only, weekdaysOf(weekdays)])
  }
  return lines
}

function isPlain(weekdays: NonNullable<CronTimes['weekdays']>): boolean {
  return weekdays.nth === 0 && weekdays.last.length === 0
}

function datesOf({ values, last }: NonNullable<CronTimes['days']>): string {
  return `BYMONTHDAY=${[...values, ...(last ? [-1] : [])].join(',')}`
}

function weekdaysOf({ values, nth, last }: NonNullable<CronTimes['weekdays']>): string {
  return `BYDAY=${[...values.map((each) => `${nth === 0 ? '' : nth}${WEEKDAYS[each]}`), ...last.map((each) => `-1${WEEKDAYS[each]}`)].join(',')}`
}

/** A daily rule knows no first Monday, but a Monday that is one of the first seven days. */
function weekdaysAsDates({ values, nth, last }: NonNullable<CronTimes['weekdays']>): string[][] {
  const lines: string[][] = []
  const named = (each: number[]) => `BYDAY=${each.map((weekday) => WEEKDAYS[weekday]).join(',')}`
  if (values.length > 0) {
    const dates = [1, 2, 3, 4, 5, 6, 7].map((date) => date + (nth - 1) * 7).filter((date) => date <= 31)
    lines.push(nth === 0 ? [named(values)] : [named(values), `BYMONTHDAY=${dates.join(',')}`])
  }
  if (last.length > 0) lines.push([named(last), 'BYMONTHDAY=-7,-6,-5,-4,-3,-2,-1'])
  return lines
}
