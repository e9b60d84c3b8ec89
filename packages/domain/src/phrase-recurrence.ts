import { type CalendarSpan, calendarRule, openQuarter, openRank, type Parts, withoutPeriod } from './phrase-calendar.ts'
import { type DayPart, type Read, readTimes, type WrittenTime } from './phrase-clock.ts'
import { type Clause, compileClauses, readClauses, type SlotReader } from './phrase-patterns.ts'
import { Ambiguous, refused } from './phrase-refusal.ts'
import type { CalendarRule } from './phrase-rule.ts'
import type { Token } from './phrase-tokens.ts'
import {
  type Nth,
  type Rank,
  readAdverb,
  readCounted,
  readDates,
  readDayNumber,
  readDayPart,
  readDuration,
  readMonthDays,
  readMonths,
  readNths,
  readRank,
  readRate,
  readUnit,
  readWeekdays,
  type Span,
  UNIT_SECONDS,
} from './phrase-words.ts'
import type { ScheduleWarning } from './schedule.ts'

interface Slots {
  TIMES: WrittenTime[]
  CLOCKS: WrittenTime[]
  PART: DayPart
  DURATION: Span[]
  COUNTED: Span[]
  UNIT: Span
  ADVERB: Span
  RANK: Rank
  WEEKDAYS: number[]
  DAYS: Rank[]
  NTHS: Nth[]
  DATES: Rank[]
  NUMBER: number
  MONTHS: number[]
  RATE: number
}

/** Without `at` a time has to look like one. */
function readClocks(tokens: Token[], position: number): Read<WrittenTime[]> | null {
  const times = readTimes(tokens, position)
  return times?.value[0]?.isBare ? null : times
}

const SLOTS: Record<keyof Slots, SlotReader> = {
  TIMES: readTimes,
  CLOCKS: readClocks,
  PART: readDayPart,
  DURATION: readDuration,
  COUNTED: readCounted,
  UNIT: readUnit,
  ADVERB: readAdverb,
  RANK: readRank,
  WEEKDAYS: readWeekdays,
  DAYS: readMonthDays,
  NTHS: readNths,
  DATES: readDates,
  NUMBER: readDayNumber,
  MONTHS: readMonths,
  RATE: readRate,
}

const DAILY: Span[] = [{ count: 1, unit: 'day', isImplied: true }]
const YEARLY: Span[] = [{ count: 1, unit: 'year', isImplied: true }]
const MONTHLY: Span[] = [{ count: 1, unit: 'month', isImplied: true }]
const FORTNIGHTLY: Span[] = [{ count: 2, unit: 'week', isImplied: true }]

