import type { ScheduleWarning } from '../schedule.ts'
import { toInstant, toWallTime, type WallTime } from '../wall-clock.ts'
import { afterMidnightWarning, clockText, halvesOfDay, isAfterMidnight, OFFERED_TIMES, type TimeOfDay, timesInDayPart } from './clock.ts'
import { addDays, addMonths, dayOfRule, isBefore, isDate, type WrittenDate } from './dates.ts'
import type { MomentParts } from './moment.ts'
import { capital, dateWords, isoDate, type WallDate, weekdayOf } from './reading.ts'
import { Ambiguous, refused } from './refusal.ts'
import { type Span, UNIT_SECONDS, WEEKDAYS } from './words.ts'
import type { PhraseContext, PhraseZone } from './zone.ts'

/** A point in time, and what to say of how it was read. */
export interface Moment {
  at: Date
  warnings: ScheduleWarning[]
}

/** What the parts can mean, and the first thing that is left open; null: they mean one. */
interface Open<T> {
  values: T[]
  reason: string | null
  /** Whether the values are all that is possible, and not suggestions for what the phrase leaves out. */
  isComplete?: boolean
  warnings: ScheduleWarning[]
}

/** A day, which may depend on the time: the 10th of March is next year's once it has passed. */
type DayAt = (time: TimeOfDay) => WallDate

/** How long each unit is at most. */
const DAYS: Record<Span['unit'], number> = { second: 1, minute: 1, hour: 1, day: 1, week: 7, month: 31, year: 365 }
const YEARS_LOOKED_AT = 12
/** A time that has passed so lately may still be the one that is meant. */
const JUST_PASSED_MS = 3_600_000
/** A hundred years. */
const FAR_MS = 36_525 * 86_400_000

/** The instant that the parts mean by the clock of the zone. Throws candidates where they mean several. */
export function resolveMoment(parts: Partial<MomentParts>, zone: PhraseZone, at: PhraseContext): Moment {
  const isExact = parts.spans?.every(({ unit }) => UNIT_SECONDS[unit] !== undefined) === true && !parts.time && !parts.dayPart
  if (parts.spans && isExact) return resolveSpans(parts.spans, zone, at)
  const now = toWallTime(at.now, zone.name)
  const days = openDays(parts, now, zone, at)
  const times = openTimes(parts, now)
  const reason = days.reason ?? times.reason
  if (reason !== null) {
    const walls = days.values.flatMap((dayAt) => times.values.map((time) => wallOf(dayAt, time)))
    const isComplete = [days, times].every((open) => open.reason === null || open.isComplete === true)
    const hasJustPassed = walls.some((wall) => isWithin(at.now.getTime() - toInstant(wall, zone.name).getTime(), JUST_PASSED_MS))
    const phrases = walls.map((wall) => `${isoDate(wall)} ${clockText(wall)}`)
    throw new Ambiguous(reason, phrases, { isComplete: isComplete && !hasJustPassed })
  }
  const [dayAt] = days.values
  const [time] = times.values
  if (!dayAt || !time) throw refused('The phrase names no point in time.')
  const moment = atWall(wallOf(dayAt, time), zone)
  if (moment.at.getTime() - at.now.getTime() > FAR_MS) throw tooFar()
  return { at: moment.at, warnings: [...days.warnings, ...times.warnings, ...moment.warnings] }
}

function isWithin(passed: number, most: number): boolean {
  return passed >= 0 && passed < most
}

/** Hours from 24 on are those of the day after. */
function wallOf(dayAt: DayAt, time: TimeOfDay): WallTime {
  const day = dayAt(time)
  return time.hour >= 24 ? { ...time, ...addDays(day, 1), hour: time.hour - 24 } : { ...time, year: day.year, month: day.month, day: day.day }
}

