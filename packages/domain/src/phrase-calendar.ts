import {
  afterMidnightWarning,
  clockText,
  type DayPart,
  distinctTimes,
  isAfterMidnight,
  NINE,
  OFFERED_TIMES,
  requireOneClock,
  type TimeOfDay,
  timesInDayPart,
  type WrittenTime,
} from './phrase-clock.ts'
import { Ambiguous, refused } from './phrase-refusal.ts'
import { type CalendarRule, phraseOfRule } from './phrase-rule.ts'
import { inWords, type Nth, ordinal, type Rank, type Span } from './phrase-words.ts'
import type { ScheduleWarning } from './schedule.ts'

export interface CalendarSpan extends Span {
  unit: 'day' | 'week' | 'month' | 'year'
}

/** What the clauses of a recurrence say. Each may be said once. */
export interface Parts {
  spans: Span[]
  weekdays: number[]
  monthDays: Rank[]
  nths: Nth[]
  months: number[]
  times: WrittenTime[]
  dayPart: DayPart
  /** Of "twice a week": how many, of what. */
  rate: { count: number; unit: Span['unit'] }
  /** The days are those of a month, as in "of the month". */
  ofMonth: true
  quarterly: true
  /** "Every second friday": of the month, or in every second week. */
  open: { rank: Rank; weekdays: number[] }
}

/**
 * The rule that the clauses of a recurrence of days, weeks, months or years add up to. Throws where they contradict each other, and candidates where
 * something is missing.
 */
export function calendarRule(span: CalendarSpan, parts: Partial<Parts>): { rule: CalendarRule; warnings: ScheduleWarning[] } {
  const draft = daysOfRule(span, parts)
  const offered = (times: TimeOfDay[]): string => phraseOfRule({ ...complete(draft), times: sorted(times) })
  const times = meantTimes(parts)
  if (!times) throw new Ambiguous(missingTime(parts), offeredTimes(parts).map(offered))
  if (draft.missing !== null) throw new Ambiguous(draft.missing, [offered(times)])
  requireOneClock(times, offered)
  const hasNoDates = draft.rule.every.unit === 'day' && draft.rule.months.length === 0
  const late = hasNoDates ? [] : times.filter((time) => isAfterMidnight(time, parts.dayPart))
  const days = late.length > 0 ? followingDays(draft.rule, late.length < times.length) : draft.rule
  const rule = { ...days, times: distinctTimes(times).map(({ hour, minute, second }) => ({ hour, minute, second })) }
  requireRate(rule, parts)
  const warnings = late.length > 0 ? [afterMidnightWarning(rule.times)] : timeWarnings(times, rule)
  return { rule, warnings: [...warnings, ...dayWarnings(rule)] }
}

/** The days after the ones that are named, which is when their nights end. Throws for rules in which a day is more than its weekday. */
function followingDays(rule: Omit<CalendarRule, 'times'>, hasEarlierTimes: boolean): Omit<CalendarRule, 'times'> {
  const { every, weekdays, months } = rule
  const isSplit = every.count > 1 && weekdays.includes(0) && weekdays.length > 1
  if (every.unit !== 'week' || months.length > 0 || hasEarlierTimes || isSplit) {
    throw nightOfADay()
  }
  return { ...rule, weekdays: weekdays.map((weekday) => (weekday + 1) % 7).sort((left, right) => ((left + 6) % 7) - ((right + 6) % 7)) }
}

/** The times that were said, in the part of the day that was said. */
function meantTimes({ times, dayPart }: Partial<Parts>): WrittenTime[] | undefined {
  return times && dayPart ? timesInDayPart(times, dayPart) : times
}

function nightOfADay(): Error {
  return refused('The hours of a night after midnight are on the next date. Name that day and the hour, as in "saturday at 01:00", and leave out "night".')
}

/** The times that were said, for a candidate that names other days than the phrase: hours after midnight of a night have no place there. */
function offerableTimes(parts: Partial<Parts>): WrittenTime[] | undefined {
  const times = meantTimes(parts)
  const hasDays = (parts.weekdays ?? parts.monthDays ?? parts.nths ?? parts.open) !== undefined
  if (hasDays && times?.some((time) => isAfterMidnight(time, parts.dayPart))) throw nightOfADay()
  return times
}

interface Draft {
  rule: Omit<CalendarRule, 'times'>
  /** What the phrase does not say about the days; null: nothing is missing. */
  missing: string | null
}

function complete({ rule, missing }: Draft): Omit<CalendarRule, 'times'> {
  if (missing === null) return rule
  if (rule.every.unit === 'week') return { ...rule, weekdays: [1] }
  return { ...rule, monthDays: [1], months: rule.every.unit === 'year' && rule.months.length === 0 ? [1] : rule.months }
}

