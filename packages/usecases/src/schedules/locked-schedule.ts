import { dueSlots, outbox, scheduleSlots, schedules, type Tx } from '@muster/db'
import { DomainError, type DueSchedule, decideDue, type EventType, type NewEvent, nextFiring, requireFound, type Schedule } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { scheduleEvent, slotEvent } from '../events/event-data.ts'

/**
 * Refuses what needs firing schedules on a server where schedules are switched off.
 *
 * @throws DomainError `schedules_disabled`
 */
export function requireSchedulesEnabled({ settings }: Pick<Deps, 'settings'>): void {
  const off = settings.SCHEDULE_ENABLED ? (settings.SUBTASK_ENABLED ? null : 'SUBTASK_ENABLED') : 'SCHEDULE_ENABLED'
  if (off !== null) throw new DomainError('schedules_disabled', `Schedules are switched off on this server (${off}=false).`)
}

/**
 * Locks a schedule that has not ended. Firing takes the same lock.
 *
 * @throws DomainError `not_found`, `invalid_transition` once it is finished or deactivated
 */
export async function lockOpenSchedule(tx: Tx, id: string): Promise<Schedule> {
  const schedule = requireFound(await schedules.lockSchedule(tx, id), 'schedule')
  if (schedule.state === 'finished' || schedule.state === 'deactivated') {
    throw new DomainError('invalid_transition', `This schedule is ${schedule.state} and can no longer be changed. Create a new schedule.`, {
      status_now: schedule.state,
    })
  }
  return schedule
}

/** Gives up the slot of a locked schedule that waits for room, if one does. Answers it, and what is to be announced. */
export async function giveUpWaitingSlot(tx: Tx, schedule: Schedule, actor: NewEvent['actor']): Promise<{ slot: Date | null; events: NewEvent[] }> {
  const slot = await scheduleSlots.skipWaitingSlot(tx, schedule.id)
  return { slot, events: slot === null ? [] : [slotEvent(schedule, slot, { outcome: 'skipped_paused' }, actor)] }
}

/** What happened to a schedule as a whole. */
export function stateEvent(type: EventType, schedule: Schedule, actor: NewEvent['actor']): NewEvent {
  return scheduleEvent(type, schedule.id, actor, {
    agent_id: schedule.agentId,
    reading: schedule.reading,
    state: schedule.state,
    next_fire_at: schedule.nextFireAt?.toISOString() ?? null,
  })
}

/** Announces what happened under the lock of a schedule. */
export async function announce(deps: Deps, tx: Tx, schedule: Schedule, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  await outbox.publish(tx, schedule.projectId, events)
  tx.afterCommit(() => deps.notifier.notify('outbox'))
}

/** Limits the work of one transaction. Older slots than these passes reach are not recorded. */
const PASSES_MAX = 10

/** What is to be known of a locked schedule to decide about its slots. */
export function dueOf(schedule: Schedule, facts: dueSlots.DueFacts): DueSchedule {
  return { ...schedule, state: schedule.state === 'paused' ? 'paused' : 'active', ...facts }
}

export interface Settled {
  now: Date
  /** The first slot that is still to come; null when none is. */
  nextFireAt: Date | null
  hasWaitingSlot: boolean
  /** To be announced. */
  events: NewEvent[]
}

/**
 * Records the outcome of the slots of a locked schedule that have come and have none yet, by its rule and state before either is changed. A
 * slot that is to fire becomes `waiting`, and the next firing pass fires it.
 */
export async function settleSlots(deps: Pick<Deps, 'newId'>, tx: Tx, schedule: Schedule, actor: NewEvent['actor']): Promise<Settled> {
  const { id: scheduleId, agentId, timing, timezone } = schedule
  const { now, facts } = await dueSlots.readDueFacts(tx, [schedule])
  const due = dueOf(schedule, facts.get(scheduleId) as dueSlots.DueFacts)
  const rows: dueSlots.NewSlotRow[] = []
  const events: NewEvent[] = []
  for (let pass = 0; pass < PASSES_MAX && due.nextFireAt !== null && due.nextFireAt <= now; pass += 1) {
    const { slots, nextFireAt } = decideDue({ ...due, room: 0 }, now)
    for (const { slot, outcome } of slots) {
      if (outcome === 'fire') throw new Error('a slot is to fire where there is no room')
      rows.push({ id: deps.newId(), scheduleId, agentId, slot, manual: false, outcome, firedAt: null, subtaskId: null })
      if (outcome === 'waiting') due.hasWaitingSlot = true
      else events.push(slotEvent(schedule, slot, { outcome }, actor))
    }
    due.nextFireAt = nextFireAt
  }
  await dueSlots.insertSlots(tx, schedule.projectId, rows)
  const isBehind = due.nextFireAt !== null && due.nextFireAt <= now
  return { now, nextFireAt: isBehind ? nextFiring(timing, timezone, now) : due.nextFireAt, hasWaitingSlot: due.hasWaitingSlot, events }
}
