import { DomainError } from '../../core/errors.ts'
import type { ScheduleWarning } from '../schedule.ts'
import { isTimeZone, toWallTime } from '../wall-clock.ts'
import { Ambiguous, refused } from './refusal.ts'
import { PLACE_WORDS_MAX, ZONES_OF_PLACES } from './zone-names.ts'

/** What a phrase is read against. */
export interface PhraseContext {
  now: Date
  /** The `timezone` field beside the phrase. */
  timezone: string | null
  projectTimezone: string | null
  minIntervalSeconds: number
}

/** Where the wall clock of a phrase hangs, and who said so. */
export interface PhraseZone {
  name: string
  source: 'phrase' | 'field' | 'project' | 'default'
  /** As they were written, when the phrase has letters instead of a name. */
  letters: string | null
}

/** The letters people write behind a time. `minutes` is what the letters claim, east of Greenwich; null: they claim nothing about the season. */
interface Letters {
  zone: string
  minutes: number | null
}

const LETTERS = new Map<string, Letters>(
  Object.entries({
    ...america('America/New_York', 'e', -300),
    ...america('America/Chicago', 'c', -360),
    ...america('America/Denver', 'm', -420),
    ...america('America/Los_Angeles', 'p', -480),
    ...america('America/Anchorage', 'ak', -540),
    hst: { zone: 'Pacific/Honolulu', minutes: -600 },
    cet: { zone: 'Europe/Berlin', minutes: 60 },
    cest: { zone: 'Europe/Berlin', minutes: 120 },
    wet: { zone: 'Europe/Lisbon', minutes: 0 },
    west: { zone: 'Europe/Lisbon', minutes: 60 },
    msk: { zone: 'Europe/Moscow', minutes: 180 },
    sgt: { zone: 'Asia/Singapore', minutes: 480 },
    hkt: { zone: 'Asia/Hong_Kong', minutes: 480 },
    kst: { zone: 'Asia/Seoul', minutes: 540 },
    nzst: { zone: 'Pacific/Auckland', minutes: 720 },
    nzdt: { zone: 'Pacific/Auckland', minutes: 780 },
    aedt: { zone: 'Australia/Sydney', minutes: 660 },
    sast: { zone: 'Africa/Johannesburg', minutes: 120 },
    jst: { zone: 'Asia/Tokyo', minutes: 540 },
    utc: { zone: 'UTC', minutes: null },
    gmt: { zone: 'UTC', minutes: null },
    z: { zone: 'UTC', minutes: null },
  }),
)

/** Letters that several countries use for times hours apart. */
const SHARED_LETTERS = new Map<string, string[]>(
  Object.entries({
    ist: ['Asia/Kolkata', 'Europe/Dublin', 'Asia/Jerusalem'],
    bst: ['Europe/London', 'Asia/Dhaka'],
    ast: ['America/Halifax', 'America/Puerto_Rico', 'Asia/Riyadh'],
    eet: ['Europe/Athens', 'Africa/Cairo'],
    aest: ['Australia/Sydney', 'Australia/Brisbane'],
    acst: ['Australia/Adelaide', 'Australia/Darwin'],
  }),
)
const CHINA_OR_CHICAGO = ['America/Chicago', 'Asia/Shanghai', 'America/Havana']

/** An offset instead of a zone: +02:00, UTC+2, GMT-5. */
const OFFSET = /^(?:utc|gmt)?[+-]\d{1,2}(?::?\d{2})?$/i
/** Whole hours from UTC, which have zones of their own. */
const FIXED_OFFSET = /^(?:utc|gmt)([+-])(\d{1,2})(?::?00)?$/i
/** Regions of North America whose names Australia uses too. */
const REGIONS = new Map<string, { letters: string; others: string[] }>([
  ['eastern', { letters: 'ET', others: ['Australia/Sydney', 'Australia/Brisbane'] }],
  ['central', { letters: 'CT', others: ['Australia/Adelaide', 'Australia/Darwin'] }],
  ['mountain', { letters: 'MT', others: [] }],
  ['pacific', { letters: 'PT', others: [] }],
])
/** What can be the name of an IANA zone: those without a slash that are not letters of a region are few, and all old. */
const ZONE_NAME = /^[A-Za-z]+(?:\/[A-Za-z0-9_+-]+){1,2}$/

