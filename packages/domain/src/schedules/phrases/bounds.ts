import type { ScheduleWarning } from '../schedule.ts'
import { toWallTime } from '../wall-clock.ts'
import type { Read } from './clock.ts'
import { addDays, isBefore } from './dates.ts'
import { type MomentParts, readDayClause } from './moment.ts'
import { dateWords, isoDate } from './reading.ts'
import { refused } from './refusal.ts'
import { firstDayMeant } from './resolve.ts'
import type { Token } from './tokens.ts'
import type { PhraseContext, PhraseZone } from './zone.ts'

/** The day that a rule begins or ends with, as it was written. */
export interface WrittenDay {
  parts: Partial<MomentParts>
}

/** The first and the last date of a rule, `2026-12-01`, both included; null: unbounded. */
interface Bounds {
  from: string | null
  until: string | null
}

export interface ReadBounds {
  bounds: Bounds
  /** Behind a rule, as a phrase and for people: " starting 2026-03-10 through 2026-12-01". Empty without bounds. */
  phrase: string
  starting: string
  ending: string
  warnings: ScheduleWarning[]
}

export interface WrittenBounds {
  starting?: WrittenDay
  /** `isIncluded`: whether the rule is still due on that day. `isSaid`: the phrase says so. */
  ending?: WrittenDay & { isIncluded: boolean; isSaid: boolean }
}

export function readWrittenDay(tokens: Token[], position: number): Read<WrittenDay> | null {
  const clause = readDayClause(tokens, position)
  return clause && { value: { parts: clause.value }, next: clause.next }
}

/** The days that the bounds mean by the clock of the zone. A day that can be two is refused, as is an end in the past. */
export function resolveBounds({ starting, ending }: WrittenBounds, zone: PhraseZone, at: PhraseContext): ReadBounds {
  const today = toWallTime(at.now, zone.name)
  const first = starting ? firstDayMeant(starting.parts, zone, at) : null
  const from = first && isBefore(today, first) ? first : null
  if (ending?.parts.vague) throw refused('The phrase does not say on which day it ends. Name the date, as in "until 2026-12-01".')
  const named = ending ? firstDayMeant(ending.parts, zone, at) : null
  const until = named && ending ? (ending.isIncluded ? named : addDays(named, -1)) : null
  if (until && isBefore(until, from ?? today)) throw refused(`The phrase ends on ${dateWords(until)}, before it begins.`)
  const message = until ? `${dateWords(until)} is included.` : ''
  return {
    bounds: { from: from && isoDate(from), until: until && isoDate(until) },
    phrase: `${from ? ` starting ${isoDate(from)}` : ''}${until ? ` through ${isoDate(until)}` : ''}`,
    starting: from ? `, starting on ${dateWords(from)}` : '',
    ending: until ? `, through ${dateWords(until)}` : '',
    warnings: until && ending && !ending.isSaid ? [{ code: 'until_included', message }] : [],
  }
}
