import { DAY_PARTS, type DayPart, type Read, readList } from './clock.ts'
import { refused } from './refusal.ts'
import type { Token } from './tokens.ts'

export const UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'] as const
export type Unit = (typeof UNITS)[number]

/** A length of time. `isImplied`: the unwritten one of "every week". */
export interface Span {
  count: number
  unit: Unit
  isImplied: boolean
}

/** Of the months of the calendar, which have lengths of their own, none can be given. */
export const UNIT_SECONDS: Partial<Record<Unit, number>> = { second: 1, minute: 60, hour: 3_600, day: 86_400, week: 604_800 }

/** All words of the tables below. */
export const TABLE_WORDS = new Set<string>()

const UNIT_WORDS = words<{ unit: Unit; times: number }>([
  [{ unit: 'second', times: 1 }, 'second seconds sec secs s'],
  [{ unit: 'minute', times: 1 }, 'minute minutes min mins m'],
  [{ unit: 'hour', times: 1 }, 'hour hours hr hrs h'],
  [{ unit: 'day', times: 1 }, 'day days d'],
  [{ unit: 'week', times: 1 }, 'week weeks wk wks w'],
  [{ unit: 'week', times: 2 }, 'fortnight fortnights'],
  [{ unit: 'month', times: 1 }, 'month months'],
  [{ unit: 'year', times: 1 }, 'year years yr yrs'],
])

export const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const
export const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
] as const

const WEEKDAY_WORDS = words<number>([
  [0, 'sunday sundays sun'],
  [1, 'monday mondays mon'],
  [2, 'tuesday tuesdays tue tues'],
  [3, 'wednesday wednesdays wed'],
  [4, 'thursday thursdays thu thur thurs'],
  [5, 'friday fridays fri'],
  [6, 'saturday saturdays sat'],
])
const WEEKDAY_GROUPS = words<number[]>([
  [[1, 2, 3, 4, 5], 'weekday weekdays workday workdays'],
  [[6, 0], 'weekend weekends'],
])
const MONTH_WORDS = words<number>(MONTHS.map((month, index) => [index + 1, `${month} ${month.slice(0, 3)}${month === 'september' ? ' sept' : ''}`]))
const ADVERBS = words<Span>([
  [{ count: 1, unit: 'hour', isImplied: true }, 'hourly'],
  [{ count: 1, unit: 'day', isImplied: true }, 'daily everyday'],
  [{ count: 1, unit: 'week', isImplied: true }, 'weekly'],
  [{ count: 2, unit: 'week', isImplied: true }, 'fortnightly'],
  [{ count: 1, unit: 'month', isImplied: true }, 'monthly'],
  [{ count: 1, unit: 'year', isImplied: true }, 'yearly annually'],
])
const PART_WORDS = words<DayPart>(DAY_PARTS.map((part) => [part, `${part} ${part}s`]))
const RATES = words<number>([
  [1, 'once'],
  [2, 'twice'],
  [3, 'thrice'],
])

function words<T>(entries: [T, string][]): Map<string, T> {
  const table = new Map(entries.flatMap(([value, names]) => names.split(' ').map((name) => [name, value] as const)))
  for (const name of table.keys()) TABLE_WORDS.add(name)
  return table
}

function reader<T>(table: Map<string, T>): (tokens: Token[], position: number) => Read<T> | null {
  return (tokens, position) => {
    const value = table.get(tokens[position]?.text ?? '')
    return value === undefined ? null : { value, next: position + 1 }
  }
}

export const readWeekday = reader(WEEKDAY_WORDS)
export const readMonth = reader(MONTH_WORDS)
export const readAdverb = reader(ADVERBS)
export const readDayPart = reader(PART_WORDS)
const readWeekdayGroup = reader(WEEKDAY_GROUPS)
const readUnitWord = reader(UNIT_WORDS)

/** `week` without a number, and so not `weeks`. */
export function readUnit(tokens: Token[], position: number): Read<Span> | null {
  const unit = tokens[position]?.text.endsWith('s') ? null : readUnitWord(tokens, position)
  return unit && { value: { count: unit.value.times, unit: unit.value.unit, isImplied: true }, next: unit.next }
}

/** "twice", "3 times". */
export function readRate(tokens: Token[], position: number): Read<number> | null {
  const token = tokens[position]
  const rate = RATES.get(token?.text ?? '')
  if (rate !== undefined) return { value: rate, next: position + 1 }
  return token?.kind === 'number' && tokens[position + 1]?.text === 'times' ? { value: token.value, next: position + 2 } : null
}

export function readMonths(tokens: Token[], position: number): Read<number[]> | null {
  return readList(tokens, position, readMonth)
}

