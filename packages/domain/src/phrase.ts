import { DomainError } from './errors.ts'
import { looksLikeCron, readCron } from './phrase-cron.ts'
import { type Moment, readIso, readMoment } from './phrase-moment.ts'
import { readRecurrence } from './phrase-recurrence.ts'
import { Ambiguous, refused, unparseable } from './phrase-refusal.ts'
import { cronsOfRule, phraseOfRule } from './phrase-rule.ts'
import { tokenize } from './phrase-tokens.ts'
import { MONTHS, WEEKDAYS } from './phrase-words.ts'
import { offsetText, type PhraseContext, type PhraseZone, requireZoneField, takeZone, zoneWarnings } from './phrase-zone.ts'
import type { PhraseKind, ScheduleWarning } from './schedule.ts'
import { codePointLength } from './text.ts'
import { type CalendarTiming, nextFiring, shortestGapSeconds, type Timing } from './timing.ts'
import { toWallTime } from './wall-clock.ts'

export type { PhraseContext } from './phrase-zone.ts'

/** A phrase in the field that it was given in. */
export interface Phrase {
  kind: PhraseKind
  text: string
}

/** What a phrase means, for machines and for people. */
export interface PhraseReading {
  timing: Timing
  timezone: string
  /** A phrase of the same kind that reads back to the same timing and zone, if it is read at the same moment. */
  canonical: string
  reading: string
  warnings: ScheduleWarning[]
}

/** A phrase to send instead of an ambiguous one. */
export interface PhraseCandidate {
  phrase: string
  reading: string
  next_fire_at: string
}

export const PHRASE_LENGTH_MAX = 200
const CANDIDATES_MAX = 8

/**
 * Reads a phrase, every word of it. Pure: `at.now` is the moment it is read at, from which intervals count.
 * @throws DomainError `schedule_ambiguous` with candidates, `schedule_unparseable`, `schedule_in_past`, and `validation_failed` for a `timezone` field
 * that is no time zone
 */
export function readPhrase(phrase: Phrase, at: PhraseContext): PhraseReading {
  requireZoneField(at.timezone)
  try {
    return read({ ...phrase, text: cleaned(phrase) }, at)
  } catch (error) {
    if (!(error instanceof Ambiguous)) throw error
    throw withCandidates(error, phrase.kind, at)
  }
}

function cleaned({ kind, text }: Phrase): string {
  if (text.length > PHRASE_LENGTH_MAX * 2 || codePointLength(text) > PHRASE_LENGTH_MAX)
    throw refused(`A phrase may have ${PHRASE_LENGTH_MAX} characters at most.`)
  const clean = text.replace(/\s+/g, ' ').trim()
  if (clean === '') throw unparseable(kind, 'The phrase is empty.')
  return clean
}

function withCandidates(error: Ambiguous, kind: PhraseKind, at: PhraseContext): DomainError {
  const candidates: PhraseCandidate[] = []
  for (const text of error.phrases.slice(0, CANDIDATES_MAX)) {
    try {
      const reading = readPhrase({ kind, text }, at)
      const next = nextFiring(reading.timing, reading.timezone, at.now)
      if (next) candidates.push({ phrase: text, reading: reading.reading, next_fire_at: next.toISOString() })
    } catch (refusal) {
      if (!(refusal instanceof DomainError)) throw refusal
      const nested = refusal.details.candidates
      if (Array.isArray(nested)) candidates.push(...(nested as PhraseCandidate[]))
    }
  }
  return new DomainError('schedule_ambiguous', error.message, { candidates: candidates.slice(0, CANDIDATES_MAX) })
}

function read(phrase: Phrase, at: PhraseContext): PhraseReading {
  const { text, zone } = takeZone(phrase.text, at)
  try {
    return readZoned({ kind: phrase.kind, text }, zone, at)
  } catch (error) {
    if (error instanceof Ambiguous && zone.source === 'phrase')
      throw new Ambiguous(
        error.message,
        error.phrases.map((candidate) => `${candidate} ${zone.name}`),
      )
    throw error
  }
}