const WEEKDAY_LIST = /^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*|m|t|w|f|mo|tu|we|th|fr|sa|su)\//i
/** How a word ends that a time of day ends with. */
const TIME_END = /(?:\dh?|[ap]\.?m\.?|noon|midday|midnight|clock),?$/i

const AMERICAN = /^(?:America|US|Canada|Mexico|Brazil|Chile)\/|^Pacific\/Honolulu$|^(?:UTC|GMT|Etc\/.*)$/

function america(zone: string, letter: string, minutes: number): Record<string, Letters> {
  return { [`${letter}st`]: { zone, minutes }, [`${letter}dt`]: { zone, minutes: minutes + 60 }, [`${letter}t`]: { zone, minutes: null } }
}

/** What a word says about the zone. */
type ZoneWord = { kind: 'zone'; name: string; letters: string | null } | { kind: 'shared'; names: string[] } | { kind: 'offset' } | { kind: 'unknown' }

/** Null: the word has nothing to do with zones. */
function readZoneWord(word: string, at: PhraseContext): ZoneWord | null {
  const lower = word.toLowerCase()
  const own = at.timezone ?? at.projectTimezone
  const region = REGIONS.get(lower)
  if (region && own?.startsWith('Australia/') && region.others.length > 0)
    return { kind: 'shared', names: [LETTERS.get(region.letters.toLowerCase())?.zone ?? '', ...region.others] }
  if (region) return { kind: 'zone', name: LETTERS.get(region.letters.toLowerCase())?.zone ?? '', letters: null }
  const place = ZONES_OF_PLACES.get(lower.replaceAll('_', ' '))
  if (place) return { kind: 'zone', name: place, letters: null }
  const ownOfLetters = own === null ? undefined : sharedNames(lower)?.find((name) => isSameZone(name, own))
  if (ownOfLetters) return { kind: 'zone', name: own ?? ownOfLetters, letters: null }
  if ((lower === 'cet' || lower === 'cest') && own !== null && isCentralEuropean(own, at.now)) return { kind: 'zone', name: own, letters: word.toUpperCase() }
  const fixed = fixedZone(word)
  if (fixed) return { kind: 'zone', name: fixed, letters: word.toUpperCase() }
  if (lower === 'cst' && !AMERICAN.test(at.timezone ?? at.projectTimezone ?? 'UTC')) return { kind: 'shared', names: CHINA_OR_CHICAGO }
  const letters = LETTERS.get(lower)
  if (letters) return { kind: 'zone', name: letters.zone, letters: letters.zone === 'UTC' ? null : word.toUpperCase() }
  const names = SHARED_LETTERS.get(lower)
  if (names) return { kind: 'shared', names }
  if (OFFSET.test(word)) return { kind: 'offset' }
  if (!ZONE_NAME.test(word) || WEEKDAY_LIST.test(word)) return null
  const name = zoneNamed(word)
  return name === null ? { kind: 'unknown' } : { kind: 'zone', name, letters: null }
}

/** All zones that letters stand for, where they are several. */
function sharedNames(lower: string): string[] | undefined {
  return lower === 'cst' ? CHINA_OR_CHICAGO : SHARED_LETTERS.get(lower)
}

/** Whether two names are of one zone: Asia/Calcutta is Asia/Kolkata. */
function isSameZone(name: string, other: string): boolean {
  const resolved = [name, other].map((timeZone) => new Intl.DateTimeFormat('en-US', { timeZone }).resolvedOptions().timeZone)
  return resolved[0] === resolved[1]
}

/** Whether the clock of a zone is the one of Berlin, summer and winter. */
function isCentralEuropean(zone: string, now: Date): boolean {
  const seasons = [0, 91, 182, 273].map((days) => new Date(now.getTime() + days * 86_400_000))
  return seasons.every((instant) => offsetMinutes(instant, zone) === offsetMinutes(instant, 'Europe/Berlin'))
}