function daysOfRule(span: CalendarSpan, parts: Partial<Parts>): Draft {
  const weekdays = distinct(parts.weekdays ?? [], 'weekday', (day) => (day + 6) % 7)
  const monthDays = distinct(parts.monthDays ?? [], 'day of the month', (day) => (day === 'last' ? 99 : day))
  const nths = distinct(parts.nths ?? [], 'day of the month', ({ rank, weekday }) => (rank === 'last' ? 9 : rank) * 10 + ((weekday + 6) % 7))
  const months = distinct(parts.months ?? [], 'month', (month) => month)
  requireDaysOfMonth(monthDays, nths)
  const hasMonthDays = monthDays.length + nths.length > 0 || parts.ofMonth === true
  const unit = unitOf(span, parts, hasMonthDays)
  const rule = { every: { count: span.count, unit }, weekdays, monthDays, nths, months }
  if (months.length > 0 && span.count > 1 && unit !== 'year') throw refused('Every so many days, weeks or months cannot be limited to some months.')
  return { rule, missing: missingDays(rule) }
}

/** Of which periods the days are counted. Throws where several are named that do not go together. */
function unitOf(span: CalendarSpan, { spans, weekdays, monthDays, nths, months }: Partial<Parts>, hasMonthDays: boolean): CalendarSpan['unit'] {
  const period = span.count === 1 ? `every ${span.unit}` : `every ${span.count} ${span.unit}s`
  if ((weekdays && hasMonthDays) || (monthDays && nths)) throw contradiction('days of the week and days of the month')
  if (weekdays) {
    const isAllButWeekend = span.unit === 'day' && span.count === 1 && weekdays.length > 4
    if (isAllButWeekend || span.unit === 'week' || (span.unit === 'year' && span.count === 1 && months)) return 'week'
    throw contradiction(`"${period}" and days of the week`)
  }
  if (hasMonthDays && (span.unit === 'day' || span.unit === 'week')) throw contradiction(`"${period}" and days of the month`)
  if (spans && span.unit === 'month' && months) throw contradiction(`"${period}" and the name of a month`)
  return hasMonthDays && months && span.count === 1 ? 'year' : span.unit
}

function contradiction(what: string): Error {
  return refused(`The phrase has ${what}, which do not go together. Say one of them, or make two schedules.`)
}

function missingDays({ every, weekdays, monthDays, nths, months }: Omit<CalendarRule, 'times'>): string | null {
  if (every.unit === 'week' && weekdays.length === 0) return 'The phrase does not say on which day of the week.'
  if (every.unit === 'month' && monthDays.length + nths.length === 0) return 'The phrase does not say on which day of the month.'
  if (every.unit === 'year' && (monthDays.length + nths.length === 0 || months.length === 0)) return 'The phrase does not say on which day of the year.'
  return null
}

function requireDaysOfMonth(monthDays: Rank[], nths: Nth[]): void {
  const day = monthDays.find((rank) => rank !== 'last' && (rank < 1 || rank > 31 || !Number.isInteger(rank)))
  if (day !== undefined) throw refused(`No month has a ${ordinal(Number(day))} day.`)
  const nth = nths.find(({ rank }) => rank !== 'last' && (rank < 1 || rank > 5))
  if (nth) throw refused(`No month has a ${ordinal(Number(nth.rank))} weekday of one name: there are five at most.`)
}

/** In order. What is named twice was hardly meant to be. */
function distinct<T>(items: T[], name: string, rankOf: (item: T) => number): T[] {
  const inOrder = [...items].sort((left, right) => rankOf(left) - rankOf(right))
  if (inOrder.some((item, index) => index > 0 && rankOf(item) === rankOf(inOrder[index - 1] as T))) throw refused(`A ${name} is named twice. Name each once.`)
  return inOrder
}

function sorted(times: TimeOfDay[]): TimeOfDay[] {
  return [...times].sort((left, right) => clockText(left).localeCompare(clockText(right)))
}

function missingTime({ rate }: Partial<Parts>): string {
  return rate && rate.count > 1 ? 'The phrase does not say at which times.' : 'The phrase does not say at what time.'
}

function offeredTimes({ dayPart, rate }: Partial<Parts>): TimeOfDay[][] {
  if (rate?.unit === 'day' && rate.count > 1 && rate.count <= 12) {
    const apart = Math.min(8, Math.floor(12 / (rate.count - 1)))
    return [Array.from({ length: rate.count }, (_, index) => ({ ...NINE, hour: 9 + index * apart })).filter(({ hour }) => hour < 24)]
  }
  return OFFERED_TIMES[dayPart ?? 'any'].map((time) => [time])
}

