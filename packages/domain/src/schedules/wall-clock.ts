import { createRequire } from 'node:module'
import type * as Luxon from 'luxon'

// The way cron-parser loads it: an import would load it once more, in its other form.
const { IANAZone } = createRequire(import.meta.url)('luxon') as typeof Luxon

/** What a clock on the wall shows. Months count from 1. */
export interface WallTime {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NAME_LENGTH_MAX = 64
/** These bounds keep caller-chosen names and minutes from filling the memory. */
const ZONES_MAX = 1_000
const OFFSETS_MAX = 1_000

/** To ask Intl costs microseconds, and thousands of schedules that are due at once ask for the same few minutes. */
interface Zone {
  zone: Luxon.IANAZone
  offsets: Map<number, number>
}

const zones = new Map<string, Zone>()

/**
 * Whether a name stands for a region whose wall clock is known: `Area/City`, an alias that Intl knows (`US/Eastern`), or `UTC`. Bare abbreviations and
 * offsets (`EST`, `CET`, `+02:00`) are refused although Intl knows some: their authors mean a region, which changes its clocks, and they
 * would not. (`Etc/GMT+5` is the name of a zone and cannot be a mistake.)
 */
export function isTimeZone(name: string): boolean {
  if (name.length > NAME_LENGTH_MAX || !(name === 'UTC' || /^[A-Za-z]+\/[A-Za-z0-9_+/-]+$/.test(name))) return false
  return zones.has(name) || IANAZone.isValidZone(name)
}

/**
 * The first instant at which the clock of the zone shows this time or a later one: of a time that exists twice the first, of a time that is skipped the
 * first instant after the gap.
 * @throws RangeError for a name that is not a time zone
 */
export function toInstant(wall: WallTime, timezone: string): Date {
  return new Date(instantOfWall(Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second), timezone))
}

/**
 * What the clock of the zone shows at an instant, whole seconds.
 * @throws RangeError for a name that is not a time zone
 */
export function toWallTime(instant: Date, timezone: string): WallTime {
  const at = instant.getTime()
  const wall = new Date(at + offsetAt(zoneOf(timezone), at))
  return {
    year: wall.getUTCFullYear(),
    month: wall.getUTCMonth() + 1,
    day: wall.getUTCDate(),
    hour: wall.getUTCHours(),
    minute: wall.getUTCMinutes(),
    second: wall.getUTCSeconds(),
  }
}

/** `toInstant` in milliseconds, the wall time being counted as if its zone were UTC. */
export function instantOfWall(wall: number, timezone: string): number {
  const zone = zoneOf(timezone)
  // Offsets lie between -12 and +14 hours, so the instant lies between these, and so does at most one change of the clock.
  const from = wall - 15 * HOUR
  const to = wall + 13 * HOUR
  const before = offsetAt(zone, from)
  const after = offsetAt(zone, to)
  if (before === after || offsetAt(zone, wall - before) === before) return wall - before
  if (offsetAt(zone, wall - after) === after) return wall - after
  return changeBetween(zone, from, to)
}

/**
 * The latest time that the clock has shown up to this instant, counted as if its zone were UTC. It is what the clock shows, except while it passes
 * through the hours again that it has been set back by. A wall time comes after the instant exactly if it is later than this.
 */
export function latestWallUpTo(instant: number, timezone: string): number {
  const zone = zoneOf(timezone)
  const from = instant - 26 * HOUR
  const before = offsetAt(zone, from)
  const offset = offsetAt(zone, instant)
  if (before <= offset) return instant + offset
  return Math.max(instant + offset, changeBetween(zone, from, instant) + before - 1)
}

function zoneOf(timezone: string): Zone {
  const known = zones.get(timezone)
  if (known !== undefined) return known
  if (!isTimeZone(timezone)) throw new RangeError(`not a time zone: ${timezone}`)
  if (zones.size >= ZONES_MAX) zones.clear()
  // luxon keeps every name that it has seen for ever. Intl's own spelling leaves it with one name a zone.
  const { timeZone: name } = new Intl.DateTimeFormat('en-US', { timeZone: timezone }).resolvedOptions()
  const zone = { zone: IANAZone.create(name), offsets: new Map<number, number>() }
  zones.set(timezone, zone)
  return zone
}

/** Milliseconds east of UTC. Clocks are changed at whole minutes, so what holds at the beginning of a minute holds all through it. */
function offsetAt({ zone, offsets }: Zone, instant: number): number {
  const minute = Math.floor(instant / MINUTE)
  const known = offsets.get(minute)
  if (known !== undefined) return known
  const offset = zone.offset(minute * MINUTE) * MINUTE
  if (offsets.size >= OFFSETS_MAX) offsets.clear()
  offsets.set(minute, offset)
  return offset
}

/** The first instant with the offset of `to`, which is not that of `from`. */
function changeBetween(zone: Zone, from: number, to: number): number {
  const before = offsetAt(zone, from)
  let early = Math.floor(from / MINUTE)
  let late = Math.floor(to / MINUTE)
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2)
    if (offsetAt(zone, middle * MINUTE) === before) early = middle
    else late = middle
  }
  return late * MINUTE
}
