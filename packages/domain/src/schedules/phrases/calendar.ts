import type { ScheduleWarning } from '../schedule.ts'
import type { WrittenBounds } from './bounds.ts'
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
} from './clock.ts'
import { Ambiguous, refused } from './refusal.ts'
import { type CalendarRule, phraseOfRule } from './rule.ts'
import { type Series, type SeriesParts, seriesOf } from './series.ts'
import { inWords, type MonthDay, type Nth, ordinal, type Rank, type Span } from './words.ts'

export interface CalendarSpan extends Span {
  unit: 'day' | 'week' | 'month' | 'year'
}

/** What the clauses of a recurrence say. Each may be said once. */
export interface Parts extends SeriesParts, Required<WrittenBounds> {
  spans: Span[]
  weekdays: number[]
  monthDays: MonthDay[]
  nths: Nth[]
  months: number[]
  /** What the rule leaves out. */
  except: { weekdays: number[] } | { months: number[] }
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
  const rephrase = (series: string): string => phraseOfRule({ ...complete(draft)[0], times: [], series })
  const series = parts.step || parts.minutes || parts.window ? seriesOf(parts, rephrase) : null
  if (series) return seriesRule(draft, series, parts)
  const offered = (times: TimeOfDay[]): string => phraseOfRule({ ...complete(draft)[0], times: sorted(times), series: null })
  const times = meantTimes(parts)
  if (!times) throw new Ambiguous(missingTime(parts), offeredTimes(parts).map(offered))
  if (draft.missing !== null) {
    const phrases = complete(draft).map((days) => phraseOfRule({ ...days, times: sorted(times), series: null }))
    throw new Ambiguous(draft.missing, phrases)
  }
  requireOneClock(times, offered)
  const hasNoDates = draft.rule.every.unit === 'day' && draft.rule.months.length === 0
  const late = hasNoDates ? [] : times.filter((time) => isAfterMidnight(time, parts.dayPart))
  const days = late.length > 0 ? followingDays(draft.rule, late.length < times.length) : draft.rule
  const rule = { ...days, times: distinctTimes(times).map(({ hour, minute, second }) => ({ hour, minute, second })), series: null }
  requireRate(rule, parts)
  const warnings = late.length > 0 ? [afterMidnightWarning(rule.times)] : timeWarnings(times, rule)
  return { rule, warnings: [...warnings, ...dayWarnings(rule)] }
}

/** A rule with times of day that are counted. */
function seriesRule(draft: Draft, series: Series, { times, dayPart, rate }: Partial<Parts>): { rule: CalendarRule; warnings: ScheduleWarning[] } {
  if (times || dayPart || rate) throw contradiction('an interval, or minutes of the hour, and times of day')
  const phrases = complete(draft).map((days) => phraseOfRule({ ...days, times: [], series: series.phrase }))
  if (draft.missing !== null) throw new Ambiguous(draft.missing, phrases)
  const { every, months } = draft.rule
  if (series.isOvernight && (every.unit !== 'day' || every.count > 1 || months.length > 0)) {
    throw refused(
      'The window goes on after midnight, on another day than it begins on. Make two schedules, one that ends at 23:59 and one that begins at 00:00.',
    )
  }
  const rule = { ...draft.rule, times: series.times, series: series.phrase }
  return { rule, warnings: [...series.warnings, ...dayWarnings(rule)] }
}

