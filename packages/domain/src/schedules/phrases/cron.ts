import cronstrue from 'cronstrue'
import { type CronTimes, readCron as readTimes } from '../cron-times.ts'
import type { ScheduleWarning } from '../schedule.ts'
import { refused } from './refusal.ts'

const MACROS: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}
/** What a field is made of: numbers, names of months and weekdays, and `* ? , - / L #`. */
const FIELD = /^(?:[\d*?,/#L-]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|SUN|MON|TUE|WED|THU|FRI|SAT)+$/
/** The first and the last day of a month that is none of a weekend. */
const WORKDAY = /^(?:1W|LW)$/
const FIELD_NAMES = ['second', 'minute', 'hour', 'day of month', 'month', 'day of week']

export interface ReadCron {
  /** Six fields. */
  cron: string
  /** As it is written shortest: five fields where its second is 0. */
  phrase: string
  reading: string
  warnings: ScheduleWarning[]
}

/** Whether a text is meant as cron: a macro, or fields of which the first begins as no phrase does. */
export function looksLikeCron(text: string): boolean {
  const fields = text.toUpperCase().split(' ')
  const isOfClock = fields.slice(0, 2).every((field) => /^[\d*?][\d*?,/-]*$/.test(field))
  return /^@[a-z]/i.test(text) || (fields.length >= 5 && isOfClock && fields.every((field) => FIELD.test(field)))
}

/**
 * Five fields, six with seconds first, or a macro such as `@daily`. Names, `L` (last day of the month; last weekday, `5L`) and `#` (`1#2`) are those of
 * cron-parser, Sunday is 0 and 7. `1W` and `LW` are the first and the last weekday of the month. `H` would be random, any other `W` and years are not
 * supported: each is refused.
 */
export function readCron(text: string): ReadCron {
  const fields = (MACROS[text.toLowerCase()] ?? text).toUpperCase().split(' ')
  if (fields[0]?.startsWith('@')) throw refused(`"${text}" is not supported. Macros: ${Object.keys(MACROS).join(', ')}.`)
  if (fields.length !== 5 && fields.length !== 6) {
    throw refused(
      `A cron expression has five fields (minute, hour, day of month, month, day of week), or six with seconds first; this one has ${fields.length}.`,
    )
  }
  const all = (fields.length === 5 ? ['0', ...fields] : fields).map((field) => field.replaceAll('?', '*'))
  const wrong = all.findIndex((field, index) => !FIELD.test(field) && !(index === 3 && WORKDAY.test(field)))
  if (wrong !== -1) throw refused(`"${all[wrong]}" is not understood as the ${FIELD_NAMES[wrong]} of a cron expression. Use numbers, names, and * , - / L #.`)
  const stepWarnings = all.flatMap((field, index) => stepWarning(field, index))
  const cron = all.join(' ')
  const times = timesOf(cron, text)
  const phrase = all[0] === '0' ? all.slice(1).join(' ') : cron
  return { cron, phrase, reading: readingOf(phrase), warnings: [...cronWarnings(times), ...stepWarnings] }
}

/** How many values each field has, and when it begins again. */
const ROUNDS = [
  { size: 60, round: 'minute' },
  { size: 60, round: 'hour' },
  { size: 24, round: 'day' },
  { size: 31, round: 'month' },
  { size: 12, round: 'year' },
  { size: 7, round: 'week' },
]

/** Steps restart with each cycle of their field, although they read as if they did not: every 7 minutes is due at :56 and at :00. */
function stepWarning(field: string, index: number): ScheduleWarning[] {
  const { size, round } = ROUNDS[index] as (typeof ROUNDS)[number]
  for (const item of field.split(',')) {
    const [, start = '', step = ''] = /^(\*|\d+)\/(\d+)$/.exec(item) ?? []
    if (step === '') continue
    if (Number(step) > size) throw refused(`"${item}" steps over the whole ${FIELD_NAMES[index]}, which has ${size} values. Use a smaller step.`)
    const isEven = round !== 'month' && size % Number(step) === 0 && (start === '*' || Number(start) < Number(step))
    if (isEven) continue
    return [{ code: 'uneven_steps', message: `The steps of "${item}" begin again with each ${round}, so that not all of them are as far apart.` }]
  }
  return []
}

/** "every day" is said only where nothing else says how often. */
function readingOf(phrase: string): string {
  const [short, long] = [false, true].map((verbose) => cronstrue.toString(phrase, { use24HourTimeFormat: true, verbose }))
  return (short?.startsWith('At ') ? long : short) ?? phrase
}

function timesOf(cron: string, text: string): CronTimes {
  try {
    return readTimes(cron)
  } catch (error) {
    throw refused(`"${text}" is no cron expression: ${error instanceof Error ? error.message : 'it cannot be read'}.`)
  }
}

function cronWarnings({ days, weekdays }: CronTimes): ScheduleWarning[] {
  if (days === null || weekdays === null) return []
  return [{ code: 'either_day', message: 'Both a day of the month and a day of the week are given: it is due on days that are either.' }]
}
