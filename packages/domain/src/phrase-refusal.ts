import { DomainError } from './errors.ts'
import type { PhraseKind } from './schedule.ts'

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

  constructor(message: string, phrases: string[]) {
    super(message)
    this.name = 'Ambiguous'
    this.phrases = phrases
  }
}
