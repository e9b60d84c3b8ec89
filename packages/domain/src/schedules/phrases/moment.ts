import { DomainError } from '../../core/errors.ts'
import { type DayPart, type Read, readTime, type WrittenTime } from './clock.ts'
import { readNamedDate, readNumericDate, type WrittenDate } from './dates.ts'
import { type Clause, compileClauses, longestClause, type ReadClauses, readClauses, type SlotReader, wordsOf } from './patterns.ts'
import { refused } from './refusal.ts'
import type { Token } from './tokens.ts'
import { type MonthDay, type Nth, readDayPart, readDuration, readMonth, readMonthDays, readNths, readWeekday, type Span } from './words.ts'

/** What the clauses of a point in time say. Each may be said once. */
export interface MomentParts {
  /** From now on: "in 2 hours", "3 days from now". */
  spans: Span[]
  /** From today on. */
  days: number
  weekday: { weekday: number; which: 'any' | 'next' | 'this' | 'of next week' }
  /** All that a date can mean. */
  dates: WrittenDate[]
  dayOfMonth: number
  /** A day of this month, of the next one, or of a named one. */
  dayInMonth: { day: MonthDay | Nth; month: 'this' | 'next' | number }
  time: WrittenTime
  dayPart: DayPart | 'tonight'
  /** A period without a day in it: "next week". */
  vague: 'week' | 'month' | 'year'
}

interface Slots {
  TIME: WrittenTime
  CLOCK: WrittenTime
  PART: DayPart
  DURATION: Span[]
  WEEKDAY: number
  NAMED: WrittenDate
  NUMERIC: WrittenDate[]
  DAYS: MonthDay[]
  NTHS: Nth[]
  MONTH: number
  WHICH: 'this' | 'next'
  PERIOD: MomentParts['vague']
}

const PERIODS = ['week', 'month', 'year'] as const

const SLOTS: Record<keyof Slots, SlotReader> = {
  TIME: readTime,
  CLOCK: (tokens, position) => {
    const time = readTime(tokens, position)
    return time?.value.isBare ? null : time
  },
  PART: readDayPart,
  DURATION: readDuration,
  WEEKDAY: readWeekday,
  NAMED: readNamedDate,
  NUMERIC: (tokens, position): Read<WrittenDate[]> | null => {
    const token = tokens[position]
    return token?.kind === 'date' ? { value: readNumericDate(token), next: position + 1 } : null
  },
  DAYS: readMonthDays,
  NTHS: readNths,
  MONTH: readMonth,
  WHICH: (tokens, position) => {
    const text = tokens[position]?.text
    return text === 'this' || text === 'next' ? { value: text, next: position + 1 } : null
  },
  PERIOD: (tokens, position) => {
    const value = PERIODS.find((period) => period === tokens[position]?.text)
    return value === undefined ? null : { value, next: position + 1 }
  },
}