/** "Twice a week" needs two days, and "twice a day" two times. */
function requireRate(rule: CalendarRule, { rate }: Partial<Parts>): void {
  if (!rate) return
  const days = Math.max(1, rule.weekdays.length + rule.monthDays.length + rule.nths.length) * (rate.unit === 'year' ? Math.max(1, rule.months.length) : 1)
  const found = days * rule.times.length
  if (found === rate.count) return
  throw refused(`The phrase says ${rate.count} times a ${rate.unit}, and names ${found} time${found === 1 ? '' : 's'}. Name as many as it says.`)
}

function timeWarnings(times: WrittenTime[], { every }: CalendarRule): ScheduleWarning[] {
  const open = times.filter(({ style, hour }) => style === 'open' && hour < 8)
  const warnings = open.map((time) => {
    const later = clockText({ ...time, hour: time.hour + 12 })
    const message = `"${time.written}" is read as ${clockText(time)}; write ${later} if the afternoon is meant.`
    return { code: 'bare_hour', message }
  })
  const hasMidnight = every.unit !== 'day' && times.some(({ style }) => style === 'midnight')
  return hasMidnight ? [...warnings, { code: 'midnight', message: 'Midnight is read as 00:00, when the named day begins.' }] : warnings
}

function dayWarnings({ monthDays, nths, months }: CalendarRule): ScheduleWarning[] {
  const late = monthDays.filter((day) => day !== 'last' && day > 28).map(Number)
  const short = months.length === 0 ? late : late.filter((day) => months.includes(2) || (day === 31 && months.some((month) => [4, 6, 9, 11].includes(month))))
  const warnings: ScheduleWarning[] = []
  if (short.length > 0) {
    const message = `Months without a ${inWords(short.map(ordinal))} are left out; "last day" is a day of every month.`
    warnings.push(months.join() === '2' ? { code: 'leap_years', message: 'Only leap years have that day.' } : { code: 'short_months', message })
  }
  if (nths.some(({ rank }) => rank === 5)) {
    warnings.push({ code: 'short_months', message: 'Months without a fifth one are left out; "last" is one of every month.' })
  }
  return warnings
}

/** "Every second friday" is said of the month and of every other week. */
export function openRank({ rank, weekdays }: { rank: Rank; weekdays: number[] }, parts: Partial<Parts>): Ambiguous {
  const times = sorted(offerableTimes(parts) ?? OFFERED_TIMES[parts.dayPart ?? 'any'].slice(0, 1))
  const none = { weekdays: [], monthDays: [], nths: [], months: [], times }
  const ofMonth = phraseOfRule({ ...none, every: { count: 1, unit: 'month' }, nths: weekdays.map((weekday) => ({ rank, weekday })) })
  const ofWeeks = rank === 'last' || rank < 2 ? [] : [phraseOfRule({ ...none, every: { count: rank, unit: 'week' }, weekdays })]
  return new Ambiguous('It is open whether the weekday is counted in each month, or every so many weeks.', [ofMonth, ...ofWeeks])
}

/** A quarter may be one of the calendar, or three months from now on. */
export function openQuarter(parts: Partial<Parts>): Ambiguous {
  const times = sorted(offerableTimes(parts) ?? OFFERED_TIMES[parts.dayPart ?? 'any'].slice(0, 1))
  const monthDays = parts.monthDays ?? (parts.nths ? [] : [1])
  const common = { weekdays: [], monthDays, nths: parts.nths ?? [], times }
  return new Ambiguous('It is open whether the quarters of the calendar are meant, or every three months from now on.', [
    phraseOfRule({ ...common, every: { count: 1, unit: 'year' }, months: [1, 4, 7, 10] }),
    phraseOfRule({ ...common, every: { count: 3, unit: 'month' }, months: [] }),
  ])
}

/** Times, days of a month or months, but nothing that says that and how often they come again. */
export function withoutPeriod(parts: Partial<Parts>): Ambiguous {
  const times = sorted(offerableTimes(parts) ?? OFFERED_TIMES[parts.dayPart ?? 'any'].slice(0, 1))
  const common = { weekdays: [], monthDays: parts.monthDays ?? [], nths: parts.nths ?? [], months: parts.months ?? [], times }
  const hasDays = common.monthDays.length + common.nths.length > 0
  const phrases = hasDays
    ? [phraseOfRule({ ...common, every: { count: 1, unit: common.months.length > 0 ? 'year' : 'month' } })]
    : [phraseOfRule({ ...common, every: { count: 1, unit: 'day' } }), phraseOfRule({ ...common, every: { count: 1, unit: 'week' }, weekdays: [1, 2, 3, 4, 5] })]
  return new Ambiguous('The phrase does not say how often.', phrases)
}