/** UTC+2 is `Etc/GMT-2`: the signs of these names are reversed. Null: no whole number of hours that has a zone. */
function fixedZone(word: string): string | null {
  const [, sign, digits] = FIXED_OFFSET.exec(word) ?? []
  const hours = Number(digits)
  if (sign === undefined || hours > (sign === '+' ? 14 : 12)) return null
  return hours === 0 ? 'UTC' : `Etc/GMT${sign === '+' ? '-' : '+'}${hours}`
}

const NAMES = new Map(Intl.supportedValuesOf('timeZone').map((name) => [name.toLowerCase(), name]))

/** An IANA name in its own spelling, or null when there is no such zone. Old names of a zone (US/Eastern) stay what they are. */
function zoneNamed(name: string): string | null {
  const lower = name.toLowerCase()
  const spelled = NAMES.get(lower) ?? (name === lower ? lower.replace(/(?<![a-z])[a-z]/g, (letter) => letter.toUpperCase()) : name)
  return isTimeZone(spelled) ? spelled : null
}

/** A phrase without the words that name its zone. */
export interface ZonedPhrase {
  text: string
  zone: PhraseZone
}

/**
 * Takes the zone out of a phrase: its last word, or a word directly behind a time of day. Both `in` before it and `time` behind it go with it.
 * Throws for zones that do not exist, letters that several countries use, offsets, and two zones.
 */
export function takeZone(text: string, at: PhraseContext): ZonedPhrase {
  const words = joinPlaces(spellOut(text).split(' '))
  const found = words.flatMap((written, index) => {
    const read = canBeZone(words, index) ? readZoneWord(bare(written), at) : null
    return read && !isWordOfPlaceAlone(words, index) ? [{ read, index }] : []
  })
  const [first, second] = found
  if (!first) return { text: words.join(' '), zone: zoneWithout(at) }
  if (second) throw refused(`The phrase names two time zones, "${words[first.index]}" and "${words[second.index]}". Name one.`)
  const rest = words.filter((_, index) => index !== first.index && !isFiller(words, index, first.index))
  return { text: rest.join(' ').replace(/,$/, ''), zone: zoneOf(first.read, words, first.index) }
}

function zoneOf(read: ZoneWord, words: string[], index: number): PhraseZone {
  const written = bare(words[index] ?? '')
  if (read.kind === 'zone') return { name: read.name, source: 'phrase', letters: read.letters }
  if (read.kind === 'unknown') throw refused(`"${written}" is no time zone. Use an IANA name such as America/New_York, Europe/Berlin or UTC.`)
  if (read.kind === 'offset') {
    throw refused(
      `"${written}" is an offset, which says nothing about daylight saving. Name a time zone such as Europe/Berlin, ` +
        'or send a point in time as ISO 8601, for example 2026-03-10T09:00:00-05:00.',
    )
  }
  const candidates = read.names.map((name) => words.with(index, name).join(' '))
  throw new Ambiguous(`"${written}" is used for several time zones: ${read.names.join(', ')}. Name the one you mean.`, candidates)
}

/** The zone of a phrase that names none. */
function zoneWithout(at: PhraseContext): PhraseZone {
  if (at.timezone !== null) return { name: at.timezone, source: 'field', letters: null }
  if (at.projectTimezone !== null) return { name: at.projectTimezone, source: 'project', letters: null }
  return { name: 'UTC', source: 'default', letters: null }
}

/** "Eastern Standard Time" and its like, as letters. */
function spellOut(text: string): string {
  const spelled = text.replace(/\bcentral european (summer )?time\b/gi, (_, season: string | undefined) => (season ? 'CEST' : 'CET'))
  return spelled.replace(/\b(eastern|central|mountain|pacific) (standard |daylight )?time\b/gi, (_, region: string, season: string | undefined) => {
    return `${region[0]}${season?.[0] ?? ''}T`.toUpperCase()
  })
}

/** Names of places of several words as one word, "new_york", where `in` is before them or `time` behind. */
function joinPlaces(words: string[]): string[] {
  for (let length = PLACE_WORDS_MAX; length > 1; length -= 1) {
    for (let index = 1; index + length <= words.length; index += 1) {
      const name = bare(words.slice(index, index + length).join(' ')).toLowerCase()
      if (!ZONES_OF_PLACES.has(name)) continue
      const end = words.slice(index, index + length).join('_')
      return words.toSpliced(index, length, end)
    }
  }
  return words
}

