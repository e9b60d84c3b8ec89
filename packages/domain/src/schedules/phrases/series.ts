import type { ScheduleWarning } from '../schedule.ts'
import { clockText, type TimeOfDay, type WrittenTime } from './clock.ts'
import { Ambiguous, refused } from './refusal.ts'
import { inWords, type Span, UNIT_SECONDS } from './words.ts'

/** Times of day that are counted instead of listed: every so many minutes, or at minutes of the hour, between two times of day. */
export interface SeriesParts {
  /** An interval shorter than a day. */
  step: Span[]
  window: { from: WrittenTime; to: WrittenTime }
  /** Minutes of the hour, 0 to 59. */
  minutes: number[]
}

export interface Series {
  times: TimeOfDay[]
  /** What the times are called in a phrase: "every 15 minutes from 09:00 to 17:00". */
  phrase: string
  /** The window ends on the date after the one that it begins on. */
  isOvernight: boolean
  warnings: ScheduleWarning[]
}

const DAY_MINUTES = 1_440

interface Window {
  /** Minutes of the day. */
  from: number
  to: number
  warnings: ScheduleWarning[]
}

/**
 * @param rephrase the whole phrase with another name of the series, for candidates
 * @throws DomainError and Ambiguous for a series that contradicts itself, or that can be read in two ways
 */
export function seriesOf({ step, window, minutes }: Partial<SeriesParts>, rephrase: (series: string) => string): Series {
  const length = stepMinutes(step)
  if (window && !step && !minutes)
    throw refused('The phrase does not say how often between the two times. Say it, as in "every 15 minutes from 9:00 to 17:00".')
  const hours = window ? windowOf(window, (range) => rephrase(seriesPhrase(length ?? 60, minutes, range))) : { from: 0, to: DAY_MINUTES - 1, warnings: [] }
  const isOvernight = hours.to < hours.from
  const last = isOvernight ? hours.to + DAY_MINUTES : hours.to
  const all = minutes ? minutesOfHours(minutes, length ?? 60, hours.from, last) : counted(length ?? 60, hours.from, last)
  if (all.length === 0 || (window && all.length === 1)) throw refused('The window is shorter than the interval in it. Name the times instead.')
  const whole = window === undefined
  const end = whole && !minutes ? (all.at(-1) ?? last) : hours.to
  return {
    times: all.map(timeOf).sort((left, right) => clockText(left).localeCompare(clockText(right))),
    phrase: seriesPhrase(length ?? 60, minutes, whole && minutes ? null : { from: hours.from, to: end }),
    isOvernight,
    warnings: [
      ...hours.warnings,
      ...endWarning(window !== undefined && all.at(-1) === last, last),
      ...unevenWarning(minutes && length === 60 ? null : length, window !== undefined),
    ],
  }
}

function stepMinutes(step: Span[] | undefined): number | null {
  if (!step) return null
  const seconds = step.reduce((sum, { count, unit }) => sum + count * (UNIT_SECONDS[unit] ?? 0), 0)
  if (!(seconds > 0)) throw refused('An interval has to be longer than nothing.')
  if (seconds % 60 !== 0) throw refused('Beside days or hours of the day an interval has to be a whole number of minutes.')
  if (seconds > 43_200) throw refused('Beside days or hours of the day an interval may be 12 hours at most. Name the times instead.')
  return seconds / 60
}

function stepWords(minutes: number): string {
  const [count, unit] = minutes % 60 === 0 ? [minutes / 60, 'hour'] : [minutes, 'minute']
  return count === 1 ? unit : `${count} ${unit}s`
}

function counted(step: number, from: number, to: number): number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step)
}

function minutesOfHours(minutes: number[], step: number, from: number, to: number): number[] {
  if (step % 60 !== 0) throw refused('Minutes of the hour go with a number of hours, as in "every hour at :15".')
  if (new Set(minutes).size < minutes.length) throw refused('A minute of the hour is named twice. Name each once.')
  const firstHour = Math.floor(from / 60)
  return counted(step, firstHour * 60, to)
    .flatMap((hour) => [...minutes].sort((a, b) => a - b).map((minute) => hour + minute))
    .filter((minute) => minute >= from && minute <= to)
}

