import type { ScheduleWarning } from '../schedule.ts'
import { readWrittenDay, type WrittenBounds, type WrittenDay } from './bounds.ts'
import { type CalendarSpan, calendarRule, openQuarter, openRank, type Parts, QUARTER_WARNING, quarterMonths, withoutPeriod } from './calendar.ts'
import { type DayPart, type Read, readList, readTime, readTimes, type TimeOfDay, type WrittenTime } from './clock.ts'
import { type Clause, compileClauses, readClauses, type SlotReader, wordsOf } from './patterns.ts'
import { Ambiguous, refused } from './refusal.ts'
import type { CalendarRule } from './rule.ts'
import type { Token } from './tokens.ts'
import {
  type MonthDay,
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
  readWeekdaySpan,
  readWeekdays,
  type Span,
  UNIT_SECONDS,
} from './words.ts'

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
  RANGE: number[]
  DAYS: MonthDay[]
  NTHS: Nth[]
  DATES: MonthDay[]
  NUMBER: number
  MONTHS: number[]
  RATE: number
  FROM: WrittenTime
  TO: WrittenTime
  MINUTES: number[]
  HALF: number
  DATE: WrittenDay
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
  RANGE: readWeekdaySpan,
  DAYS: readMonthDays,
  NTHS: readNths,
  DATES: readDates,
  NUMBER: readDayNumber,
  MONTHS: readMonths,
  RATE: readRate,
  FROM: readTime,
  TO: readTime,
  MINUTES: (tokens, position) => readList(tokens, position, readMinute),
  HALF: (tokens, position) => {
    const minute = { quarter: 15, half: 30 }[tokens[position]?.text ?? '']
    return minute === undefined ? null : { value: minute, next: position + 1 }
  },
  DATE: readWrittenDay,
}

/** ":15". */
function readMinute(tokens: Token[], position: number): Read<number> | null {
  const token = tokens[position]
  return token?.kind === 'minute' && token.value < 60 ? { value: token.value, next: position + 1 } : null
}

