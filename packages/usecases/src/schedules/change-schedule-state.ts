import { schedules } from '@muster/db'
import { DomainError, nextFiring, requireFound, requireScope, requireSpawnAllowed, type Schedule } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import type { Precondition } from '../core/precondition.ts'
import { announce, giveUpWaitingSlot, lockOpenSchedule, requireSchedulesEnabled, settleSlots, stateEvent } from './locked-schedule.ts'

/**
 * Pauses a schedule: its slots do not fire from now on, including one that waits for room. If no slot comes after that one, the schedule is
 * finished. Pausing a paused schedule changes nothing.
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

/**
 * Resumes a paused schedule at its next slot. Slots that came while it was paused do not fire.
 *
 * @throws DomainError `not_found`, `invalid_transition` unless it is paused and has a slot to come, `schedules_disabled`, `spawn_blocked`
 */
export async function resumeSchedule(ctx: Ctx, id: string): Promise<Schedule> {
  requireSpawnAllowed(ctx.actor)
  requireScope(ctx.actor, 'schedules:write')
  requireSchedulesEnabled(ctx)
  return await inProject(ctx, async (tx) => {
    const schedule = await lockOpenSchedule(tx, id)
    if (schedule.state !== 'paused')
      throw new DomainError('invalid_transition', 'This schedule is not paused, so it cannot be resumed.', { status_now: schedule.state })
    const { nextFireAt, events } = await settleSlots(ctx, tx, schedule, ctx.actor)
    if (nextFireAt === null) {
      throw new DomainError('invalid_transition', 'The last slot of this schedule passed while it was paused. Create a new schedule.', { status_now: 'paused' })
    }
    tx.afterCommit(() => ctx.notifier.notify('schedule'))
    const resumed = await schedules.changeSchedule(tx, id, { state: 'active', nextFireAt })
    await announce(ctx, tx, resumed, events)
    return resumed
  })
}

/**
 * Ends a schedule for good; its row and its runs stay, and runs that have begun go on. What has ended already stays as it is. [011]
 *
 * @throws DomainError `not_found`
 */
export async function deactivateSchedule(ctx: Ctx, id: string, precondition?: Precondition<Schedule>): Promise<Schedule> {
  requireScope(ctx.actor, 'schedules:write')
  return await inProject(ctx, async (tx) => {
    const schedule = requireFound(await schedules.lockSchedule(tx, id), 'schedule')
    precondition?.(schedule)
    if (schedule.state === 'finished' || schedule.state === 'deactivated') return schedule
    const { events } = await settleSlots(ctx, tx, { ...schedule, state: 'paused' }, ctx.actor)
    const givenUp = await giveUpWaitingSlot(tx, schedule, ctx.actor)
    const ended = await schedules.changeSchedule(tx, id, { state: 'deactivated', nextFireAt: null })
    await announce(ctx, tx, ended, [...givenUp.events, ...events, stateEvent('schedule.deactivated', ended, ctx.actor)])
    return ended
  })
}
