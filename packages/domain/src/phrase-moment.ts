import { refused } from './phrase-refusal.ts'
import type { Token } from './phrase-tokens.ts'
import { readDuration, UNIT_SECONDS } from './phrase-words.ts'
import type { PhraseContext, PhraseZone } from './phrase-zone.ts'
import type { ScheduleWarning } from './schedule.ts'
import { toInstant } from './wall-clock.ts'

/** A point in time, and what to say of how it was read. */
export interface Moment {
  at: Date
  warnings: ScheduleWarning[]
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2})?$/

/** An ISO 8601 date with a time, by its offset or else by the zone; null for anything else. */
export function readIso(text: string, zone: PhraseZone): Moment | null {
  const match = ISO.exec(text)
  if (!match) return null
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map((part) => Number(part ?? 0))
  const milliseconds = Math.floor(Number(`0.${match[7] ?? 0}`) * 1_000)
  const asUtc = Date.UTC(year, month - 1, day, hour, minute, second)
  const check = new Date(asUtc).toISOString()
  if (check.slice(0, 10) !== `${match[1]}-${match[2]}-${match[3]}` || hour > 23 || minute > 59 || second > 59)
    throw refused(`"${text}" is not on the calendar, or not on the clock.`)
  const offset = match[8]
  if (offset === undefined) return { at: new Date(toInstant({ year, month, day, hour, minute, second }, zone.name).getTime() + milliseconds), warnings: [] }
  return { at: new Date(asUtc + milliseconds - offsetMilliseconds(offset)), warnings: [] }
}

function offsetMilliseconds(offset: string): number {
  if (/^z$/i.test(offset)) return 0
  const digits = offset.replace(/\D/g, '')
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))
  return (offset.startsWith('-') ? -1 : 1) * minutes * 60_000
}

/** "in 90 minutes"; null for anything else. */
export function readMoment(tokens: Token[], _zone: PhraseZone, at: PhraseContext): Moment | null {
  if (tokens[0]?.text !== 'in') return null
  const duration = readDuration(tokens, 1)
  if (!duration || duration.next !== tokens.length) return null
  const seconds = duration.value.reduce((sum, { count, unit }) => sum + count * (UNIT_SECONDS[unit] ?? Number.NaN), 0)
  if (!Number.isFinite(seconds)) return null
  return { at: new Date(at.now.getTime() + seconds * 1_000), warnings: [] }
}
