import { DomainError } from '../../core/errors.ts'
import type { PhraseKind } from '../schedule.ts'
import type { Token } from './tokens.ts'

/** What a refusal shows of what would have been read: phrases of each field that a person may start from. */
const EXAMPLES: Record<PhraseKind, string> = {
  when: '"in 90 minutes", "tomorrow at 9am", "next monday 8am EST", "2026-03-10T09:00:00-05:00"',
  every: '"30 minutes", "daily at 9am America/New_York", "every monday and thursday at 10am", "first monday of the month at 9am"',
  cron: '"0 9 * * 1-5", "*/15 * * * *", "0 18 L * * Europe/Berlin"',
}

/** The phrase cannot be read as it is. `problem` names the part and says what to do; examples of the same field follow. */
export function unparseable(kind: PhraseKind, problem: string): DomainError {
  return new DomainError('schedule_unparseable', `${problem} Examples of \`${kind}\`: ${EXAMPLES[kind]}.`)
}

/** The phrase can be read, but as something that will not be scheduled. */
export function refused(problem: string): DomainError {
  return new DomainError('schedule_unparseable', problem)
}

/**
 * The phrase means more than one thing. It carries phrases that mean one each; the entry reads every one of them before it is shown, so that what
 * is offered is also accepted.
 */
export class Ambiguous extends Error {
  readonly phrases: string[]
  /** Whether the phrases are all that is possible. Then one that is left alone is what is meant; else they are suggestions for what the phrase leaves out. */
  readonly isComplete: boolean

  constructor(message: string, phrases: string[], { isComplete = false } = {}) {
    super(message)
    this.isComplete = isComplete
    this.name = 'Ambiguous'
    this.phrases = phrases
  }
}

/** Words that people write in a schedule, and what is there instead of them. */
const HINTS: [words: string[], hint: string][] = [
  [['until', 'till', 'ending', 'times'], 'A schedule ends on a date, as in "until 2026-12-01"; to end it after some firings, set `max_fires`.'],
  [['starting', 'beginning', 'after', 'since'], 'A schedule begins on a date, as in "starting 2026-03-10", or when it is created.'],
  [['between', 'from'], 'Say hours of the day as in "every 15 minutes from 9:00 to 17:00".'],
  [
    ['except', 'unless', 'but', 'excluding', 'holiday', 'holidays', 'not'],
    'Exceptions are weekdays or months, as in "every day except sunday"; holidays are not known.',
  ],
  [['few', 'couple', 'several', 'some', 'around', 'about', 'approximately', 'roughly'], 'Give an exact number or time.'],
  [['biweekly', 'semiweekly', 'bimonthly', 'semimonthly'], 'Say "every 2 weeks" or "twice a week".'],
  [['and', '&', 'or', 'then'], 'Lists join times, weekdays or days of the month; for two rules make two schedules.'],
  [['now', 'immediately', 'asap', 'soon'], 'For work that starts at once, create a subtask instead of a schedule.'],
]

/** Words that have a hint of their own, and are no misspellings. */
export const HINTED_WORDS = HINTS.flatMap(([words]) => words)

/** Names the part of a phrase that is not understood, and says what to write in its place where that is known. */
export function notUnderstood(token: Token | null, text: string): string {
  if (!token) return `"${text}" ends where more is needed.`
  const written = text.slice(token.start).split(' ')[0] || token.text
  const hint = timeHint(token.text) ?? HINTS.find(([words]) => words.includes(token.text))?.[1]
  const isLetters = /^[A-Z]{2,5}$/.test(written) && text.endsWith(written)
  const zone = isLetters ? `If "${written}" is to be a time zone, write its IANA name, such as Europe/Berlin.` : null
  return [`"${written}" is not understood here.`, hint ?? zone].filter((part) => part != null).join(' ')
}

function timeHint(text: string): string | null {
  if (/^\d{1,2}\.\d{2}$/.test(text)) return `Write times with a colon, ${text.replace('.', ':')}.`
  return /^\d{1,2}$/.test(text) ? `Write times as "at ${text}", "${text}:00" or with am or pm.` : null
}