/** The instant at which the wall shows it, with a warning where it does so never or twice. */
export function atWall(wall: WallTime, zone: PhraseZone): Moment {
  const instant = toInstant(wall, zone.name)
  const shown = clockText(toWallTime(instant, zone.name))
  const asked = clockText(wall)
  if (shown !== asked) {
    const message = `${asked} does not exist on ${isoDate(wall)} in ${zone.name}, where the clock is put forward; it is read as ${shown}.`
    return { at: instant, warnings: [{ code: 'skipped_time', message }] }
  }
  const comesAgain = [30, 60].some((minutes) => clockText(toWallTime(new Date(instant.getTime() + minutes * 60_000), zone.name)) === asked)
  if (!comesAgain) return { at: instant, warnings: [] }
  return { at: instant, warnings: [{ code: 'repeated_time', message: `${asked} comes twice on ${isoDate(wall)} in ${zone.name}; the first is meant.` }] }
}

function tooFar(): Error {
  return refused('A point in time may lie a hundred years ahead at most.')
}

function resolveSpans(spans: Span[], zone: PhraseZone, at: PhraseContext): Moment {
  const seconds = spans.reduce((sum, { count, unit }) => sum + count * (UNIT_SECONDS[unit] ?? 0), 0)
  if (!(seconds > 0)) throw refused('The time from now has to be longer than nothing.')
  if (seconds * 1_000 > FAR_MS) throw tooFar()
  const instant = new Date(at.now.getTime() + Math.round(seconds * 1_000))
  const isOfDays = seconds % 86_400 === 0
  const [from, to] = [at.now, instant].map((moment) => clockText(toWallTime(moment, zone.name)))
  if (!isOfDays || from === to) return { at: instant, warnings: [] }
  return {
    at: instant,
    warnings: [{ code: 'clock_change', message: `The clock is changed until then: days are counted as 24 hours, so it is ${to}, not ${from}.` }],
  }
}

function openDays(parts: Partial<MomentParts>, now: WallTime, zone: PhraseZone, at: PhraseContext): Open<DayAt> {
  const isToCome = (wall: WallTime): boolean => toInstant(wall, zone.name) > at.now
  const one = (date: WallDate): Open<DayAt> => ({ values: [() => date], reason: null, warnings: [] })
  if (parts.spans) return openSpanDays(parts.spans, now)
  if (parts.days !== undefined) return one(addDays(now, parts.days))
  if (parts.weekday) return openWeekday(parts.weekday, now, isOfNightPassing(parts, now))
  if (parts.vague) return openPeriod(parts.vague, now)
  if (parts.dates) {
    const reason = parts.dates.length > 1 ? 'It is open which of the numbers is the day, and which the month.' : null
    return { values: parts.dates.map((date) => dayOfDate(date, now, isToCome)), reason, warnings: [] }
  }
  if (parts.dayOfMonth !== undefined) return { values: [nextDayOfMonth(parts.dayOfMonth, now, isToCome)], reason: null, warnings: [] }
  if (parts.dayInMonth) return one(dateInMonth(parts.dayInMonth, now, isToCome))
  const nextDay: DayAt = (time) => (isToCome({ ...now, ...time }) ? now : addDays(now, 1))
  return { values: [nextDay], reason: null, warnings: [] }
}

function openSpanDays(spans: Span[], now: WallTime): Open<DayAt> {
  const [span, another] = spans
  if (!span || another || !['day', 'week', 'month', 'year'].includes(span.unit) || !Number.isInteger(span.count) || span.count < 1) {
    throw refused('Write a number of days, weeks, months or years, or hours and minutes without a time of day, as in "in 3 days at 9am" or "in 90 minutes".')
  }
  if (span.count * DAYS[span.unit] > 36_525) throw tooFar()
  if (span.unit === 'day' || span.unit === 'week')
    return { values: [() => addDays(now, span.count * (span.unit === 'week' ? 7 : 1))], reason: null, warnings: [] }
  const months = span.count * (span.unit === 'year' ? 12 : 1)
  const date = addMonths(now, months)
  if (date) return { values: [() => date], reason: null, warnings: [] }
  const after = addMonths({ ...now, day: 1 }, months + 1) ?? now
  return { values: [() => addDays(after, -1), () => after], reason: `That month has no day ${now.day}.`, warnings: [] }
}

