import { schedules } from '@muster/db'
import { DomainError, requireScope, requireSpawnAllowed, type Schedule } from '@muster/domain'
import type { Ctx } from './ctx.ts'
import { inProject } from './in-project.ts'
import { lockOpenSchedule, requireSchedulesEnabled } from './open-schedule.ts'

/**
 * Lets a paused schedule fire again. What is due next is known: the slots in between have passed one by one.
 *
 * @throws DomainError `not_found`, `invalid_transition` unless it is paused, `schedules_disabled`, `spawn_blocked`
 */
export async function resumeSchedule(ctx: Ctx, id: string): Promise<Schedule> {
  requireSpawnAllowed(ctx.actor)
  requireScope(ctx.actor, 'schedules:write')
  requireSchedulesEnabled(ctx)
  return await inProject(ctx, async (tx) => {
    const schedule = await lockOpenSchedule(tx, id)
    if (schedule.state !== 'paused') throw new DomainError('invalid_transition', 'This schedule is not paused.', { status_now: schedule.state })
    tx.afterCommit(() => ctx.bell.ring('schedule'))
    return await schedules.changeSchedule(tx, id, { state: 'active' })
  })
}
