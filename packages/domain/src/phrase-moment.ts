import { DomainError } from './errors.ts'
import { type DayPart, type Read, readTime, type WrittenTime } from './phrase-clock.ts'
import { readNamedDate, readNumericDate, type WrittenDate } from './phrase-dates.ts'
import { type Clause, compileClauses, type ReadClauses, readClauses, type SlotReader } from './phrase-patterns.ts'
import { refused } from './phrase-refusal.ts'
import type { Token } from './phrase-tokens.ts'
import { type Rank, readDayPart, readDuration, readMonthDays, readWeekday, type Span } from './phrase-words.ts'

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
  DAYS: Rank[]
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
  { pattern: 'on? the DAYS', part: ({ DAYS }) => (DAYS.length === 1 && DAYS[0] !== 'last' ? { dayOfMonth: Number(DAYS[0]) } : null) },
]
const CLAUSES = compileClauses(TABLE)

/** What a phrase says of a point in time, or the token that is not understood. */
export function readMomentParts(tokens: Token[]): ReadClauses<MomentParts> {
  const refuseDouble = (name: keyof MomentParts): Error =>
    refused(`The phrase names two ${name === 'time' ? 'times of day' : 'days'}. Name one, or make two schedules.`)
  const read = readClauses<Slots, MomentParts>(CLAUSES, SLOTS, tokens, refuseDouble)
  if (read.parts && daysNamed(read.parts).length > 1) throw refuseDouble('days')
  return read
}

function daysNamed(parts: Partial<MomentParts>): string[] {
  return (['spans', 'days', 'weekday', 'dates', 'dayOfMonth', 'vague'] as const).filter((name) => name in parts)
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
