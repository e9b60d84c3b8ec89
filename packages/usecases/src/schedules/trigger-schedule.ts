import { clock, dueSlots } from '@muster/db'
import { requireScope, requireSpawnAllowed, type Schedule, type Subtask } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import { slotEvent } from '../events/event-data.ts'
import { inBackground, insertWithCallback } from '../subtasks/create-subtask.ts'
import { announce, lockOpenSchedule, requireSchedulesEnabled } from './locked-schedule.ts'
import { scheduledSubtask } from './scheduled-subtask.ts'

/**
 * Runs a schedule once, now, whatever it is due next: also while it is paused, or an earlier run goes on. It counts as a run that was asked
 * for, not as a firing.
 *
 * @param check whether it can be run; asked, and so may refuse, only when there is something to run
 * @throws DomainError `not_found`, `invalid_transition` once it has ended, `schedules_disabled`, `spawn_blocked`, `pending_limit_reached`,
 *   and what `engageSubagent` refuses
 */
export async function triggerSchedule(ctx: Ctx, id: string, check: (schedule: Schedule) => void): Promise<Subtask> {
  requireSpawnAllowed(ctx.actor)
  requireScope(ctx.actor, 'schedules:write')
  requireSchedulesEnabled(ctx)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    const schedule = await lockOpenSchedule(tx, id)
    check(schedule)
    const now = await clock.readClock(tx)
    const { row: prepared } = scheduledSubtask(ctx, schedule)
    const row = await inBackground(ctx, tx, prepared, schedule.runner, schedule.subagent)
    const { agentId } = schedule
    await dueSlots.insertSlots(tx, projectId, [
      { id: ctx.newId(), scheduleId: id, agentId, slot: now, manual: true, outcome: 'fired', firedAt: now, subtaskId: row.id },
    ])
    await announce(ctx, tx, schedule, [slotEvent(schedule, now, { subtaskId: row.id, manual: true }, ctx.actor)])
    // Last, since it takes the lane's lock. A refusal takes everything back.
    return await insertWithCallback(ctx, tx, { row }, undefined)
  })
}