function readZoned({ kind, text }: Phrase, zone: PhraseZone, at: PhraseContext): PhraseReading {
  if (kind === 'cron' || (kind === 'every' && looksLikeCron(text))) return cronReading(text, zone, at)
  if (kind === 'when') return momentReading(text, zone, at)
  const attempt = readRecurrence(tokenize(text))
  if (!attempt.recurrence) throw unparseable(kind, `"${attempt.stuckAt.text}" is not understood.`)
  const { recurrence } = attempt
  if (recurrence.kind === 'interval') {
    if (zone.source === 'phrase') throw refused('An interval counts real time and has no time zone. Leave the zone out.')
    const timing: Timing = { kind: 'interval', seconds: recurrence.seconds, anchorAt: at.now.toISOString() }
    return checked({ timing, timezone: zone.name, canonical: recurrence.phrase, reading: capital(recurrence.phrase), warnings: [] }, zone, at)
  }
  const { rule, warnings } = recurrence
  const timing = countedFromFirst({ kind: 'calendar', crons: cronsOfRule(rule), every: null }, rule.every, zone, at)
  const canonical = `${phraseOfRule(rule)} ${zone.name}`
  return checked({ timing, timezone: zone.name, canonical, reading: `${phraseOfRule(rule, 'cased')}, ${zoneText(zone)}`, warnings }, zone, at)
}

/** Every so many periods are counted from the first one that the rule is due in. */
function countedFromFirst(
  timing: CalendarTiming,
  every: { count: number; unit: 'day' | 'week' | 'month' | 'year' },
  zone: PhraseZone,
  at: PhraseContext,
): Timing {
  if (every.count === 1) return timing
  const first = nextFiring(timing, zone.name, at.now)
  if (!first) return timing
  return { ...timing, every: { ...every, since: isoDate(first, zone.name) } }
}

function cronReading(text: string, zone: PhraseZone, at: PhraseContext): PhraseReading {
  const { cron, phrase, reading, warnings } = readCron(text)
  const timing: Timing = { kind: 'calendar', crons: [cron], every: null }
  return checked({ timing, timezone: zone.name, canonical: `${phrase} ${zone.name}`, reading: `${reading}, ${zoneText(zone)}`, warnings }, zone, at)
}

function momentReading(text: string, zone: PhraseZone, at: PhraseContext): PhraseReading {
  const tokens = tokenize(text)
  const moment = readIso(text, zone) ?? readMoment(tokens, zone, at)
  if (!moment) throw unparseable('when', `"${text}" is not understood.`)
  return onceReading(moment, zone, at)
}

function onceReading({ at: instant, warnings }: Moment, zone: PhraseZone, at: PhraseContext): PhraseReading {
  const reading = `Once, on ${momentText(instant, zone.name)}, ${zoneText(zone)}`
  if (instant <= at.now) throw new DomainError('schedule_in_past', `The phrase was read as ${momentText(instant, zone.name)}, ${zone.name}, which has passed.`)
  const canonical = `${isoText(instant, zone.name)}[${zone.name}]`
  return checked({ timing: { kind: 'once', at: instant.toISOString() }, timezone: zone.name, canonical, reading, warnings }, zone, at)
}

/** Refuses what never comes and what comes too often; adds what is to be said of the zone. */
function checked(reading: PhraseReading, zone: PhraseZone, at: PhraseContext): PhraseReading {
  const next = nextFiring(reading.timing, reading.timezone, at.now)
  if (!next) throw refused(`${reading.reading}: that never comes.`)
  const gap = shortestGapSeconds(reading.timing, reading.timezone, at.now)
  if (gap !== null && gap < at.minIntervalSeconds) {
    throw refused(`That would be due every ${gap} seconds; ${at.minIntervalSeconds} seconds is the shortest that is allowed between two firings.`)
  }
  return { ...reading, warnings: [...reading.warnings, ...zoneWarnings(zone, at, next)] }
}

function zoneText({ name, source }: PhraseZone): string {
  if (source === 'nobody') return `${name} (no time zone was given)`
  return source === 'project' ? `${name} (the project's time zone)` : name
}

function capital(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

function isoDate(instant: Date, zone: string): string {
  const { year, month, day } = toWallTime(instant, zone)
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
}

function isoText(instant: Date, zone: string): string {
  const { hour, minute, second } = toWallTime(instant, zone)
  const milliseconds = instant.getTime() % 1_000
  const fraction = milliseconds === 0 ? '' : `.${String(milliseconds).padStart(3, '0')}`
  return `${isoDate(instant, zone)}T${two(hour)}:${two(minute)}:${two(second)}${fraction}${offsetText(instant, zone)}`
}

/** "Tuesday, 10 March 2026 at 09:00". */
function momentText(instant: Date, zone: string): string {
  const { year, month, day, hour, minute, second } = toWallTime(instant, zone)
  const weekday = WEEKDAYS[new Date(Date.UTC(year, month - 1, day)).getUTCDay()] ?? ''
  const clock = second === 0 ? `${two(hour)}:${two(minute)}` : `${two(hour)}:${two(minute)}:${two(second)}`
  return `${capital(weekday)}, ${day} ${capital(MONTHS[month - 1] ?? '')} ${year} at ${clock}`
}