/** A place is a zone only as "in london" and "london time": alone it may be anything. */
function isWordOfPlaceAlone(words: string[], index: number): boolean {
  const name = bare(words[index] ?? '')
    .toLowerCase()
    .replaceAll('_', ' ')
  if (!ZONES_OF_PLACES.has(name)) return false
  return words[index - 1]?.toLowerCase() !== 'in' && bare(words[index + 1] ?? '').toLowerCase() !== 'time'
}

function bare(word: string): string {
  return word.replace(/^\(|[),]+$/g, '')
}

/** Behind a time a zone may be followed by more; anywhere else it has to be the last word. */
function canBeZone(words: string[], index: number): boolean {
  if (index === 0) return false
  if (index === words.length - 1 || (index === words.length - 2 && words[index + 1]?.toLowerCase() === 'time')) return true
  const before = words[index - 1]?.toLowerCase() === 'in' ? words[index - 2] : words[index - 1]
  return before !== undefined && TIME_END.test(before)
}

function isFiller(words: string[], index: number, zoneIndex: number): boolean {
  const word = words[index]?.toLowerCase()
  return (index === zoneIndex - 1 && word === 'in') || (index === zoneIndex + 1 && word === 'time')
}

/** Throws `validation_failed` when the `timezone` field names no zone. Letters are none there: as an old IANA name, EST would have no summer. */
export function requireZoneField(timezone: string | null): void {
  if (timezone === null || isTimeZone(timezone)) return
  const letters = LETTERS.get(timezone.toLowerCase())
  const reason =
    letters && letters.zone !== 'UTC' ? `is no IANA name; use ${letters.zone}` : 'is no time zone; use an IANA name such as America/New_York, or UTC'
  throw new DomainError('validation_failed', `The time zone "${timezone}" ${reason}.`, {
    errors: [{ pointer: '/timezone', field: 'timezone', reason, value: timezone }],
  })
}

const CENTRAL_EUROPEAN = /^CES?T$/

/** What to say of the zone of a phrase that is due at `next`. */
export function zoneWarnings(zone: PhraseZone, at: PhraseContext, next: Date): ScheduleWarning[] {
  const warnings: ScheduleWarning[] = []
  const minutes = zone.letters === null ? null : (LETTERS.get(zone.letters.toLowerCase())?.minutes ?? null)
  if (minutes !== null && minutes !== offsetMinutes(next, zone.name)) {
    const message = `${zone.letters} is read as the wall clock of ${zone.name}, which is at ${offsetText(next, zone.name)} on ${dateText(next, zone.name)}.`
    warnings.push({ code: 'zone_season', message })
  }
  if (zone.letters !== null && zone.name !== 'UTC' && fixedZone(zone.letters) === zone.name) {
    const message = `${zone.letters} is a fixed offset without daylight saving, stored as ${zone.name} (the sign in these names is reversed). Name a region such as Europe/Berlin if its clock is meant.`
    warnings.push({ code: 'fixed_offset', message })
  }
  if (zone.letters !== null && CENTRAL_EUROPEAN.test(zone.letters) && warnings.length === 0) {
    warnings.push({ code: 'zone_region', message: `${zone.letters} is read as the wall clock of ${zone.name}, which changes between CET and CEST.` })
  }
  if (zone.source === 'phrase' && at.timezone !== null && at.timezone !== zone.name) {
    warnings.push({ code: 'zone_conflict', message: `The phrase names ${zone.name}, so the \`timezone\` field, ${at.timezone}, is not used.` })
  }
  return warnings
}

/** How far the wall clock of a zone is ahead of UTC at an instant. */
export function offsetMinutes(instant: Date, zone: string): number {
  const wall = toWallTime(instant, zone)
  const asUtc = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second)
  return Math.round((asUtc - Math.floor(instant.getTime() / 1000) * 1000) / 60_000)
}

/** As ISO 8601 has it: -05:00. */
export function offsetText(instant: Date, zone: string): string {
  const minutes = offsetMinutes(instant, zone)
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${String(Math.floor(size / 60)).padStart(2, '0')}:${String(size % 60).padStart(2, '0')}`
}

function dateText(instant: Date, zone: string): string {
  const { year, month, day } = toWallTime(instant, zone)
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}