/** The days after the ones that are named, which is when their nights end. Throws for rules in which a day is more than its weekday. */
function followingDays(rule: Days, hasEarlierTimes: boolean): Days {
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

type Days = Omit<CalendarRule, 'times' | 'series'>

interface Draft {
  rule: Days
  /** What the phrase does not say about the days; null: nothing is missing. */
  missing: string | null
}

/** The rule with the days that are offered where the phrase names none. */
function complete({ rule, missing }: Draft): [Days, ...Days[]] {
  if (missing === null) return [rule]
  if (rule.every.unit === 'week') return [1, 5].map((weekday) => ({ ...rule, weekdays: [weekday] })) as [Days, Days]
  const isOpenYear = rule.every.unit === 'year' && rule.months.length === 0
  if (rule.monthDays.length + rule.nths.length > 0) return [1, 12].map((month) => ({ ...rule, months: [month] })) as [Days, Days]
  return [
    { ...rule, monthDays: [1], months: isOpenYear ? [1] : rule.months },
    { ...rule, monthDays: ['last'], months: isOpenYear ? [12] : rule.months },
  ]
}

function daysOfRule(span: CalendarSpan, parts: Partial<Parts>): Draft {
  const named = distinct(parts.weekdays ?? [], 'weekday', (day) => (day + 6) % 7)
  const monthDays = distinct(parts.monthDays ?? [], 'day of the month', dayRank)
  const nths = distinct(parts.nths ?? [], 'day of the month', ({ rank, weekday }) => (rank === 'last' ? 9 : rank) * 10 + ((weekday + 6) % 7))
  const months = without(
    distinct(parts.months ?? [], 'month', (month) => month),
    parts.except,
    'months',
  )
  const weekdays = without(named, parts.except, 'weekdays')
  requireDaysOfMonth(monthDays, nths)
  const hasMonthDays = monthDays.length + nths.length > 0 || parts.ofMonth === true
  if (parts.except && (hasMonthDays || !['day', 'week'].includes(span.unit)))
    throw refused('Exceptions go with rules of days and weeks. List the days or months instead.')
  if (parts.except && 'weekdays' in parts.except && !parts.weekdays && (span.unit === 'week' || span.count > 1))
    throw refused('Name the days that are meant, without the exception.')
  const isOfWeekdays = parts.except && 'weekdays' in parts.except && !parts.weekdays && span.unit === 'day' && span.count === 1
  const unit = isOfWeekdays ? 'week' : unitOf(span, parts, hasMonthDays)
  const rule = { every: { count: span.count, unit }, weekdays, monthDays, nths, months }
  if (months.length > 0 && span.count > 1 && unit !== 'year') throw refused('Every so many days, weeks or months cannot be limited to some months.')
  return { rule, missing: missingDays(rule) }
}

const ALL = { weekdays: [1, 2, 3, 4, 5, 6, 0], months: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] }

/** What is left of the named ones, or of all where none are named, in their order. Throws for an exception that excludes nothing, or leaves nothing. */
function without(named: number[], except: Parts['except'] | undefined, kind: keyof typeof ALL): number[] {
  const excluded = (except as Partial<Record<keyof typeof ALL, number[]>> | undefined)?.[kind]
  if (!excluded) return named
  const base = named.length > 0 ? named : ALL[kind]
  if (excluded.some((each) => !base.includes(each))) throw refused('The phrase excludes what it does not include. Name the days that are meant.')
  const left = base.filter((each) => !excluded.includes(each))
  if (left.length === 0) throw refused('The phrase excludes all that it includes. Name the days that are meant.')
  return left
}

