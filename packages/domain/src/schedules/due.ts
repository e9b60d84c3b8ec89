import type { Schedule, SlotOutcome } from './schedule.ts'
import { nextFiring } from './timing.ts'

/** The maximum number of slots in one transaction: a schedule that could not fire for a month must not delay all others. */
const DUE_SLOTS_MAX = 200

/** A schedule that may be due, and what else is known under its lock. */
export interface DueSchedule extends Pick<Schedule, 'timing' | 'timezone' | 'nextFireAt' | 'fireCount' | 'maxFires' | 'overlap' | 'missed' | 'graceSeconds'> {
  state: 'active' | 'paused'
  /** A subtask of it is pending or running. */
  hasRun: boolean
  /** A slot of it waits for room in its agent's queue. */
  hasWaitingSlot: boolean
  /**
   * Slots that have their rows, in milliseconds. When the clock goes back and the schedule is read anew, a slot of it may be one that has been: that keeps
   * its row.
   */
  takenMs?: ReadonlySet<number>
  /**
   * How many more subtasks its agent's queue takes, if that is known. It is known only after the attempt: decide without, insert what is to fire, and if not all
   * of it found room, decide again with the number that did. What fires then is what was inserted, and what did not find room is waiting.
   */
  room?: number
}

/** `fire`: make its subtask. All others are what the row of the slot says. */
export interface DueSlot {
  slot: Date
  outcome: 'fire' | Exclude<SlotOutcome, 'fired'>
}

export interface DueDecision {
  /** In order of time. Each gets its row. */
  slots: DueSlot[]
  /** The first slot that was not looked at, due or not. Null: none is to come, and the schedule is finished as soon as none of its slots waits. */
  nextFireAt: Date | null
}

/**
 * Decides about the due slots, at most `most` of them; the caller decides about the rest in a later pass. The same slots come out the
 * same, in however many passes, except that a pass takes `now`, and what runs or waits by then, as it finds it.
 */
export function decideDue(due: DueSchedule, now: Date, most: number = DUE_SLOTS_MAX): DueDecision {
  const slots: DueSlot[] = []
  let slot = due.nextFireAt
  let isWaiting = due.hasWaitingSlot
  let isBusy = due.hasRun
  let room = due.room ?? Number.POSITIVE_INFINITY
  let left = (due.maxFires ?? Number.POSITIVE_INFINITY) - due.fireCount - (isWaiting ? 1 : 0)
  while (slot !== null && slot <= now && left > 0 && slots.length < most) {
    const next: Date | null = nextFiring(due.timing, due.timezone, slot)
    if (due.takenMs?.has(slot.getTime())) {
      slot = next
      continue
    }
    const isLastDue: boolean = next === null || next > now
    const kept = keptFrom(due, { isMissed: isMissed(due, slot, now) && !(isLastDue && due.missed === 'run_once'), isWaiting, isBusy })
    if (kept !== null) slots.push({ slot, outcome: kept })
    else {
      left -= 1
      isBusy = true
      if (room > 0) {
        room -= 1
        slots.push({ slot, outcome: 'fire' })
      } else {
        isWaiting = true
        slots.push({ slot, outcome: 'waiting' })
      }
    }
    slot = next
  }
  return { slots, nextFireAt: left > 0 ? slot : null }
}

/** No slot is looked at before it has come. Without this one that has no grace would always be missed. */
const ON_TIME_MS = 1_000

function isMissed({ graceSeconds }: DueSchedule, slot: Date, now: Date): boolean {
  return now.getTime() - slot.getTime() > Math.max(graceSeconds * 1_000, ON_TIME_MS)
}

/** Why a slot is not to fire, or null. */
function keptFrom(
  due: DueSchedule,
  { isMissed, isWaiting, isBusy }: { isMissed: boolean; isWaiting: boolean; isBusy: boolean },
): 'skipped_paused' | 'skipped_missed' | 'skipped_overlap' | null {
  if (due.state === 'paused') return 'skipped_paused'
  if (isMissed) return 'skipped_missed'
  if (isWaiting) return 'skipped_overlap'
  return isBusy && due.overlap === 'skip' ? 'skipped_overlap' : null
}
