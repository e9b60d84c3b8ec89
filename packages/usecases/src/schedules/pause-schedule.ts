import { schedules } from '@muster/db'
import { nextFiring, requireScope, type Schedule } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'
import { announce, giveUpWaitingSlot, lockOpenSchedule, stateEvent } from './open-schedule.ts'

/**
 * Lets the slots of a schedule pass from now on, the one that waits for room included; where none is to come after that one, the schedule
 * is finished. Pausing what is paused changes nothing.
 *
 * @throws DomainError `not_found`, `invalid_transition` once it has ended
 */
export async function pauseSchedule(ctx: Ctx, id: string): Promise<Schedule> {
  requireScope(ctx.actor, 'schedules:write')
  return await inProject(ctx, async (tx) => {
    const schedule = await lockOpenSchedule(tx, id)
    if (schedule.state === 'paused') return schedule
    const { slot, events: skipped } = await giveUpWaitingSlot(tx, schedule, ctx.actor)
    // One that waits counts towards `max_fires` until it is given up: then those after it count again, also those that have passed.
    const nextFireAt = schedule.nextFireAt ?? (slot === null ? null : nextFiring(schedule.timing, schedule.timezone, slot))
    const paused = await schedules.changeSchedule(tx, id, { state: nextFireAt === null ? 'finished' : 'paused', nextFireAt })
    await announce(ctx, tx, paused, [...skipped, stateEvent(nextFireAt === null ? 'schedule.finished' : 'schedule.paused', paused, ctx.actor)])
    return paused
  })
}
