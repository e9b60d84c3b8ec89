import { type Phrase, requireScope, requireSpawnAllowed } from '@muster/domain'
import { type Ctx, reading } from './ctx.ts'
import { readRule, type ScheduleRule } from './read-rule.ts'

/**
 * Reads a rule as creating a schedule would, and stores nothing. Also where schedules are switched off.
 *
 * @param from the instant to read it at; the present one unless told otherwise
 * @throws DomainError `spawn_blocked`, `forbidden`, and what `readRule` refuses
 */
export async function previewSchedule(ctx: Ctx, phrase: Phrase, timezone: string | null, from?: Date): Promise<ScheduleRule> {
  requireSpawnAllowed(ctx.actor)
  requireScope(ctx.actor, 'schedules:write')
  return await reading(ctx, (tx) => readRule(ctx, tx, phrase, timezone, from))
}
