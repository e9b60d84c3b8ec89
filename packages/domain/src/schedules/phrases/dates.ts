import { strict } from 'chrono-node/en'
import type { Read } from './clock.ts'
import { isoDate, type WallDate, weekdayOf } from './reading.ts'
import { refused } from './refusal.ts'
import type { Token } from './tokens.ts'
import { type MonthDay, type Nth, readMonth, readWeekday } from './words.ts'

/** A date as it was written: without a year it is the next one to come. */
export interface WrittenDate {
  year: number | null
  month: number
  day: number
  /** The weekday that was written with it. */
  weekday: number | null
}

/** A date has no more pieces than "tuesday, the 10th of march, 2026". */
const DATE_TOKENS_MAX = 8
/** In a leap year and on its first day, so that no date of any year is taken for impossible. */
const REFERENCE = { instant: new Date(Date.UTC(2000, 0, 1)), timezone: 0 }

/**
 * A date with the name of its month, as chrono-node reads it, who gets nothing else to read and has to account for every character of it. The zone, the
 * time and which year is meant are none of its business.
 */
export function readNamedDate(tokens: Token[], position: number): Read<WrittenDate> | null {
  refuseImpossible(tokens, position)
  let end = position
  while (end < tokens.length && end - position < DATE_TOKENS_MAX && isPieceOfDate(tokens, end)) end += 1
  for (let next = end; next > position + 1; next -= 1) {
    const pieces = tokens.slice(position, next)
    const value = hasFormOfDate(pieces) ? readByChrono(pieces) : null
    if (value) return { value, next }
  }
  return null
}

/** "30 february" is a date in form, and none on the calendar. */
function refuseImpossible(tokens: Token[], position: number): void {
  const [first, second] = tokens.slice(position, position + 2)
  const month = readMonth(tokens, position)?.value ?? readMonth(tokens, position + 1)?.value
  const number = readMonth(tokens, position) ? second : first
  if (month === undefined || !number || !['number', 'ordinal'].includes(number.kind) || number.value > 99) return
  const [third, fourth] = tokens.slice(position + 2, position + 4)
  const year = third?.text === ',' ? fourth : third
  if (!isDate({ year: year && /^\d{4}$/.test(year.text) ? year.value : 2000, month, day: number.value }))
    throw refused(`There is no such date as ${first?.text} ${second?.text}.`)
}

/** One month, a day and perhaps a year, so that chrono-node is asked for little. */
function hasFormOfDate(pieces: Token[]): boolean {
  const months = pieces.filter((_, index) => readMonth(pieces, index))
  const numbers = pieces.filter(({ kind }) => kind === 'number' || kind === 'ordinal')
  return months.length === 1 && (numbers.length === 1 || numbers.length === 2) && pieces.at(-1)?.kind !== 'mark'
}

function isPieceOfDate(tokens: Token[], index: number): boolean {
  const token = tokens[index]
  if (token?.kind === 'number' || token?.kind === 'ordinal') return token.text.length < 12
  return token?.text === ',' || token?.text === 'of' || token?.text === 'the' || readMonth(tokens, index) !== null || readWeekday(tokens, index) !== null
}

function readByChrono(pieces: Token[]): WrittenDate | null {
  const text = pieces
    .map((piece) => piece.text)
    .join(' ')
    .replaceAll(' ,', ',')
  const [result, another] = strict.parse(text, REFERENCE)
  if (!result || another || result.text !== text || result.end || result.start.isCertain('hour')) return null
  const { start } = result
  const [year, month, day, weekday] = (['year', 'month', 'day', 'weekday'] as const).map((part) => (start.isCertain(part) ? start.get(part) : null))
  if (month == null || day == null) return null
  if (year != null && !pieces.some((piece) => piece.text === String(year) && piece.text.length === 4)) return null
  return { year: year ?? null, month, day, weekday: weekday ?? null }
}

/**
 * A date in numbers, as all that it can mean: of 5/6/2026 two days, of 2026-03-10 and 13/5/2026 one. Throws when it is on no calendar, or when its year is
 * cut to two digits.
 */
export function readNumericDate(token: Token): WrittenDate[] {
  const parts = token.text.split(/[/.-]/)
  const [first = 0, second = 0, third] = parts.map(Number)
  if (third === undefined) return bothOrders(token, null, first, second)
  if (parts[0]?.length === 4) return requireDates(token, [{ year: first, month: second, day: third, weekday: null }])
  if (parts[2]?.length !== 4) throw refused(`Write the year of "${token.text}" with four digits, as in 2026-03-10.`)
  return bothOrders(token, third, first, second)
}

function bothOrders(token: Token, year: number | null, first: number, second: number): WrittenDate[] {
  const monthFirst = { year, month: first, day: second, weekday: null }
  const dayFirst = { year, month: second, day: first, weekday: null }
  return requireDates(token, first === second ? [monthFirst] : [monthFirst, dayFirst])
}

function requireDates(token: Token, dates: WrittenDate[]): WrittenDate[] {
  const existing = dates.filter(({ year, month, day }) => isDate({ year: year ?? 2000, month, day }))
  if (existing.length === 0) throw refused(`There is no such date as ${token.text}.`)
  return existing
}

/** Whether the calendar has this day. */
export function isDate({ year, month, day }: WallDate): boolean {
  const date = new Date(Date.UTC(year, month - 1, day))
  return month >= 1 && month <= 12 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

export function addDays({ year, month, day }: WallDate, days: number): WallDate {
  const date = new Date(Date.UTC(year, month - 1, day + days))
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
}

/** The same day of a later month, or null when that month is too short. */
export function addMonths(date: WallDate, months: number): WallDate | null {
  const first = new Date(Date.UTC(date.year, date.month - 1 + months, 1))
  const later = { year: first.getUTCFullYear(), month: first.getUTCMonth() + 1, day: date.day }
  return isDate(later) ? later : null
}

/** The day of the month of `first`, its first day, or null when the month has none. */
export function dayOfRule(first: WallDate, day: MonthDay | Nth): WallDate | null {
  const length = new Date(Date.UTC(first.year, first.month, 0)).getUTCDate()
  const dates = Array.from({ length }, (_, index) => ({ ...first, day: index + 1 }))
  if (typeof day === 'number') return dates[day - 1] ?? null
  if (day === 'last') return dates.at(-1) ?? null
  if (typeof day === 'string') {
    const workdays = dates.filter((date) => ![0, 6].includes(weekdayOf(date)))
    return workdays.at(day === 'first workday' ? 0 : -1) ?? null
  }
  const named = dates.filter((date) => weekdayOf(date) === day.weekday)
  return (day.rank === 'last' ? named.at(-1) : named[day.rank - 1]) ?? null
}

/** Whether a date comes before another. */
export function isBefore(date: WallDate, other: WallDate): boolean {
  return isoDate(date) < isoDate(other)
}
