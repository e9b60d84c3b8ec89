import { dueSlots, type Tx } from '@muster/db'
import { type DueSchedule, decideDue, type NewEvent, nextFiring, type Schedule } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { slotEvent } from '../events/event-data.ts'

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
