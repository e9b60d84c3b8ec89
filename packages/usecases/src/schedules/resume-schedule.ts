import { schedules } from '@muster/db'
import { DomainError, requireScope, requireSpawnAllowed, type Schedule } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'
import { announce, lockOpenSchedule, requireSchedulesEnabled } from './open-schedule.ts'
import { settleSlots } from './settle-slots.ts'

/**
 * Lets a paused schedule fire again, from its next slot on: those that have come while it was paused have passed, whoever has looked at them.
 *
 * @throws DomainError `not_found`, `invalid_transition` unless it is paused and has a slot to come, `schedules_disabled`, `spawn_blocked`
 */
export async function resumeSchedule(ctx: Ctx, id: string): Promise<Schedule> {
  requireSpawnAllowed(ctx.actor)
  requireScope(ctx.actor, 'schedules:write')
  requireSchedulesEnabled(ctx)
  return await inProject(ctx, async (tx) => {
    const schedule = await lockOpenSchedule(tx, id)
    if (schedule.state !== 'paused') throw new DomainError('invalid_transition', 'This schedule is not paused.', { status_now: schedule.state })
    const { nextFireAt, events } = await settleSlots(ctx, tx, schedule, ctx.actor)
    if (nextFireAt === null) {
      throw new DomainError('invalid_transition', 'The last slot of this schedule has passed while it was paused. Make another one.', { status_now: 'paused' })
    }
    tx.afterCommit(() => ctx.notifier.notify('schedule'))
    const resumed = await schedules.changeSchedule(tx, id, { state: 'active', nextFireAt })
    await announce(ctx, tx, resumed, events)
    return resumed
  })
}