/** Weekdays in a list, with ranges and groups: "mon-fri", "monday and thursday", "mon wed fri", "weekdays and saturday", "m/w/f". */
export function readWeekdays(tokens: Token[], position: number): Read<number[]> | null {
  const list = readInitials(tokens, position) ?? readList(tokens, position, readWeekdayRange)
  if (!list) return null
  const more = readWeekday(tokens, list.next) ? readWeekdays(tokens, list.next) : null
  return { value: [...list.value.flat(), ...(more?.value ?? [])], next: more?.next ?? list.next }
}

const INITIALS = words<number>([
  [0, 'su'],
  [1, 'm mo'],
  [2, 't tu'],
  [3, 'w we'],
  [4, 'th'],
  [5, 'f fr'],
  [6, 'sa'],
])
const readInitial = reader(INITIALS)
const INITIAL_WORDS = words<number[]>([
  [[1, 3, 5], 'mwf'],
  [[2, 4], 'tth tuth'],
])

/** "m/w/f", "m-f", "tu th", "mwf": two at least. A `t` is Tuesday, and only beside a neighbour of Tuesday's: elsewhere it may be Thursday. */
function readInitials(tokens: Token[], position: number): Read<number[]> | null {
  const word = INITIAL_WORDS.get(tokens[position]?.text ?? '')
  if (word) return { value: word, next: position + 1 }
  const first = readInitial(tokens, position)
  if (!first) return null
  const last = tokens[first.next]?.text === '-' ? readInitial(tokens, first.next + 1) : null
  if (last) {
    const isClear = [position, first.next + 1].every((index) => tokens[index]?.text !== 't')
    return isClear ? { value: daysFromTo(first.value, last.value), next: last.next } : null
  }
  const values = [first.value]
  let next = first.next
  for (;;) {
    const item = readInitial(tokens, [',', '/', '&', 'and'].includes(tokens[next]?.text ?? '') ? next + 1 : next)
    if (!item) break
    values.push(item.value)
    next = item.next
  }
  const isClear = tokens.slice(position, next).every(({ text }) => text !== 't') || values.some((day) => day === 1 || day === 3 || day === 4)
  return values.length > 1 && isClear ? { value: values, next } : null
}

function daysFromTo(first: number, last: number): number[] {
  return Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, index) => (first + index) % 7)
}

function readWeekdayRange(tokens: Token[], position: number): Read<number[]> | null {
  const group = readWeekdayGroup(tokens, position)
  if (group) return group
  const isWorking = ['business', 'working'].includes(tokens[position]?.text ?? '') && ['day', 'days'].includes(tokens[position + 1]?.text ?? '')
  if (isWorking) return { value: [1, 2, 3, 4, 5], next: position + 2 }
  const first = readWeekday(tokens, position)
  return readWeekdaySpan(tokens, position) ?? (first && { value: [first.value], next: first.next })
}

/** "monday to friday", and nothing less than a range. */
export function readWeekdaySpan(tokens: Token[], position: number): Read<number[]> | null {
  const first = readWeekday(tokens, position)
  const isRange = first && ['-', 'to', 'through', 'thru'].includes(tokens[first.next]?.text ?? '')
  const last = isRange ? readWeekday(tokens, first.next + 1) : null
  return first && last && { value: daysFromTo(first.value, last.value), next: last.next }
}

/** "1st", "third", "last". */
export type Rank = number | 'last'
/** A day of a month. A workday is none of a weekend; holidays are not known. */
export type MonthDay = Rank | 'first workday' | 'last workday'

export function readRank(tokens: Token[], position: number): Read<Rank> | null {
  const token = tokens[position]
  if (token?.text === 'last') return { value: 'last', next: position + 1 }
  return token?.kind === 'ordinal' ? { value: token.value, next: position + 1 } : null
}

/** Days of a month: "1st and 15th", "the last day". */
export function readMonthDays(tokens: Token[], position: number): Read<MonthDay[]> | null {
  return readList(tokens, position, readMonthDay)
}

function readMonthDay(tokens: Token[], position: number): Read<MonthDay> | null {
  const start = tokens[position]?.text === 'the' ? position + 1 : position
  const rank = readRank(tokens, start)
  const workday = rank && workdayEnd(tokens, rank.next)
  if (rank && workday !== null) {
    if (rank.value !== 1 && rank.value !== 'last') throw noWorkingDays()
    return { value: rank.value === 1 ? 'first workday' : 'last workday', next: workday }
  }
  return rank && { value: rank.value, next: tokens[rank.next]?.text === 'day' ? rank.next + 1 : rank.next }
}

