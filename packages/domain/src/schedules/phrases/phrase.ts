import { DomainError } from '../../core/errors.ts'
import { codePointLength } from '../../core/text.ts'
import type { CalendarTiming } from '../cron-times.ts'
import type { PhraseKind, ScheduleWarning } from '../schedule.ts'
import { nextFiring, shortestGapSeconds, type Timing } from '../timing.ts'
import { toWallTime } from '../wall-clock.ts'
import { type ReadBounds, resolveBounds } from './bounds.ts'
import { clockText } from './clock.ts'
import { looksLikeCron, readCron } from './cron.ts'
import { readIso } from './iso.ts'
import { isMoment, readMomentParts } from './moment.ts'
import { capital, isoDate, isoText, momentWords, zoneWords } from './reading.ts'
import { comesAgain, isInterval, type Recurrence, readRecurrence, requireClearWords } from './recurrence.ts'
import { Ambiguous, notUnderstood, refused, unparseable } from './refusal.ts'
import { atWall, firstDayMeant, type Moment, resolveMoment } from './resolve.ts'
import { type CalendarRule, cronsOfRule, phraseOfRule } from './rule.ts'
import { type Token, tokenize } from './tokens.ts'
import { correctedPhrases } from './typos.ts'
import { type PhraseContext, type PhraseZone, requireZoneField, takeZone, zoneWarnings } from './zone.ts'

export type { PhraseContext } from './zone.ts'

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
  return readAtDepth({ ...phrase, text: cleaned(phrase) }, at, 0)
}

/** How often candidates may have candidates of their own: letters of a zone that is open may stand behind a phrase that is. */
const DEPTH_MAX = 2

function readAtDepth(phrase: Phrase, at: PhraseContext, depth: number): PhraseReading {
  try {
    return read(phrase, at)
  } catch (error) {
    if (!(error instanceof Ambiguous)) throw error
    if (depth >= DEPTH_MAX) throw unparseable(phrase.kind, error.message)
    return onlyReading(error, phrase.kind, at, depth)
  }
}

/** Of what can be read in several ways: the only way that is accepted, with a warning. Throws candidates where there are several, or none. */
function onlyReading(error: Ambiguous, kind: PhraseKind, at: PhraseContext, depth: number): PhraseReading {
  const refusal = withCandidates(error, kind, at, depth)
  const candidates = (refusal.details.candidates ?? []) as PhraseCandidate[]
  const [only, another] = candidates
  if (!error.isComplete || !only || another) throw refusal
  const reading = readAtDepth({ kind, text: only.phrase }, at, depth + 1)
  const message = `${error.message} Only one of the readings is possible: "${only.phrase}".`
  return { ...reading, warnings: [...reading.warnings, { code: 'single_reading', message }] }
}

function cleaned({ kind, text }: Phrase): string {
  const isLong = text.length > PHRASE_LENGTH_MAX * 2 || codePointLength(text) > PHRASE_LENGTH_MAX
  if (isLong) throw refused(`A phrase may have ${PHRASE_LENGTH_MAX} characters at most.`)
  const clean = text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/ ?[.!]+$/, '')
  if (clean === '') throw unparseable(kind, 'The phrase is empty.')
  return clean
}

function withCandidates(error: Ambiguous, kind: PhraseKind, at: PhraseContext, depth: number): DomainError {
  const candidates: PhraseCandidate[] = []
  let past: DomainError | null = null
  for (const text of error.phrases.slice(0, CANDIDATES_MAX)) {
    const read = readCandidate({ kind, text }, at, depth + 1)
    if (Array.isArray(read)) candidates.push(...read)
    else if (read.code === 'schedule_in_past') past = read
  }
  if (candidates.length === 0) return past ?? unparseable(kind, error.message)
  const distinct = [...new Map(candidates.map((candidate) => [candidate.phrase, candidate])).values()].slice(0, CANDIDATES_MAX)
  return new DomainError('schedule_ambiguous', `${error.message} Send one of the candidates.`, { candidates: distinct })
}