/** All that a point in time can consist of, in any order. */
const TABLE: Clause<Slots, Partial<MomentParts>>[] = [
  { pattern: 'at TIME', part: ({ TIME }) => ({ time: TIME }) },
  { pattern: 'CLOCK', part: ({ CLOCK }) => ({ time: CLOCK }) },
  { pattern: 'in the PART', part: ({ PART }) => (PART === 'night' ? null : { dayPart: PART }) },
  { pattern: 'at PART', part: ({ PART }) => (PART === 'night' ? { dayPart: PART } : null) },
  { pattern: 'PART', part: ({ PART }) => ({ dayPart: PART }) },
  { pattern: 'this PART', part: ({ PART }) => ({ days: 0, dayPart: PART }) },
  { pattern: 'tonight', part: () => ({ days: 0, dayPart: 'tonight' }) },
  { pattern: 'today', part: () => ({ days: 0 }) },
  { pattern: 'tomorrow', part: () => ({ days: 1 }) },
  { pattern: 'the? day after tomorrow', part: () => ({ days: 2 }) },
  { pattern: 'in DURATION', part: ({ DURATION }) => ({ spans: DURATION }) },
  { pattern: 'DURATION from now', part: ({ DURATION }) => ({ spans: DURATION }) },
  { pattern: 'on? WEEKDAY', part: ({ WEEKDAY }) => ({ weekday: { weekday: WEEKDAY, which: 'any' } }) },
  { pattern: 'on? next WEEKDAY', part: ({ WEEKDAY }) => ({ weekday: { weekday: WEEKDAY, which: 'next' } }) },
  { pattern: 'on? this WEEKDAY', part: ({ WEEKDAY }) => ({ weekday: { weekday: WEEKDAY, which: 'this' } }) },
  { pattern: 'on? WEEKDAY next week', part: ({ WEEKDAY }) => ({ weekday: { weekday: WEEKDAY, which: 'of next week' } }) },
  { pattern: 'next week on? WEEKDAY', part: ({ WEEKDAY }) => ({ weekday: { weekday: WEEKDAY, which: 'of next week' } }) },
  { pattern: 'on? WEEKDAY this week', part: ({ WEEKDAY }) => ({ weekday: { weekday: WEEKDAY, which: 'this' } }) },
  { pattern: 'next PERIOD', part: ({ PERIOD }) => ({ vague: PERIOD }) },
  { pattern: 'on? the? NAMED', part: ({ NAMED }) => ({ dates: [NAMED] }) },
  { pattern: 'on? NUMERIC', part: ({ NUMERIC }) => ({ dates: NUMERIC }) },
  { pattern: 'on? the DAYS', part: ({ DAYS }) => (DAYS.length === 1 && typeof DAYS[0] === 'number' ? { dayOfMonth: DAYS[0] } : null) },
  { pattern: 'on? the? NTHS of|in WHICH month', part: ({ NTHS, WHICH }) => dayInMonth(NTHS, WHICH) },
  { pattern: 'on? the? DAYS of|in WHICH month', part: ({ DAYS, WHICH }) => dayInMonth(DAYS, WHICH) },
  { pattern: 'on? the? NTHS of|in MONTH', part: ({ NTHS, MONTH }) => dayInMonth(NTHS, MONTH) },
  { pattern: 'on? the? DAYS of|in MONTH', part: ({ DAYS, MONTH }) => (typeof DAYS[0] === 'string' ? dayInMonth(DAYS, MONTH) : null) },
  { pattern: 'at|on? the? end of the? month', part: () => dayInMonth(['last'], 'this') },
  { pattern: 'at|on? the? end of WHICH month', part: ({ WHICH }) => dayInMonth(['last'], WHICH) },
  { pattern: 'at|on? the? end of MONTH', part: ({ MONTH }) => dayInMonth(['last'], MONTH) },
  { pattern: 'on? the? end of the? year', part: () => dayInMonth(['last'], 12) },
]

function dayInMonth(days: (MonthDay | Nth)[], month: MomentParts['dayInMonth']['month']): Partial<MomentParts> | null {
  const [day, another] = days
  return day === undefined || another !== undefined ? null : { dayInMonth: { day, month } }
}

const CLAUSES = compileClauses(TABLE)
export const CLAUSE_WORDS = wordsOf(CLAUSES)

/** The clause at a place that names a day and nothing else: "next monday", "december 1". */
export function readDayClause(tokens: Token[], position: number): Read<Partial<MomentParts>> | null {
  const clause = longestClause(CLAUSES, { slots: SLOTS, tokens, reach: { furthest: 0 } }, position)
  return clause && daysNamed(clause.value).length === Object.keys(clause.value).length ? clause : null
}

/** What a phrase says of a point in time, or the token that is not understood. */
export function readMomentParts(tokens: Token[]): ReadClauses<MomentParts> {
  const refuseDouble = (name: keyof MomentParts): Error =>
    refused(`The phrase names two ${name === 'time' ? 'times of day' : 'days'}. Name one, or make two schedules.`)
  const read = readClauses<Slots, MomentParts>(CLAUSES, SLOTS, tokens, refuseDouble)
  if (read.parts && daysNamed(read.parts).length > 1) throw refuseDouble('days')
  return read
}

function daysNamed(parts: Partial<MomentParts>): string[] {
  return (['spans', 'days', 'weekday', 'dates', 'dayOfMonth', 'dayInMonth', 'vague'] as const).filter((name) => name in parts)
}

/** Whether it names a point in time that comes once, which weekdays and times alone do not. */
export function isMoment(tokens: Token[]): boolean {
  try {
    const { parts } = readMomentParts(tokens)
    return parts !== null && daysNamed(parts).length > 0 && parts.weekday?.which !== 'any'
  } catch (error) {
    if (error instanceof DomainError) return false
    throw error
  }
}