/** Whether an hour after midnight is asked for before dawn: the night may be the one that is passing, which goes by the name of yesterday. */
function isOfNightPassing({ time, dayPart }: Partial<MomentParts>, now: WallTime): boolean {
  const [meant] = time && dayPart ? timesInDayPart([time], dayPart) : []
  return meant !== undefined && now.hour < 6 && isAfterMidnight(meant, dayPart)
}

function openWeekday({ weekday, which }: MomentParts['weekday'], now: WallTime, isNightPassing: boolean): Open<DayAt> {
  const ahead = (weekday - weekdayOf(now) + 7) % 7
  const inWeek = ((weekday + 6) % 7) - ((weekdayOf(now) + 6) % 7)
  const after =
    (days: number): DayAt =>
    () =>
      addDays(now, days)
  const name = capital(WEEKDAYS[weekday] ?? '')
  if (isNightPassing && ahead === 6 && (which === 'any' || which === 'this'))
    return {
      values: [after(-1), after(6)],
      reason: `It is open whether the night that is passing is meant, or that of next ${name}.`,
      isComplete: true,
      warnings: [],
    }
  if (which === 'of next week') return { values: [after(inWeek + 7)], reason: null, warnings: [] }
  if (which === 'this') {
    const reason = inWeek < 0 ? `This week's ${name} has passed.` : null
    return { values: [after(inWeek < 0 ? inWeek + 7 : inWeek)], reason, warnings: [] }
  }
  if (which === 'any') {
    if (ahead > 0) return { values: [after(ahead)], reason: null, warnings: [] }
    return { values: [after(0), after(7)], reason: `Today is a ${name}: it is open whether today or the next one is meant.`, isComplete: true, warnings: [] }
  }
  const days = ahead === 0 ? 7 : ahead
  const message = `"next ${name}" is read as the first ${name} after today, ${dateWords(addDays(now, days))}.`
  return { values: [after(days)], reason: null, warnings: inWeek > 0 ? [{ code: 'next_weekday', message }] : [] }
}

function openPeriod(period: MomentParts['vague'], now: WallTime): Open<DayAt> {
  const monday = addDays(now, 7 - ((weekdayOf(now) + 6) % 7))
  const first = { ...now, month: period === 'month' ? now.month + 1 : 1, day: 1, year: period === 'year' ? now.year + 1 : now.year }
  const start = period === 'week' ? monday : addDays(first, 0)
  const same = period === 'week' ? addDays(now, 7) : (addMonths(now, period === 'month' ? 1 : 12) ?? start)
  return { values: [() => start, () => same], reason: `The phrase does not say on which day of the next ${period}.`, warnings: [] }
}

/** Without a year: the next one to come. A weekday beside a date has to be that of the date. */
function dayOfDate({ year, month, day, weekday }: WrittenDate, now: WallTime, isToCome: (wall: WallTime) => boolean): DayAt {
  return (time) => {
    const years = year === null ? Array.from({ length: YEARS_LOOKED_AT }, (_, index) => now.year + index) : [year]
    const dates = years.map((each) => ({ year: each, month, day })).filter(isDate)
    const date = year === null ? dates.find((each) => isToCome({ ...each, ...time })) : dates[0]
    if (!date) throw refused(`There is no such date as ${year === null ? '' : `${year}-`}${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}.`)
    if (weekday !== null && weekdayOf(date) !== weekday) throw refused(`The weekday does not fit: that date is ${dateWords(date)}.`)
    return date
  }
}

/** "First monday of next month", "last day of june": of a named month the next one to come. */
function dateInMonth({ day, month }: MomentParts['dayInMonth'], now: WallTime, isToCome: (wall: WallTime) => boolean): WallDate {
  const first = { year: now.year, month: now.month, day: 1 }
  const ahead = month === 'this' ? [0] : month === 'next' ? [1] : [month - now.month, month - now.month + 12, month - now.month + 24]
  const dates = ahead.map((months) => dayOfRule(addMonths(first, months) ?? first, day))
  const date = dates.find((each) => each !== null && (typeof month === 'string' || isToCome({ ...each, ...LAST_SECOND })))
  if (!date) throw refused('That month has no such day.')
  return date
}