/** In which order the days of a month are named. */
function dayRank(day: MonthDay): number {
  return { 'first workday': 0, 'last workday': 98, last: 99 }[day as string] ?? Number(day)
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

function missingDays({ every, weekdays, monthDays, nths, months }: Days): string | null {
  if (every.unit === 'week' && weekdays.length === 0) return 'The phrase does not say on which day of the week.'
  if (every.unit === 'month' && monthDays.length + nths.length === 0) return 'The phrase does not say on which day of the month.'
  if (every.unit === 'year' && (monthDays.length + nths.length === 0 || months.length === 0)) return 'The phrase does not say on which day of the year.'
  return null
}

function requireDaysOfMonth(monthDays: MonthDay[], nths: Nth[]): void {
  const day = monthDays.find((rank) => typeof rank === 'number' && (rank < 1 || rank > 31 || !Number.isInteger(rank)))
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
  const late = monthDays.filter((day) => typeof day === 'number' && day > 28).map(Number)
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

/** "Every second friday" can mean the second one of a month, or every other week. */
export function openRank({ rank, weekdays }: { rank: Rank; weekdays: number[] }, parts: Partial<Parts>): Ambiguous {
  const times = sorted(offerableTimes(parts) ?? OFFERED_TIMES[parts.dayPart ?? 'any'].slice(0, 1))
  const none = { weekdays: [], monthDays: [], nths: [], months: [], times, series: null }
  const months = parts.months ?? []
  const nths = weekdays.map((weekday) => ({ rank, weekday }))
  const ofMonth = phraseOfRule({ ...none, every: { count: 1, unit: months.length > 0 ? 'year' : 'month' }, nths, months })
  const ofWeeks = rank === 'last' || rank < 2 || months.length > 0 ? [] : [phraseOfRule({ ...none, every: { count: rank, unit: 'week' }, weekdays })]
  return new Ambiguous('It is open whether the weekday is counted in each month, or every so many weeks.', [ofMonth, ...ofWeeks], {
    isComplete: parts.times !== undefined,
  })
}

/** The quarters of the calendar, as the months that their days are in: a last day is one of the last month, all others are of the first. */
export function quarterMonths({ monthDays, nths, months, weekdays }: Partial<Parts>): number[] {
  if (months || weekdays) throw contradiction('quarters and other days')
  const ends = [...(monthDays ?? []).map((day) => day === 'last' || day === 'last workday'), ...(nths ?? []).map(({ rank }) => rank === 'last')]
  if (nths?.some(({ rank }) => rank === 5)) throw refused('Of a quarter only the first four weekdays of a name can be named, or the last. Name the months.')
  if (new Set(ends).size > 1) throw refused('Days of the first and of the last month of a quarter are two rules. Make two schedules.')
  return ends[0] === true ? [3, 6, 9, 12] : [1, 4, 7, 10]
}

/** A day of a quarter that the phrase leaves out: the first and the last are offered. */
export function openQuarter(parts: Partial<Parts>): Ambiguous {
  const times = sorted(offerableTimes(parts) ?? OFFERED_TIMES[parts.dayPart ?? 'any'].slice(0, 1))
  const common = { every: { count: 1, unit: 'year' as const }, weekdays: [], nths: [], times, series: null }
  return new Ambiguous('The phrase does not say on which day of the quarter.', [
    phraseOfRule({ ...common, monthDays: [1], months: [1, 4, 7, 10] }),
    phraseOfRule({ ...common, monthDays: ['last'], months: [3, 6, 9, 12] }),
  ])
}

export const QUARTER_WARNING: ScheduleWarning = {
  code: 'calendar_quarters',
  message: 'The quarters are those of the calendar, from January, April, July and October on; write "every 3 months" to count from now.',
}

/** Times, days of a month or months, but nothing that says that and how often they come again. */
export function withoutPeriod(parts: Partial<Parts>): Ambiguous {
  // A candidate names days of one kind: the others would be dropped without a word.
  if (parts.nths && (parts.monthDays ?? parts.weekdays)) throw contradiction('days of the week and days of the month')
  const times = sorted(offerableTimes(parts) ?? OFFERED_TIMES[parts.dayPart ?? 'any'].slice(0, 1))
  const common = { weekdays: [], monthDays: parts.monthDays ?? [], nths: parts.nths ?? [], months: parts.months ?? [], times, series: null }
  const hasDays = common.monthDays.length + common.nths.length > 0
  const phrases = hasDays
    ? [phraseOfRule({ ...common, every: { count: 1, unit: common.months.length > 0 ? 'year' : 'month' } })]
    : [phraseOfRule({ ...common, every: { count: 1, unit: 'day' } }), phraseOfRule({ ...common, every: { count: 1, unit: 'week' }, weekdays: [1, 2, 3, 4, 5] })]
  return new Ambiguous('The phrase does not say how often.', phrases, { isComplete: hasDays && parts.times !== undefined })
}
