import type { ScheduleWarning } from '../schedule.ts'
import { Ambiguous, refused } from './refusal.ts'
import type { Token } from './tokens.ts'

/** A time of day as it was written. */
export interface WrittenTime {
  hour: number
  minute: number
  second: number
  /**
   * `open`: without am or pm, and the hour may be one of a twelve-hour clock; `clock`: likewise, but written with two digits and minutes, as
   * 24-hour clocks are, 10:30; `midnight`: the word.
   */
  style: 'exact' | 'open' | 'clock' | 'midnight'
  /** An hour and nothing else, which without `at` is no time. */
  isBare: boolean
  written: string
}

export interface TimeOfDay {
  hour: number
  minute: number
  second: number
}

/** What a slot of a pattern has read, and where it ended. */
export interface Read<T> {
  value: T
  next: number
}

export const DAY_PARTS = ['morning', 'afternoon', 'evening', 'night'] as const
export type DayPart = (typeof DAY_PARTS)[number]

export const NINE: TimeOfDay = { hour: 9, minute: 0, second: 0 }
const SIX: TimeOfDay = { hour: 18, minute: 0, second: 0 }

/** The times that are offered where none was said. */
export const OFFERED_TIMES: Record<DayPart | 'any', TimeOfDay[]> = {
  any: [NINE, SIX],
  morning: [{ ...NINE, hour: 8 }, NINE],
  afternoon: [
    { ...NINE, hour: 14 },
    { ...NINE, hour: 16 },
  ],
  evening: [SIX, { ...SIX, hour: 20 }],
  night: [
    { ...SIX, hour: 21 },
    { ...SIX, hour: 23 },
  ],
}

/** One time of day at `position`, or null. */
export function readTime(tokens: Token[], position: number): Read<WrittenTime> | null {
  const token = tokens[position]
  if (!token) return null
  const named = NAMED_TIMES.get(token.text)
  if (named) return { value: { ...named, minute: 0, second: 0, isBare: false, written: token.text }, next: position + 1 }
  if (token.kind === 'clock') return withMeridiem(tokens, position, token.text.split(':').map(Number), token.text)
  const dotted = token.kind === 'number' ? /^(\d{1,2})\.(\d{2})$/.exec(token.text) : null
  if (dotted) return dottedTime(tokens, position, Number(dotted[1]), Number(dotted[2]))
  if (token.kind !== 'number' || !Number.isInteger(token.value)) return readFraction(tokens, position)
  if (/^\d{4}$/.test(token.text)) return withMeridiem(tokens, position, [Math.floor(token.value / 100), token.value % 100], token.text)
  return withMeridiem(tokens, position, [token.value], token.text)
}

/** 9.30, which is a number unless am, pm or `at` makes a time of it. */
function dottedTime(tokens: Token[], position: number, hour: number, minute: number): Read<WrittenTime> | null {
  const time = withMeridiem(tokens, position, [hour, minute], `${hour}:${String(minute).padStart(2, '0')}`)
  return time && { ...time, value: { ...time.value, isBare: time.next === position + 1 } }
}

const NAMED_TIMES = new Map<string, { hour: number; style: 'exact' | 'midnight' }>([
  ['noon', { hour: 12, style: 'exact' }],
  ['midday', { hour: 12, style: 'exact' }],
  ['midnight', { hour: 0, style: 'midnight' }],
])

function withMeridiem(tokens: Token[], position: number, [hour = 0, minute = 0, second = 0]: number[], text: string): Read<WrittenTime> | null {
  if (minute > 59 || second > 59 || hour > 23) return null
  const behind = tokens[position + 1]?.text
  const isFourDigits = /^\d{4}$/.test(text)
  const isHourOnly = !text.includes(':') && !isFourDigits
  if (behind === 'am' || behind === 'pm') {
    if (hour < 1 || hour > 12 || isFourDigits) return null
    const clock = { hour: (hour % 12) + (behind === 'pm' ? 12 : 0), minute, second }
    return { value: { ...clock, style: 'exact', isBare: false, written: `${text}${behind}` }, next: position + 2 }
  }
  if (isHourOnly && behind === 'h') return { value: { hour, minute, second, style: 'exact', isBare: false, written: `${text}h` }, next: position + 2 }
  const isOfClock = isHourOnly && behind === "o'clock"
  const value: WrittenTime = { hour, minute, second, style: styleOf(hour, text, isHourOnly), isBare: !text.includes(':') && !isOfClock, written: text }
  return { value, next: isOfClock ? position + 2 : position + 1 }
}

function styleOf(hour: number, text: string, isHourOnly: boolean): WrittenTime['style'] {
  if (hour === 0 || hour > 12 || text.startsWith('0')) return 'exact'
  return !isHourOnly && hour > 9 ? 'clock' : 'open'
}

const FRACTIONS = new Map([
  ['half past', 30],
  ['quarter past', 15],
  ['quarter to', -15],
])

/** "half past nine", "quarter to 10pm". */
function readFraction(tokens: Token[], position: number): Read<WrittenTime> | null {
  const form = `${tokens[position]?.text} ${tokens[position + 1]?.text}`
  const minutes = FRACTIONS.get(form)
  const named = tokens[position + 2]
  if (minutes === undefined || named?.kind !== 'number' || named.value < 1 || named.value > 12) return null
  const hour = readTime(tokens, position + 2)
  if (!hour) return null
  const total = (hour.value.hour * 60 + minutes + 1440) % 1440
  const value = { ...hour.value, hour: Math.floor(total / 60), minute: total % 60, isBare: false, written: `${form} ${hour.value.written}` }
  return { value, next: hour.next }
}