/** The day that a rule begins or ends with. Today counts as to come until the time, and a day that can be two is refused. */
export function firstDayMeant(parts: Partial<MomentParts>, zone: PhraseZone, at: PhraseContext, time: TimeOfDay = LAST_SECOND): WallDate {
  const now = toWallTime(at.now, zone.name)
  const days = openDays(parts, now, zone, at)
  const [dayAt] = days.values
  if (!dayAt || (days.reason !== null && !parts.vague)) throw refused(`${days.reason} Write the date as in 2026-12-01.`)
  return dayAt(time)
}

const LAST_SECOND: TimeOfDay = { hour: 23, minute: 59, second: 59 }

function nextDayOfMonth(day: number, now: WallTime, isToCome: (wall: WallTime) => boolean): DayAt {
  return (time) => {
    const months = Array.from({ length: YEARS_LOOKED_AT }, (_, index) => addMonths({ ...now, day: 1 }, index) ?? now)
    const dates = months.map((month) => ({ ...month, day })).filter((date) => isDate(date) && !isBefore(date, now))
    const date = dates.find((each) => isToCome({ ...each, ...time }))
    if (!date) throw refused(`No month has a day ${day}.`)
    return date
  }
}

function openTimes({ time, dayPart, days, vague, ...parts }: Partial<MomentParts>, now: WallTime): Open<TimeOfDay> {
  const clock: TimeOfDay = { hour: now.hour, minute: now.minute, second: now.second }
  if (!time && !dayPart && (days === 1 || days === 2)) {
    return {
      values: [clock],
      reason: null,
      warnings: [{ code: 'same_time', message: `No time was given, so it is the time of day that it is now, ${clockText(clock)}.` }],
    }
  }
  if (!time && !dayPart && parts.spans) return { values: [clock], reason: null, warnings: [] }
  if (!time)
    return { values: OFFERED_TIMES[dayPart === 'tonight' ? 'evening' : (dayPart ?? 'any')], reason: 'The phrase does not say at what time.', warnings: [] }
  const hasDay = days !== undefined || vague !== undefined || Object.keys(parts).length > 0
  const [meant = time] = dayPart ? timesInDayPart([time], dayPart) : [time]
  const { hour, minute, second } = meant
  if (hasDay && isAfterMidnight(meant, dayPart)) {
    const next = { hour: hour + 24, minute, second }
    // Before dawn a night that is named by today may be the one that is passing.
    const isOpen = days === 0 && now.hour < 6
    const reason = isOpen ? `It is open whether ${clockText({ hour, minute, second })} is of the night that is passing, or of the next one.` : null
    return {
      values: isOpen ? [{ hour, minute, second }, next] : [next],
      reason,
      isComplete: true,
      warnings: [afterMidnightWarning([{ hour, minute, second }])],
    }
  }
  if (time.style === 'midnight' && hasDay) {
    return {
      values: [
        { hour: 0, minute: 0, second: 0 },
        { hour: 24, minute: 0, second: 0 },
      ],
      reason: 'Midnight may be the beginning of that day, or its end.',
      isComplete: true,
      warnings: [],
    }
  }
  if (meant.style === 'clock') {
    const message = `"${time.written}" is read on a 24-hour clock; write am or pm if another one is meant.`
    return { values: [{ hour, minute, second }], reason: null, warnings: [{ code: 'bare_hour', message }] }
  }
  if (meant.style !== 'open') return { values: [{ hour, minute, second }], reason: null, warnings: [] }
  return { values: halvesOfDay(meant), reason: `It is open whether ${time.written} is in the morning or in the afternoon.`, isComplete: true, warnings: [] }
}