/** What is offered is read first: it is a candidate if it is accepted, and if it is ambiguous itself, its candidates are. */
function readCandidate(phrase: Phrase, at: PhraseContext, depth: number): PhraseCandidate[] | DomainError {
  try {
    const { timing, timezone, reading } = readAtDepth(phrase, at, depth)
    const next = nextFiring(timing, timezone, at.now)
    return next ? [{ phrase: phrase.text, reading, next_fire_at: next.toISOString() }] : []
  } catch (refusal) {
    if (!(refusal instanceof DomainError)) throw refusal
    const nested = refusal.details.candidates
    return Array.isArray(nested) ? (nested as PhraseCandidate[]) : refusal
  }
}

/** A time zone behind the whole, as RFC 9557 writes it. */
const BRACKETED_ZONE = /^([^[\]]+)\[([^[\]]+)\]$/

function read(phrase: Phrase, at: PhraseContext): PhraseReading {
  const bracketed = BRACKETED_ZONE.exec(phrase.text)
  const { text, zone } = takeZone(bracketed ? `${bracketed[1]} ${bracketed[2]}` : phrase.text, at)
  try {
    return readZoned({ kind: phrase.kind, text }, zone, at)
  } catch (error) {
    if (!(error instanceof Ambiguous) || zone.source !== 'phrase') throw error
    const candidates = error.phrases.map((candidate) => `${candidate} ${zone.name}`)
    throw new Ambiguous(error.message, candidates, error)
  }
}

function readZoned({ kind, text }: Phrase, zone: PhraseZone, at: PhraseContext): PhraseReading {
  if (looksLikeCron(text)) {
    if (kind === 'when') throw unparseable(kind, 'That is a cron expression, which comes again: send it as `cron`.')
    return cronReading(text, zone, at)
  }
  if (kind === 'cron' && !isPhrase(text)) return cronReading(text, zone, at)
  if (kind === 'cron') throw unparseable(kind, 'That is no cron expression: send words as `every`, or as `when` if they name a single point in time.')
  return kind === 'every' ? recurrenceReading(text, zone, at) : momentReading(text, zone, at)
}

function isPhrase(text: string): boolean {
  return /[a-z]{4}/i.test(text)
}

function recurrenceReading(text: string, zone: PhraseZone, at: PhraseContext): PhraseReading {
  const tokens = tokenize(text)
  try {
    requireClearWords(tokens, text)
    const attempt = readRecurrence(tokens, (written) => resolveBounds(written, zone, at).phrase)
    if (!attempt.recurrence) throw misspelt(tokens, notUnderstood(attempt.stuckAt, text), text)
    return recurrenceOf(attempt.recurrence, zone, at)
  } catch (error) {
    if (comesAgain(tokens) || !(isMoment(tokens) || readIso(text, zone))) throw error
    throw unparseable('every', 'That is a single point in time: send it as `when`.')
  }
}

function recurrenceOf(recurrence: Recurrence, zone: PhraseZone, at: PhraseContext): PhraseReading {
  const bounds = resolveBounds(recurrence.written, zone, at)
  return recurrence.kind === 'interval' ? intervalReading(recurrence, bounds, zone, at) : calendarReading(recurrence, bounds, zone, at)
}

/** What is not understood, with the phrase in its right spelling where that is known. */
function misspelt(tokens: Token[], problem: string, text: string): Ambiguous {
  return new Ambiguous(problem, correctedPhrases(tokens, text))
}

function intervalReading(recurrence: Recurrence & { kind: 'interval' }, { bounds, ...read }: ReadBounds, zone: PhraseZone, at: PhraseContext): PhraseReading {
  const { seconds, phrase, startsAt, written } = recurrence
  const isOfZone = startsAt !== null || bounds.until !== null
  if (zone.source === 'phrase' && !isOfZone) throw refused('An interval counts real time and has no time zone. Leave the zone out.')
  const first = startsAt ? atWall({ ...firstDayMeant(written.starting?.parts ?? {}, zone, at, startsAt), ...startsAt }, zone) : null
  if (first && first.at <= at.now) throw refused(`The first firing, ${momentWords(first.at, zone.name)}, has passed.`)
  const anchorAt = first ? new Date(first.at.getTime() - seconds * 1_000) : at.now
  const timing: Timing = { kind: 'interval', seconds, anchorAt: anchorAt.toISOString(), ...(bounds.until ? { until: bounds.until } : {}) }
  const wall = first ? toWallTime(first.at, zone.name) : null
  const start = wall ? ` starting ${isoDate(wall)} at ${clockText(wall)}` : ''
  const end = bounds.until ? ` through ${bounds.until}` : ''
  const canonical = `${phrase}${start}${end}${isOfZone ? ` ${zone.name}` : ''}`
  const starting = first ? `, starting on ${momentWords(first.at, zone.name)}` : ''
  const reading = `${capital(phrase)}${starting}${read.ending}${isOfZone ? `, ${zoneWords(zone)}` : ''}`
  return checked({ timing, timezone: zone.name, canonical, reading, warnings: [...(first?.warnings ?? []), ...read.warnings] }, zone, at)
}

