import type { WallTime } from '../wall-clock.ts'
import { isDate } from './dates.ts'
import { refused } from './refusal.ts'
import { atWall, type Moment } from './resolve.ts'
import { offsetMinutes, offsetText, type PhraseZone } from './zone.ts'

/** Of four digits in every zone. */
const YEAR_MAX = 9_998
const ISO = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2})?$/

/**
 * An ISO 8601 date with a time, by its offset or else by the clock of the zone; null for anything else. An offset that the named zone does not have then
 * is refused, because one of the two is wrong.
 */
export function readIso(text: string, zone: PhraseZone): Moment | null {
  const match = ISO.exec(text)
  if (!match) return null
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map((part) => Number(part ?? 0))
  const wall: WallTime = { year, month, day, hour, minute, second }
  if (year > YEAR_MAX) throw refused(`"${text}" is in a year that no calendar here goes to. Name one up to ${YEAR_MAX}.`)
  if (!isDate(wall) || hour > 23 || minute > 59 || second > 59) throw refused(`"${text}" is not on the calendar, or not on the clock.`)
  const milliseconds = Math.floor(Number(`0.${match[7] ?? 0}`) * 1_000)
  const offset = match[8]
  if (offset !== undefined) return { at: atOffset(wall, milliseconds, offset, zone), warnings: [] }
  const { at, warnings } = atWall(wall, zone)
  return { at: new Date(at.getTime() + milliseconds), warnings }
}

function atOffset(wall: WallTime, milliseconds: number, offset: string, zone: PhraseZone): Date {
  const minutes = minutesOf(offset)
  if (Math.abs(minutes) > 24 * 60) throw refused(`"${offset}" is no offset.`)
  const asUtc = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second, milliseconds)
  const at = new Date(asUtc - minutes * 60_000)
  if (zone.source === 'phrase' && offsetMinutes(at, zone.name) !== minutes) {
    throw refused(`The offset ${offset} does not fit: ${zone.name} is at ${offsetText(at, zone.name)} then. Leave one of the two out.`)
  }
  return at
}

function minutesOf(offset: string): number {
  if (/^z$/i.test(offset)) return 0
  const digits = offset.replace(/\D/g, '')
  return (offset.startsWith('-') ? -1 : 1) * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2)))
}
