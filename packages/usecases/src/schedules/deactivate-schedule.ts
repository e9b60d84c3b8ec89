import { schedules } from '@muster/db'
import { notFound, requireScope, type Schedule } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'
import { announce, giveUpWaitingSlot, stateEvent } from './open-schedule.ts'
import { settleSlots } from './settle-slots.ts'

/**
 * Ends a schedule for good; its row and its runs stay, and runs that have begun go on. What has ended already stays as it is. [011]
 *
 * @throws DomainError `not_found`
 */
export async function deactivateSchedule(ctx: Ctx, id: string): Promise<Schedule> {
  requireScope(ctx.actor, 'schedules:write')
  return await inProject(ctx, async (tx) => {
    const schedule = await schedules.lockSchedule(tx, id)
    if (schedule === null) throw notFound('schedule')
    if (schedule.state === 'finished' || schedule.state === 'deactivated') return schedule
    const { events } = await settleSlots(ctx, tx, { ...schedule, state: 'paused' }, ctx.actor)
    const givenUp = await giveUpWaitingSlot(tx, schedule, ctx.actor)
    const ended = await schedules.changeSchedule(tx, id, { state: 'deactivated', nextFireAt: null })
    await announce(ctx, tx, ended, [...givenUp.events, ...events, stateEvent('schedule.deactivated', ended, ctx.actor)])
    return ended
  })
}