function calendarReading(recurrence: Recurrence & { kind: 'calendar' }, read: ReadBounds, zone: PhraseZone, at: PhraseContext): PhraseReading {
  const { rule, warnings } = recurrence
  const { from, until } = read.bounds
  const bounded: CalendarTiming = { kind: 'calendar', crons: cronsOfRule(rule), every: null, ...(from ? { from } : {}), ...(until ? { until } : {}) }
  const timing = countedFromFirst(bounded, rule.every, zone, at)
  const canonical = `${phraseOfRule(rule)}${read.phrase} ${zone.name}`
  const reading = `${phraseOfRule(rule, 'cased')}${read.starting}${read.ending}, ${zoneWords(zone)}`
  return checked({ timing, timezone: zone.name, canonical, reading, warnings: [...warnings, ...read.warnings] }, zone, at)
}

/** Every so many periods are counted from the first one that the rule is due in. */
function countedFromFirst(timing: CalendarTiming, every: CalendarRule['every'], zone: PhraseZone, at: PhraseContext): Timing {
  const first = every.count === 1 ? null : nextFiring(timing, zone.name, at.now)
  return first ? { ...timing, every: { ...every, since: isoDate(toWallTime(first, zone.name)) } } : timing
}

function cronReading(text: string, zone: PhraseZone, at: PhraseContext): PhraseReading {
  const { cron, phrase, reading, warnings } = readCron(text)
  const timing: Timing = { kind: 'calendar', crons: [cron], every: null }
  return checked({ timing, timezone: zone.name, canonical: `${phrase} ${zone.name}`, reading: `${reading}, ${zoneWords(zone)}`, warnings }, zone, at)
}

function momentReading(text: string, zone: PhraseZone, at: PhraseContext): PhraseReading {
  const iso = readIso(text, zone)
  if (iso) return onceReading(iso, zone, at)
  const tokens = tokenize(text)
  if (comesAgain(tokens)) throw unparseable('when', 'That comes again, and `when` takes a single point in time: send it as `every`.')
  const attempt = readMomentParts(tokens)
  if (!attempt.parts && isInterval(tokens)) throw unparseable('when', `That is an interval: send "in ${text}", or send it as \`every\`.`)
  if (!attempt.parts) throw misspelt(tokens, notUnderstood(attempt.stuckAt, text), text)
  return onceReading(resolveMoment(attempt.parts, zone, at), zone, at)
}

function onceReading({ at: instant, warnings }: Moment, zone: PhraseZone, at: PhraseContext): PhraseReading {
  const words = `${momentWords(instant, zone.name)}, ${zoneWords(zone)}`
  if (instant <= at.now) throw new DomainError('schedule_in_past', `The phrase was read as ${words}, which has passed. Name a point in time to come.`)
  const timing: Timing = { kind: 'once', at: instant.toISOString() }
  return checked({ timing, timezone: zone.name, canonical: isoText(instant, zone.name), reading: `Once, on ${words}`, warnings }, zone, at)
}

/** Refuses rules that never fire or fire too often. Adds the warnings about the time zone. */
function checked(reading: PhraseReading, zone: PhraseZone, at: PhraseContext): PhraseReading {
  const next = nextFiring(reading.timing, reading.timezone, at.now)
  if (!next) throw refused(`The phrase was read as "${reading.reading}", which never comes.`)
  const gap = shortestGapSeconds(reading.timing, reading.timezone, at.now)
  if (gap !== null && gap < at.minIntervalSeconds) {
    throw refused(`The phrase was read as "${reading.reading}": two firings of it can be ${gap} s apart, and at least ${at.minIntervalSeconds} s are needed.`)
  }
  return { ...reading, warnings: [...reading.warnings, ...zoneWarnings(zone, at, next)] }
}