const HOURLY: Span[] = [{ count: 1, unit: 'hour', isImplied: true }]
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

  { pattern: 'DURATION', part: ({ DURATION }) => howOften(DURATION) },
  { pattern: 'every|each COUNTED', part: ({ COUNTED }) => howOften(COUNTED) },
  { pattern: 'once every|each COUNTED', part: ({ COUNTED }) => howOften(COUNTED) },
  { pattern: 'every|each UNIT', part: ({ UNIT }) => howOften([UNIT]) },
  { pattern: 'every|each UNIT and a half', part: ({ UNIT }) => howOften([{ ...UNIT, count: UNIT.count + 0.5, isImplied: false }]) },
  { pattern: 'every|each other UNIT', part: ({ UNIT }) => howOften([{ ...UNIT, count: UNIT.count * 2 }]) },
  { pattern: 'every|each RANK UNIT', part: ({ RANK, UNIT }) => (RANK === 'last' || RANK < 2 ? null : howOften([{ ...UNIT, count: UNIT.count * RANK }])) },
  { pattern: 'ADVERB', part: ({ ADVERB }) => howOften([ADVERB]) },
  { pattern: 'nightly', part: () => ({ spans: DAILY, dayPart: 'night' }) },
  { pattern: 'quarterly', part: () => ({ quarterly: true }) },
  { pattern: 'every|each quarter', part: () => ({ quarterly: true }) },
  { pattern: 'of|in the|every|each quarter', part: () => ({ quarterly: true }) },
  { pattern: 'at|on? the? end of the|every|each? quarter', part: () => ({ quarterly: true, monthDays: ['last'] }) },
  { pattern: 'at|on? the? beginning|start of the|every|each? quarter', part: () => ({ quarterly: true, monthDays: [1] }) },

  { pattern: 'between FROM and|to|- TO', part: ({ FROM, TO }) => ({ window: { from: FROM, to: TO } }) },
  { pattern: 'from FROM to|until|till|through|- TO', part: ({ FROM, TO }) => ({ window: { from: FROM, to: TO } }) },
  { pattern: 'FROM to|- TO', part: ({ FROM, TO }) => ({ window: { from: FROM, to: TO } }) },
  { pattern: 'at|on? MINUTES', part: ({ MINUTES }) => ({ minutes: MINUTES }) },
  { pattern: 'at? NUMBER minutes|mins|min? past|after the hour', part: ({ NUMBER }) => pastTheHour(NUMBER) },
  { pattern: 'at? NUMBER minutes|mins|min? past|after every|each hour', part: ({ NUMBER }) => pastTheHour(NUMBER, HOURLY) },
  { pattern: 'at? a? HALF past|after the hour', part: ({ HALF }) => pastTheHour(HALF) },
  { pattern: 'at? a? HALF past|after every|each hour', part: ({ HALF }) => pastTheHour(HALF, HOURLY) },
  { pattern: 'at? a? quarter to the hour', part: () => pastTheHour(45) },
  { pattern: 'at? a? quarter to every|each hour', part: () => pastTheHour(45, HOURLY) },
  { pattern: 'on the hour', part: () => pastTheHour(0) },
  { pattern: 'on the half hour', part: () => pastTheHour(30) },
  { pattern: 'RATE a|an|per|each|every UNIT', part: ({ RATE, UNIT }) => ({ ...howOften([UNIT]), rate: { count: RATE, unit: UNIT.unit } }) },
  { pattern: 'RATE ADVERB', part: ({ RATE, ADVERB }) => ({ ...howOften([ADVERB]), rate: { count: RATE, unit: ADVERB.unit } }) },

  { pattern: 'on? WEEKDAYS', part: ({ WEEKDAYS }) => ({ weekdays: WEEKDAYS }) },
  { pattern: 'from RANGE', part: ({ RANGE }) => ({ weekdays: RANGE }) },
  { pattern: 'on? every|each WEEKDAYS', part: ({ WEEKDAYS }) => ({ weekdays: WEEKDAYS }) },
  { pattern: 'once every|each WEEKDAYS', part: ({ WEEKDAYS }) => ({ weekdays: WEEKDAYS }) },
  { pattern: 'on? every|each other WEEKDAYS', part: ({ WEEKDAYS }) => ({ weekdays: WEEKDAYS, spans: FORTNIGHTLY }) },
  { pattern: 'on? every|each RANK WEEKDAYS', part: ({ RANK, WEEKDAYS }) => ({ open: { rank: RANK, weekdays: WEEKDAYS } }) },

  { pattern: 'on? every|each NTHS', part: ({ NTHS }) => (new Set(NTHS.map(({ rank }) => rank)).size > 1 ? { nths: NTHS, ofMonth: true } : null) },
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
  { pattern: 'at|on? the? end of the|every|each? month', part: () => ({ monthDays: ['last'], ofMonth: true }) },
  { pattern: 'at|on? month end', part: () => ({ monthDays: ['last'], ofMonth: true }) },
  { pattern: 'at|on? the? beginning|start of the|every|each? month', part: () => ({ monthDays: [1], ofMonth: true }) },
  { pattern: 'of|in every|each month', part: () => ({ spans: MONTHLY }) },
  { pattern: 'of|in every|each COUNTED', part: ({ COUNTED }) => (COUNTED[0]?.unit === 'month' ? { spans: COUNTED } : null) },

  { pattern: 'on? the? DATES of? MONTHS', part: ({ DATES, MONTHS }) => ({ monthDays: DATES, months: MONTHS }) },
  { pattern: 'on? MONTHS the? DATES', part: ({ DATES, MONTHS }) => ({ monthDays: DATES, months: MONTHS }) },
  { pattern: 'on? every|each DATES of? MONTHS', part: ({ DATES, MONTHS }) => ({ monthDays: DATES, months: MONTHS, spans: YEARLY }) },
  { pattern: 'on? every|each MONTHS the? DATES', part: ({ DATES, MONTHS }) => ({ monthDays: DATES, months: MONTHS, spans: YEARLY }) },
  { pattern: 'except|excluding for|on? WEEKDAYS', part: ({ WEEKDAYS }) => ({ except: { weekdays: WEEKDAYS } }) },
  { pattern: 'but not? on? WEEKDAYS', part: ({ WEEKDAYS }) => ({ except: { weekdays: WEEKDAYS } }) },
  { pattern: 'except|excluding for|in? MONTHS', part: ({ MONTHS }) => ({ except: { months: MONTHS } }) },
  { pattern: 'but not? in? MONTHS', part: ({ MONTHS }) => ({ except: { months: MONTHS } }) },
  { pattern: 'starting|beginning|commencing from|on? DATE', part: ({ DATE }) => ({ starting: DATE }) },
  { pattern: 'starting|beginning at TIMES', part: ({ TIMES }) => ({ starting: { parts: {} }, times: TIMES }) },
  { pattern: 'until|till DATE', part: ({ DATE }) => ({ ending: { ...DATE, isIncluded: true, isSaid: false } }) },
  { pattern: 'through|thru DATE', part: ({ DATE }) => ({ ending: { ...DATE, isIncluded: true, isSaid: true } }) },
  { pattern: 'ending on? DATE', part: ({ DATE }) => ({ ending: { ...DATE, isIncluded: true, isSaid: true } }) },
  { pattern: 'before DATE', part: ({ DATE }) => ({ ending: { ...DATE, isIncluded: false, isSaid: true } }) },

  { pattern: 'in|during|of MONTHS', part: ({ MONTHS }) => ({ months: MONTHS }) },
  { pattern: 'in|of? every|each MONTHS', part: ({ MONTHS }) => ({ months: MONTHS, spans: YEARLY }) },
]
const CLAUSES = compileClauses(TABLE)
export const CLAUSE_WORDS = wordsOf(CLAUSES)

