import { clock, projects, type Tx } from '@muster/db'
import { DomainError, nextFiring, type Phrase, readPhrase, type Schedule } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'

/** What a phrase means: the part of a schedule that is read from it. */
export type ScheduleRule = Pick<Schedule, 'phraseKind' | 'phrase' | 'canonical' | 'reading' | 'timezone' | 'timing' | 'warnings' | 'anchorAt' | 'nextFireAt'>

/**
 * Reads a phrase at an instant, the present one by the database's clock unless told otherwise. A zone in the phrase counts before the one
 * that is given, and that before the project's.
 *
 * @throws DomainError `schedule_ambiguous` with candidates, `schedule_unparseable`, `schedule_in_past`, `validation_failed` for an unknown zone
 */
export async function readRule(ctx: Ctx, tx: Tx, phrase: Phrase, timezone: string | null, from?: Date): Promise<ScheduleRule> {
  const [project, now] = await Promise.all([projects.findProject(tx, ctx.actor.projectId), from ?? clock.readClock(tx)])
  const { timing, ...read } = readPhrase(phrase, {
    now,
    timezone,
    projectTimezone: project?.settings.timezone ?? null,
    minIntervalSeconds: ctx.settings.SCHEDULE_MIN_INTERVAL_SECONDS,
  })
  const nextFireAt = nextFiring(timing, read.timezone, now)
  if (nextFireAt === null) throw new DomainError('schedule_unparseable', `“${phrase.text}” (${read.reading}) never comes.`)
  return { phraseKind: phrase.kind, phrase: phrase.text, ...read, timing, anchorAt: now, nextFireAt }
}