/** `9`, `9 and 17`, `8, 12 and 18:30`. */
export function readTimes(tokens: Token[], position: number): Read<WrittenTime[]> | null {
  return readList(tokens, position, readTime)
}

/** Items with commas, `and` or `&` between them. */
export function readList<T>(tokens: Token[], position: number, readItem: (tokens: Token[], position: number) => Read<T> | null): Read<T[]> | null {
  const first = readItem(tokens, position)
  if (!first) return null
  const values = [first.value]
  let next = first.next
  for (;;) {
    const item = readItem(tokens, afterSeparator(tokens, next))
    if (!item || afterSeparator(tokens, next) === next) return { value: values, next }
    values.push(item.value)
    next = item.next
  }
}

function afterSeparator(tokens: Token[], position: number): number {
  const at = (index: number): string => tokens[index]?.text ?? ''
  if (at(position) === ',') return at(position + 1) === 'and' ? position + 2 : position + 1
  return ['and', '&', '/'].includes(at(position)) ? position + 1 : position
}

export function clockText({ hour, minute, second }: TimeOfDay): string {
  const parts = second === 0 ? [hour, minute] : [hour, minute, second]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

/** The hours a part of the day has, and what an hour of a twelve-hour clock is in it. */
const PARTS_OF_DAY: Record<DayPart | 'tonight', { hours: number[]; toHour: (hour: number) => number | null }> = {
  morning: { hours: span(0, 11), toHour: (hour) => hour },
  afternoon: { hours: span(12, 18), toHour: (hour) => (hour % 12) + 12 },
  evening: { hours: span(16, 23), toHour: (hour) => hour + 12 },
  // "4" and "5" with "night" can mean either end of the night.
  night: { hours: [...span(18, 23), ...span(0, 5)], toHour: (hour) => (hour > 5 ? (hour + 12) % 24 : hour > 3 ? null : hour) },
  tonight: { hours: [...span(16, 23), ...span(0, 5)], toHour: (hour) => (hour > 4 ? (hour + 12) % 24 : hour > 3 ? null : hour) },
}

function span(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/**
 * The times that are meant in a part of the day: the morning's 8 is 08:00, the evening's 20:00, the night's 1 is 01:00, see `isAfterMidnight`. Throws where
 * they contradict each other.
 */
export function timesInDayPart(times: WrittenTime[], part: DayPart | 'tonight'): WrittenTime[] {
  const { hours, toHour } = PARTS_OF_DAY[part]
  return times.map((time) => {
    const isOpen = time.style === 'open' || time.style === 'clock'
    const hour = isOpen ? toHour(time.hour) : time.hour
    if (hour === null) throw refused(`It is open which hour ${time.written} is "${part}". Say it with am or pm.`)
    if (!hours.includes(hour)) {
      throw refused(`${time.written} is not in the ${part}. Say the hour with am or pm, or on a 24-hour clock, and leave out "${part}".`)
    }
    return { ...time, hour, style: isOpen ? 'exact' : time.style }
  })
}

/** A night ends on the date after the one that it is named by: "friday night at 1" is on Saturday. */
export function isAfterMidnight({ hour }: TimeOfDay, part: DayPart | 'tonight' | undefined): boolean {
  return (part === 'night' || part === 'tonight') && hour < 6
}

export function afterMidnightWarning(times: TimeOfDay[]): ScheduleWarning {
  return { code: 'after_midnight', message: `${times.map(clockText).join(', ')} of a night is read as a time of the date that follows the named day.` }
}

/** What is offered for a time that is open: both halves of the day. */
export function halvesOfDay(time: WrittenTime): TimeOfDay[] {
  return [time.hour % 12, (time.hour % 12) + 12].map((hour) => ({ hour, minute: time.minute, second: time.second }))
}

/** Refuses the same time twice, which one of both was hardly meant to be. Sorts. */
export function distinctTimes(times: WrittenTime[]): WrittenTime[] {
  const sorted = [...times].sort((left, right) => clockText(left).localeCompare(clockText(right)))
  const double = sorted.find((time, index) => index > 0 && clockText(time) === clockText(sorted[index - 1] ?? time))
  if (double) throw refused(`${clockText(double)} is named twice. Name each time once.`)
  return sorted
}

/**
 * Bare hours of a recurrence are those of a 24-hour clock, unless one beside them has am or pm: of "2 and 4pm" it is open which half of the day the
 * first is in.
 */
export function requireOneClock(times: WrittenTime[], rewrite: (times: TimeOfDay[]) => string): void {
  const open = times.filter(({ style }) => style === 'open')
  const said = times.find(({ written }) => /[ap]m$/.test(written))
  if (open.length === 0 || !said) return
  const shift = said.hour >= 12 ? 12 : 0
  const readings = [times, times.map((time) => (time.style === 'open' ? { ...time, hour: (time.hour % 12) + shift } : time))].map(rewrite)
  if (readings[0] === readings[1]) return
  const words = open.map(({ written }) => written).join(', ')
  throw new Ambiguous(`It is open whether ${words} is in the morning or in the afternoon, beside ${said.written}. Write each time with am or pm.`, readings)
}