/** All that a recurrence can consist of, in any order. A word that stands in none of these patterns is not understood, wherever it stands. */
const TABLE: Clause<Slots, Partial<Parts>>[] = [
  { pattern: 'at TIMES', part: ({ TIMES }) => ({ times: TIMES }) },
  { pattern: 'CLOCKS', part: ({ CLOCKS }) => ({ times: CLOCKS }) },
  { pattern: 'in the PART', part: ({ PART }) => (PART === 'night' ? null : { dayPart: PART }) },
  { pattern: 'at PART', part: ({ PART }) => (PART === 'night' ? { dayPart: PART } : null) },
  { pattern: 'PART', part: ({ PART }) => ({ dayPart: PART }) },
  { pattern: 'every|each PART', part: ({ PART }) => ({ spans: DAILY, dayPart: PART }) },

  { pattern: 'DURATION', part: ({ DURATION }) => ({ spans: DURATION }) },
  { pattern: 'every|each COUNTED', part: ({ COUNTED }) => ({ spans: COUNTED }) },
  { pattern: 'every|each UNIT', part: ({ UNIT }) => ({ spans: [UNIT] }) },
  { pattern: 'every|each UNIT and a half', part: ({ UNIT }) => ({ spans: [{ ...UNIT, count: UNIT.count + 0.5, isImplied: false }] }) },
  { pattern: 'every|each other UNIT', part: ({ UNIT }) => ({ spans: [{ ...UNIT, count: UNIT.count * 2 }] }) },
  { pattern: 'every|each RANK UNIT', part: ({ RANK, UNIT }) => (RANK === 'last' || RANK < 2 ? null : { spans: [{ ...UNIT, count: UNIT.count * RANK }] }) },
  { pattern: 'ADVERB', part: ({ ADVERB }) => ({ spans: [ADVERB] }) },
  { pattern: 'quarterly', part: () => ({ quarterly: true }) },
  { pattern: 'every|each quarter', part: () => ({ quarterly: true }) },
  { pattern: 'RATE a|an|per|each|every UNIT', part: ({ RATE, UNIT }) => ({ spans: [UNIT], rate: { count: RATE, unit: UNIT.unit } }) },
  { pattern: 'RATE ADVERB', part: ({ RATE, ADVERB }) => ({ spans: [ADVERB], rate: { count: RATE, unit: ADVERB.unit } }) },

  { pattern: 'on? WEEKDAYS', part: ({ WEEKDAYS }) => ({ weekdays: WEEKDAYS }) },
  { pattern: 'on? every|each WEEKDAYS', part: ({ WEEKDAYS }) => ({ weekdays: WEEKDAYS }) },
  { pattern: 'on? every|each other WEEKDAYS', part: ({ WEEKDAYS }) => ({ weekdays: WEEKDAYS, spans: FORTNIGHTLY }) },
  { pattern: 'on? every|each RANK WEEKDAYS', part: ({ RANK, WEEKDAYS }) => ({ open: { rank: RANK, weekdays: WEEKDAYS } }) },

  { pattern: 'on? the? NTHS', part: ({ NTHS }) => ({ nths: NTHS }) },
  { pattern: 'on? every|each NTHS of|in the|a month', part: ({ NTHS }) => ({ nths: NTHS, ofMonth: true }) },
  { pattern: 'on? every|each NTHS of|in every|each month', part: ({ NTHS }) => ({ nths: NTHS, spans: MONTHLY }) },
  { pattern: 'on? every|each NTHS of|in every|each? MONTHS', part: ({ NTHS, MONTHS }) => ({ nths: NTHS, months: MONTHS, spans: YEARLY }) },
  { pattern: 'on? every|each DAYS', part: ({ DAYS }) => ({ monthDays: DAYS }) },
  { pattern: 'on? the? DAYS', part: ({ DAYS }) => ({ monthDays: DAYS }) },
  { pattern: 'on? every|each DAYS of|in the|a month', part: ({ DAYS }) => ({ monthDays: DAYS, ofMonth: true }) },
  { pattern: 'on the? day NUMBER', part: ({ NUMBER }) => ({ monthDays: [NUMBER] }) },
  { pattern: 'day NUMBER of|in the|a month', part: ({ NUMBER }) => ({ monthDays: [NUMBER], ofMonth: true }) },
  { pattern: 'day NUMBER of|in every|each month', part: ({ NUMBER }) => ({ monthDays: [NUMBER], spans: MONTHLY }) },
  { pattern: 'of|in the|a month', part: () => ({ ofMonth: true }) },
  { pattern: 'of|in every|each month', part: () => ({ spans: MONTHLY }) },
  { pattern: 'of|in every|each COUNTED', part: ({ COUNTED }) => (COUNTED[0]?.unit === 'month' ? { spans: COUNTED } : null) },

  { pattern: 'on? the? DATES of? MONTHS', part: ({ DATES, MONTHS }) => ({ monthDays: DATES, months: MONTHS }) },
  { pattern: 'on? MONTHS the? DATES', part: ({ DATES, MONTHS }) => ({ monthDays: DATES, months: MONTHS }) },
  { pattern: 'on? every|each DATES of? MONTHS', part: ({ DATES, MONTHS }) => ({ monthDays: DATES, months: MONTHS, spans: YEARLY }) },
  { pattern: 'on? every|each MONTHS the? DATES', part: ({ DATES, MONTHS }) => ({ monthDays: DATES, months: MONTHS, spans: YEARLY }) },
  { pattern: 'in|during|of MONTHS', part: ({ MONTHS }) => ({ months: MONTHS }) },
  { pattern: 'in|of? every|each MONTHS', part: ({ MONTHS }) => ({ months: MONTHS, spans: YEARLY }) },
]
const CLAUSES = compileClauses(TABLE)

/** What a recurrence was read as. */
export type Recurrence = { kind: 'interval'; seconds: number; phrase: string } | { kind: 'calendar'; rule: CalendarRule; warnings: ScheduleWarning[] }

/** Null: the tokens are none, and `stuckAt` is not understood. */
export type RecurrenceAttempt = { recurrence: Recurrence } | { recurrence: null; stuckAt: Token | null }

/** @throws DomainError and Ambiguous for what is understood and contradicts itself, or says too little */
export function readRecurrence(tokens: Token[]): RecurrenceAttempt {
  const refuseDouble = (name: keyof Parts): Error => refused(`The phrase ${SAID_TWICE[name]}. Say it once, or make two schedules.`)
  const read = readClauses<Slots, Parts>(CLAUSES, SLOTS, tokens, refuseDouble)
  return read.parts ? { recurrence: combine(read.parts) } : { recurrence: null, stuckAt: read.stuckAt }
}

const SAID_TWICE: Record<keyof Parts, string> = {
  spans: 'says twice how often',
  weekdays: 'names weekdays in two places',
  monthDays: 'names days of the month in two places',
  nths: 'names days of the month in two places',
  months: 'names months in two places',
  times: 'names times in two places; put them together, as in "at 9 and 17"',
  dayPart: 'names a part of the day twice',
  rate: 'says twice how often',
  ofMonth: 'names the month twice',
  quarterly: 'says twice how often',
  open: 'names weekdays in two places',
}