function timeOf(minutes: number): TimeOfDay {
  return { hour: Math.floor(minutes / 60) % 24, minute: minutes % 60, second: 0 }
}

function endWarning(isIncluded: boolean, end: number): ScheduleWarning[] {
  return isIncluded ? [{ code: 'window_end', message: `The end of the window is included: the last firing in it is at ${clockText(timeOf(end))}.` }] : []
}

function unevenWarning(length: number | null, hasWindow: boolean): ScheduleWarning[] {
  if (length === null || hasWindow) return []
  if (DAY_MINUTES % length === 0) return [{ code: 'from_midnight', message: 'The interval is counted by the wall clock, from 00:00 of each of these days.' }]
  return [{ code: 'uneven_steps', message: 'The interval begins again at 00:00 of each of these days, so that not all firings are as far apart.' }]
}

/** Of a twelve-hour clock, unless it says otherwise. */
function readingsOf(time: WrittenTime): number[] {
  const minute = time.minute + time.hour * 60
  return time.style === 'open' ? [minute, (minute + 720) % DAY_MINUTES].sort((a, b) => a - b) : [minute]
}

/**
 * What the two ends mean. Bare hours are those of a 24-hour clock if that gives a window and neither end has am or pm ("9 to 17"); otherwise the only pair of
 * which the first comes first ("9 to 5"). Small hours of which both halves of the day would do are not guessed.
 */
function windowOf({ from, to }: SeriesParts['window'], phraseOf: (range: { from: number; to: number }) => string): Window {
  const written = { from: from.hour * 60 + from.minute, to: endOf(to) }
  if (from.second + to.second > 0) throw refused('A window begins and ends on a whole minute.')
  if (written.from === written.to) throw refused('The window begins when it ends. Name two times.')
  const [isOpen, isOtherOpen] = [from.style === 'open', to.style === 'open']
  if (!isOpen && !isOtherOpen) return { ...written, warnings: [] }
  const saysHalf = [from, to].some(({ written: text }) => /[ap]m$/.test(text))
  const isPlain = written.from < written.to && !saysHalf && !(isOpen && isOtherOpen && from.hour < 8)
  if (isPlain) return { ...written, warnings: [] }
  const ends = to.style === 'open' ? readingsOf(to) : [written.to]
  const pairs = readingsOf(from).flatMap((first) => ends.map((last) => ({ from: first, to: last })))
  const readings = pairs.filter((pair) => pair.from < pair.to && (saysHalf || pair.to - pair.from <= 720))
  const [reading, ...others] = readings
  if (!reading) throw refused('The window ends before it begins. Write both times with am or pm, or on a 24-hour clock.')
  if (others.length > 0) {
    const phrases = readings.map(phraseOf)
    throw new Ambiguous(`It is open which halves of the day ${from.written} and ${to.written} are in. Write both with am or pm.`, phrases)
  }
  const message = `"${from.written}" to "${to.written}" is read as ${clockText(timeOf(reading.from))} to ${clockText(timeOf(reading.to))}.`
  return { ...reading, warnings: [{ code: 'bare_hour', message }] }
}

/** Midnight at the end of a window is the end of the day. */
function endOf(to: WrittenTime): number {
  return to.style === 'midnight' ? DAY_MINUTES - 1 : to.hour * 60 + to.minute
}

function seriesPhrase(step: number, minutes: number[] | undefined, range: { from: number; to: number } | null): string {
  const sorted = [...(minutes ?? [])].sort((left, right) => left - right)
  const at = minutes ? ` at ${inWords(sorted.map((minute) => `:${String(minute).padStart(2, '0')}`))}` : ''
  return `every ${stepWords(step)}${at}${range ? ` from ${clockText(timeOf(range.from))} to ${clockText(timeOf(range.to))}` : ''}`
}
