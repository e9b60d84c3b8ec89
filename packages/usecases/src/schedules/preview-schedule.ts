import { type Phrase, requireScope, requireSpawnAllowed } from '@muster/domain'
import { type Ctx, reading } from '../core/ctx.ts'
import { type NewSchedule, requireSchedulable } from './create-schedule.ts'
import { readRule, type ScheduleRule } from './read-rule.ts'

/**
 * Reads a rule as creating a schedule would, and stores nothing. Also where schedules are switched off.
 *
 * @param from the instant to read it at; the present one unless told otherwise
 * @param run the sub-agent that its runs would be of, if any, and the runner they would be given to
 * @throws DomainError `spawn_blocked`, `forbidden`, and what `readRule` and `requireSpawnable` refuse
 */
export async function previewSchedule(
  ctx: Ctx,
  phrase: Phrase,
  timezone: string | null,
  from: Date | undefined,
  run: Pick<NewSchedule, 'subagent' | 'model' | 'runner'>,
): Promise<ScheduleRule> {
  requireSpawnAllowed(ctx.actor)
  requireScope(ctx.actor, 'schedules:write')
  return await reading(ctx, async (tx) => {
    await requireSchedulable(ctx, tx, run)
    return await readRule(ctx, tx, phrase, timezone, from)
  })
}
