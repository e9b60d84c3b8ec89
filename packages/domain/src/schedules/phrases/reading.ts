import { toWallTime, type WallTime } from '../wall-clock.ts'
import { clockText } from './clock.ts'
import { MONTHS, WEEKDAYS } from './words.ts'
import { offsetText, type PhraseZone } from './zone.ts'

/** A day of the calendar. Months count from 1. */
export type WallDate = Pick<WallTime, 'year' | 'month' | 'day'>

export function capital(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`
}

/** `2026-03-10`. */
export function isoDate({ year, month, day }: WallDate): string {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}

/** RFC 9557: ISO 8601 with the zone behind it, `2026-03-10T09:00:00-04:00[America/New_York]`. */
export function isoText(instant: Date, zone: string): string {
  const wall = toWallTime(instant, zone)
  const milliseconds = instant.getTime() % 1_000
  const seconds = milliseconds === 0 ? wall.second : `${wall.second}.${String(milliseconds).padStart(3, '0')}`
  const clock = clockText({ ...wall, second: 0 })
  return `${isoDate(wall)}T${clock}:${wall.second < 10 ? `0${seconds}` : seconds}${offsetText(instant, zone)}[${zone}]`
}

/** 0 is Sunday. */
export function weekdayOf({ year, month, day }: WallDate): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay()
}

/** "Tuesday, 10 March 2026". */
export function dateWords(date: WallDate): string {
  return `${capital(WEEKDAYS[weekdayOf(date)] ?? '')}, ${date.day} ${capital(MONTHS[date.month - 1] ?? '')} ${date.year}`
}

/** "Tuesday, 10 March 2026 at 09:00". */
export function momentWords(instant: Date, zone: string): string {
  const wall = toWallTime(instant, zone)
  return `${dateWords(wall)} at ${clockText(wall)}`
}

/** The zone, and who chose it where the phrase and its field did not. */
export function zoneWords({ name, source }: PhraseZone): string {
  if (source === 'default') return `${name} (no time zone was given)`
  return source === 'project' ? `${name} (the project's time zone)` : name
}