/** An interval shorter than a day is counted within it, one of days or more through them. */
function howOften(spans: Span[]): Partial<Parts> {
  return spans.every(({ unit }) => ['second', 'minute', 'hour'].includes(unit)) ? { step: spans } : { spans }
}

function pastTheHour(minute: number, step?: Span[]): Partial<Parts> | null {
  return minute < 60 ? { minutes: [minute], ...(step ? { step } : {}) } : null
}

/** What a recurrence was read as, within the days that it begins and ends on. */
export type Recurrence = { written: WrittenBounds } & (
  | { kind: 'interval'; seconds: number; phrase: string; startsAt: TimeOfDay | null }
  | { kind: 'calendar'; rule: CalendarRule; warnings: ScheduleWarning[] }
)

/** Null: the tokens are none, and `stuckAt` is not understood. */
export type RecurrenceAttempt = { recurrence: Recurrence } | { recurrence: null; stuckAt: Token | null }

/**
 * @param boundsPhrase where the rule begins and ends, as candidates have it behind them
 * @throws DomainError and Ambiguous for what is understood and contradicts itself, or says too little
 */
export function readRecurrence(tokens: Token[], boundsPhrase: (written: WrittenBounds) => string): RecurrenceAttempt {
  const refuseDouble = (name: keyof Parts): Error => refused(`The phrase ${SAID_TWICE[name]}. Say it once, or make two schedules.`)
  const read = readClauses<Slots, Parts>(CLAUSES, SLOTS, tokens, refuseDouble)
  return read.parts ? { recurrence: combined(read.parts, boundsPhrase) } : { recurrence: null, stuckAt: read.stuckAt }
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
  step: 'says twice how often',
  window: 'names hours of the day in two places',
  minutes: 'names minutes of the hour in two places',
  except: 'names exceptions in two places',
  starting: 'says twice when it begins',
  ending: 'says twice when it ends',
  open: 'names weekdays in two places',
}

function combined({ starting, ending, ...parts }: Partial<Parts>, boundsPhrase: (written: WrittenBounds) => string): Recurrence {
  const written: WrittenBounds = { ...(starting ? { starting } : {}), ...(ending ? { ending } : {}) }
  try {
    return combine(parts, written)
  } catch (error) {
    if (!(error instanceof Ambiguous)) throw error
    const behind = boundsPhrase(written)
    const phrases = error.phrases.map((phrase) => `${phrase}${behind}`)
    throw new Ambiguous(error.message, phrases, error)
  }
}

/** What may stand beside "every second friday", which is open itself. */
const BESIDE_OPEN = new Set(['open', 'times', 'dayPart', 'months'])

function combine(parts: Partial<Parts>, written: WrittenBounds): Recurrence {
  if (parts.open && Object.keys(parts).some((name) => !BESIDE_OPEN.has(name)))
    throw refused('The phrase says twice on which days. Say it once, or make two schedules.')
  if (parts.open) throw openRank(parts.open, parts)
  const interval = intervalOf(parts, written.starting !== undefined)
  if (interval) return { ...interval, written }
  if (parts.quarterly) {
    if (parts.spans || parts.ofMonth || parts.rate) throw refused('The phrase says twice how often. Say it once, or make two schedules.')
    if (!parts.monthDays && !parts.nths) throw openQuarter(parts)
    const { rule, warnings } = calendarRule(YEARLY[0] as CalendarSpan, { ...parts, months: quarterMonths(parts) })
    return { kind: 'calendar', rule, warnings: [...warnings, QUARTER_WARNING], written }
  }
  const spans = parts.spans ?? impliedSpans(parts)
  const [span, ...others] = spans
  if (!span) throw withoutPeriod(parts)
  if (spans.some(({ count }) => !(count > 0))) throw refused('An interval has to be longer than nothing.')
  if (others.length > 0 || UNIT_SECONDS[span.unit] === 1 || !Number.isInteger(span.count)) throw notOfTheCalendar()
  if (span.count > (PERIODS_MAX[span.unit] ?? 0)) throw tooLong()
  return { kind: 'calendar', ...calendarRule(span as CalendarSpan, parts), written }
}