/** Where a business day ends that begins here, or null. */
function workdayEnd(tokens: Token[], position: number): number | null {
  const [word, another] = [tokens[position]?.text ?? '', tokens[position + 1]?.text]
  if (['weekday', 'workday'].includes(word)) return position + 1
  return ['business', 'working'].includes(word) && another === 'day' ? position + 2 : null
}

/** Days beside the name of a month, where a number needs no ending: "10", "10th", "1st and 15th", "last day". */
export function readDates(tokens: Token[], position: number): Read<MonthDay[]> | null {
  return readList<MonthDay>(tokens, position, (_, from) => {
    const token = tokens[from]
    return token?.kind === 'number' ? readDayNumber(tokens, from) : readMonthDay(tokens, from)
  })
}

/** A number that is no time. */
export function readDayNumber(tokens: Token[], position: number): Read<number> | null {
  const token = tokens[position]
  const isTime = ['am', 'pm', 'h', "o'clock"].includes(tokens[position + 1]?.text ?? '')
  return token?.kind === 'number' && /^\d{1,2}$/.test(token.text) && !isTime ? { value: token.value, next: position + 1 } : null
}

/** One weekday of a month: the third Friday, the last Monday. */
export interface Nth {
  rank: Rank
  weekday: number
}

/** "first monday", "1st and 3rd monday", "first monday and last friday". */
export function readNths(tokens: Token[], position: number): Read<Nth[]> | null {
  const list = readList(tokens, position, (_, from) => {
    const ranks = readList(tokens, from, readRank)
    if (ranks && workdayEnd(tokens, ranks.next) === null && readWeekdayGroup(tokens, ranks.next)) throw noWorkingDays()
    const weekday = ranks && readWeekday(tokens, ranks.next)
    return weekday && { value: ranks.value.map((rank) => ({ rank, weekday: weekday.value })), next: weekday.next }
  })
  return list && { value: list.value.flat(), next: list.next }
}

function noWorkingDays(): Error {
  return refused('Of the working days of a month only the first and the last can be named, and no weekend. Say "first business day", or "first monday".')
}

/** A duration that begins with its number, or with `half`. */
export function readCounted(tokens: Token[], position: number): Read<Span[]> | null {
  const text = tokens[position]?.text
  return text === 'a' || text === 'an' ? null : readDuration(tokens, position)
}

/** How long: "2 hours", "1h30m", "an hour and a half", "half an hour", "1.5 hours". Each unit once, the largest first. */
export function readDuration(tokens: Token[], position: number): Read<Span[]> | null {
  const spans: Span[] = []
  let next = position
  for (;;) {
    const from = spans.length > 0 && ['and', ','].includes(tokens[next]?.text ?? '') ? next + 1 : next
    const span = readSpans(tokens, from)
    if (!span || !isSmaller(span.value, spans)) break
    spans.push(...span.value)
    next = span.next
  }
  return spans.length === 0 ? null : { value: spans, next }
}

function isSmaller(spans: Span[], than: Span[]): boolean {
  const before = than.at(-1)
  const [first] = spans
  return !before || !first || UNITS.indexOf(first.unit) < UNITS.indexOf(before.unit)
}

/** One unit with its number, and its half: of "an hour and a half" both. */
function readSpans(tokens: Token[], position: number): Read<Span[]> | null {
  const text = (index: number): string => tokens[index]?.text ?? ''
  if (text(position) === 'half') return scaled(readUnitWord(tokens, ['a', 'an'].includes(text(position + 1)) ? position + 2 : position + 1), 0.5)
  const isArticle = text(position) === 'a' || text(position) === 'an'
  const token = tokens[position]
  if (!isArticle && token?.kind !== 'number') return null
  const count = isArticle ? 1 : (token?.value ?? 1)
  const hasHalf = (index: number): boolean => text(index) === 'and' && text(index + 1) === 'a' && text(index + 2) === 'half'
  if (hasHalf(position + 1)) return scaled(readUnitWord(tokens, position + 4), count + 0.5)
  const unit = readUnitWord(tokens, position + 1)
  return unit && hasHalf(unit.next) ? scaled({ ...unit, next: unit.next + 3 }, count + 0.5) : scaled(unit, count)
}

function scaled(unit: Read<{ unit: Unit; times: number }> | null, count: number): Read<Span[]> | null {
  return unit && { value: [{ count: count * unit.value.times, unit: unit.value.unit, isImplied: false }], next: unit.next }
}

/** Lists in English: "a", "a and b", "a, b and c". */
export function inWords(items: string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

export function ordinal(value: number): string {
  const endings = ['th', 'st', 'nd', 'rd']
  return `${value}${value % 100 > 10 && value % 100 < 14 ? 'th' : (endings[value % 10] ?? 'th')}`
}
