import { clockText, type TimeOfDay } from './clock.ts'
import { inWords, MONTHS, type MonthDay, type Nth, ordinal, WEEKDAYS } from './words.ts'

/** What a recurrence of the wall clock means, however it was put. Lists that do not apply are empty. */
export interface CalendarRule {
  every: { count: number; unit: 'day' | 'week' | 'month' | 'year' }
  weekdays: number[]
  monthDays: MonthDay[]
  nths: Nth[]
  months: number[]
  /** Sorted, none twice. */
  times: TimeOfDay[]
  /** What the times are called when they are counted: "every 15 minutes from 09:00 to 17:00". Null: they are listed. */
  series: string | null
}

/** The rule as a phrase that reads back to it, but for the zone. `Cased` gives names their capitals, for people. */
export function phraseOfRule(rule: CalendarRule, style: 'plain' | 'cased' = 'plain'): string {
  const days = daysOf(rule)
  const phrase = rule.series ? `${rule.series} ${days}` : [days, timesOf(rule.times)].filter((part) => part !== '').join(' at ')
  if (style === 'plain') return phrase
  const cased = phrase.replace(NAMES, (name) => `${name[0]?.toUpperCase()}${name.slice(1)}`).replace(/^e/, 'E')
  return cased.replace(/(?:first|last) business day/g, (day) => `${day} (Monday to Friday; holidays are not known)`)
}

const NAMES = new RegExp(`\\b(?:${[...WEEKDAYS, ...MONTHS].join('|')})\\b`, 'g')

function timesOf(times: TimeOfDay[]): string {
  return inWords(times.map(clockText))
}

function daysOf({ every, weekdays, monthDays, nths, months }: CalendarRule): string {
  const { count, unit } = every
  const period = count === 1 ? `every ${unit}` : `every ${count} ${unit}s`
  const inMonths = months.length === 0 ? '' : ` in ${monthNames(months)}`
  if (unit === 'day') return `${period}${inMonths}`
  if (unit === 'week') return `${weeksOf(period, count, weekdays)}${inMonths}`
  const days = nths.length > 0 ? nthsOf(nths) : monthDaysOf(monthDays)
  if (unit === 'month') return `${period} on ${days}`
  const [day] = monthDays
  if (typeof day === 'number' && monthDays.length === 1 && months.length === 1) return `${period} on ${day} ${monthNames(months)}`
  return `${period} on ${days} of ${monthNames(months)}`
}

function weeksOf(period: string, count: number, weekdays: number[]): string {
  if (weekdays.length === 0) return period
  const names = inWords(weekdays.map((day) => WEEKDAYS[day] ?? ''))
  if (count > 1) return `${period} on ${names}`
  if (weekdays.join() === '1,2,3,4,5') return 'every weekday'
  return `every ${names}`
}

function monthDaysOf(days: MonthDay[]): string {
  return days.length === 0 ? '' : `the ${inWords(days.map((day) => DAY_NAMES.get(day) ?? ordinal(Number(day))))}`
}

const DAY_NAMES = new Map<MonthDay, string>([
  ['last', 'last day'],
  ['first workday', 'first business day'],
  ['last workday', 'last business day'],
])
const CRON_DAYS = new Map<MonthDay, string>([
  ['last', 'L'],
  ['first workday', '1W'],
  ['last workday', 'LW'],
])

const RANKS = ['', 'first', 'second', 'third', 'fourth', 'fifth']

function nthsOf(nths: Nth[]): string {
  return `the ${inWords(nths.map(({ rank, weekday }) => `${rank === 'last' ? rank : RANKS[rank]} ${WEEKDAYS[weekday]}`))}`
}

function monthNames(months: number[]): string {
  return inWords(months.map((month) => MONTHS[month - 1] ?? ''))
}

/** The six-field cron expressions that are due when the rule is, its `every` aside. One for each minute and each day that share no field. */
export function cronsOfRule({ weekdays, monthDays, nths, months, times }: CalendarRule): string[] {
  const month = months.length === 0 ? '*' : months.join(',')
  const days =
    nths.length > 0
      ? nths.map(({ rank, weekday }) => `* ${month} ${rank === 'last' ? `${weekday}L` : `${weekday}#${rank}`}`)
      : monthDays.length > 0
        ? monthDays.map((day) => `${CRON_DAYS.get(day) ?? day} ${month} *`)
        : [`* ${month} ${weekdays.length === 0 ? '*' : weekdays.join(',')}`]
  return clocksOf(times).flatMap((clock) => days.map((day) => `${clock} ${day}`))
}

/** Second, minute and hour fields that multiply to the times: hours with the same minutes share one. */
function clocksOf(times: TimeOfDay[]): string[] {
  const minutesOfHour = new Map<string, number[]>()
  for (const { hour, minute, second } of times) {
    const key = `${second} ${hour}`
    minutesOfHour.set(key, [...(minutesOfHour.get(key) ?? []), minute])
  }
  const hoursOf = new Map<string, number[]>()
  for (const [key, minutes] of minutesOfHour) {
    const [second, hour] = key.split(' ').map(Number)
    const fields = `${second} ${minutes.join(',')}`
    hoursOf.set(fields, [...(hoursOf.get(fields) ?? []), hour ?? 0])
  }
  return [...hoursOf].map(([fields, hours]) => `${fields} ${hours.join(',')}`)
}