/** A length of time and nothing else counts real time; it may begin at a time of day. Null: it is a rule of the calendar. */
function intervalOf(parts: Partial<Parts>, isStarted: boolean): Omit<Recurrence & { kind: 'interval' }, 'written'> | null {
  const { step, spans, times, ...others } = parts
  const [time, another] = times ?? []
  const length = step ?? spans
  if (!length || (step && spans) || Object.keys(others).length > 0 || another) return null
  if (length.some(({ count }) => !(count > 0))) throw refused('An interval has to be longer than nothing.')
  if (spans && (times || spans.some(({ unit, isImplied }) => isImplied || UNIT_SECONDS[unit] === undefined))) return null
  if (step && time && !isStarted) throw notOfTheCalendar()
  if (isStarted && !time) {
    if (spans) return null
    throw refused('An interval that begins on a day needs the time of its first firing, as in "every 2 hours starting tomorrow at 9:00".')
  }
  const startsAt = time ? { hour: time.hour, minute: time.minute, second: time.second } : null
  return { kind: 'interval', ...lengthOf(length), startsAt }
}

/** Ten years of each. */
const PERIODS_MAX: Partial<Record<Span['unit'], number>> = { day: 3_660, week: 520, month: 120, year: 10 }

function tooLong(): Error {
  return refused('Between two firings there may be ten years at most.')
}

function notOfTheCalendar(): Error {
  return refused(
    'Intervals shorter than a day, or of several units, count real time and take no times of day. ' +
      'Say between which hours, as in "every 2 hours from 9:00 to 17:00", or when they begin, as in "every 2 hours starting tomorrow at 9:00".',
  )
}

/** Without "every": weekdays come every week, days of the month every month, those of a named month every year. */
function impliedSpans({ weekdays, monthDays, nths, ofMonth, months, step, minutes, window, except }: Partial<Parts>): Span[] {
  if (weekdays) return [{ count: 1, unit: 'week', isImplied: true }]
  if ((monthDays || nths) && ofMonth) return [{ count: 1, unit: 'month', isImplied: true }]
  if ((monthDays || nths) && months && months.length > 1) return YEARLY
  if (except) return DAILY
  if (step || minutes || window) return monthDays || nths || ofMonth ? (months ? YEARLY : MONTHLY) : DAILY
  return []
}

function lengthOf(spans: Span[]): { seconds: number; phrase: string } {
  const seconds = spans.reduce((sum, { count, unit }) => sum + count * (UNIT_SECONDS[unit] ?? 0), 0)
  if (seconds > 10 * 366 * 86_400) throw tooLong()
  if (!Number.isInteger(seconds)) throw refused('An interval has to be a whole number of seconds.')
  return { seconds, phrase: `every ${lengthWords(seconds)}` }
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
  ...['every', 'each', 'daily', 'everyday', 'hourly', 'weekly', 'fortnightly', 'monthly', 'quarterly', 'yearly', 'annually', 'nightly', 'twice', 'thrice'],
  ...['weekdays', 'workdays', 'weekends', 'mornings', 'afternoons', 'evenings', 'nights'],
])

/** Whether the phrase speaks of something that comes again: one of those words, plural weekdays, or "of the month". */
export function comesAgain(tokens: Token[]): boolean {
  const isPlural = ({ text }: Token): boolean => /^[a-z]+days$/.test(text) && text !== 'days'
  const isOfMonth = (index: number): boolean =>
    ['of', 'in'].includes(tokens[index]?.text ?? '') &&
    tokens[index - 1]?.text !== 'end' &&
    tokens[index + 1]?.text === 'the' &&
    tokens[index + 2]?.text === 'month'
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
  throw new Ambiguous(`"${token.text}" may mean ${senses.join(' or ')}.`, candidates, { isComplete: true })
}