function combine(parts: Partial<Parts>): Recurrence {
  if (parts.open) throw openRank(parts.open, parts)
  if (parts.quarterly) throw openQuarter(parts)
  const spans = parts.spans ?? impliedSpans(parts)
  const [span, ...others] = spans
  if (!span) throw withoutPeriod(parts)
  if (spans.some(({ count }) => !(count > 0))) throw refused('An interval has to be longer than nothing.')
  const isShort = ['second', 'minute', 'hour'].includes(span.unit)
  const hasMore = Object.keys(parts).some((name) => name !== 'spans')
  if (!hasMore && (isShort || !span.isImplied) && spans.every(({ unit }) => UNIT_SECONDS[unit] !== undefined)) return intervalOf(spans)
  if (others.length > 0 || isShort || !Number.isInteger(span.count)) throw notOfTheCalendar()
  if (span.count > (PERIODS_MAX[span.unit] ?? 0)) throw tooLong()
  return { kind: 'calendar', ...calendarRule(span as CalendarSpan, parts) }
}

/** Ten years of each. */
const PERIODS_MAX: Partial<Record<Span['unit'], number>> = { day: 3_660, week: 520, month: 120, year: 10 }

function tooLong(): Error {
  return refused('Between two firings there may be ten years at most.')
}

function notOfTheCalendar(): Error {
  return refused(
    'Intervals shorter than a day, or of several units, count real time and take no days or times. ' +
      'Send a cron expression for hours of the day, as in "*/15 9-16 * * 1-5".',
  )
}

/** Without "every": weekdays come every week, days of the month every month, those of a named month every year. */
function impliedSpans({ weekdays, monthDays, nths, ofMonth, months }: Partial<Parts>): Span[] {
  if (weekdays) return [{ count: 1, unit: 'week', isImplied: true }]
  if ((monthDays || nths) && ofMonth) return [{ count: 1, unit: 'month', isImplied: true }]
  if ((monthDays || nths) && months && months.length > 1) return YEARLY
  return []
}

function intervalOf(spans: Span[]): Recurrence {
  const seconds = spans.reduce((sum, { count, unit }) => sum + count * (UNIT_SECONDS[unit] ?? 0), 0)
  if (seconds > 10 * 366 * 86_400) throw tooLong()
  if (!Number.isInteger(seconds)) throw refused('An interval has to be a whole number of seconds.')
  return { kind: 'interval', seconds, phrase: `every ${lengthWords(seconds)}` }
}

/** Whole seconds in the largest unit that says them exactly: "90 minutes", "hour". A day is 24 hours, as it is counted. */
function lengthWords(seconds: number): string {
  const units = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
    ['second', 1],
  ] as const
  const [unit, size] = units.find(([name, length]) => seconds % length === 0 && (name !== 'day' || seconds > length)) ?? ['second', 1]
  return seconds === size ? unit : `${seconds / size} ${unit}s`
}

/** Words that say that something comes again. */
const AGAIN = new Set([
  ...['every', 'each', 'daily', 'everyday', 'hourly', 'weekly', 'fortnightly', 'monthly', 'quarterly', 'yearly', 'annually', 'twice', 'thrice'],
  ...['weekdays', 'workdays', 'weekends', 'mornings', 'afternoons', 'evenings', 'nights'],
])

/** Whether the phrase speaks of something that comes again: one of those words, plural weekdays, or "of the month". */
export function comesAgain(tokens: Token[]): boolean {
  const isPlural = ({ text }: Token): boolean => /^[a-z]+days$/.test(text) && text !== 'days'
  const isOfMonth = (index: number): boolean =>
    ['of', 'in'].includes(tokens[index]?.text ?? '') && tokens[index + 1]?.text === 'the' && tokens[index + 2]?.text === 'month'
  return tokens.some((token, index) => AGAIN.has(token.text) || isPlural(token) || isOfMonth(index))
}

/** Whether it is a length of time and nothing else. */
export function isInterval(tokens: Token[]): boolean {
  return readDuration(tokens, 0)?.next === tokens.length
}

/** Words that some use for twice in a period, and others for every second one. */
const TWO_SENSES = new Map([
  ['biweekly', ['every 2 weeks', 'twice a week']],
  ['bimonthly', ['every 2 months', 'twice a month']],
  ['biannually', ['twice a year', 'every 2 years']],
])

/** Throws candidates for a word with two senses. Where there are several of them, they are words that are not understood. */
export function requireClearWords(tokens: Token[], text: string): void {
  const [token, another] = tokens.filter(({ text: word }) => TWO_SENSES.has(word))
  const senses = token && !another ? TWO_SENSES.get(token.text) : undefined
  if (!token || !senses) return
  const candidates = senses.map((sense) => text.slice(0, token.start) + sense + text.slice(token.end))
  throw new Ambiguous(`"${token.text}" may mean ${senses.join(' or ')}.`, candidates)
}
