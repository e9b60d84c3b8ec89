import { type Advance, type DueFacts, type DueRef, dueSlots, lanes, type NewSlotRow, outbox, pipeline, schedules, type Tx, transaction } from '@muster/db'
import { DomainError, type DueDecision, type DueSchedule, decideDue, type NewEvent, type Schedule, type Subtask } from '@muster/domain'
import { isolating } from '../core/batch-executor.ts'
import type { Deps } from '../core/ctx.ts'
import { insertDefinedCallbacks } from '../deliveries/insert-callback.ts'
import { slotEvent } from '../events/event-data.ts'
import { insertPrepared, type Prepared, type Spawned } from '../subtasks/create-subtask.ts'
import { dueOf, stateEvent } from './locked-schedule.ts'
import { type Engagement, engageForSchedules, firedSubtask } from './scheduled-subtask.ts'

/** What one look takes on. The rest of what is due is found by the next, which follows at once. */
const DUE_MAX = 2_000
/** Schedules of one transaction: enough that they share a disk write, few enough that the first of thousands do not wait for the last. */
const BATCH_MAX = 200
/** While one transaction waits for its disk write, another works. */
const BATCHES_AT_ONCE = 2
/** Slots that one transaction writes: after a long outage each schedule may have hundreds. */
const SLOTS_MAX = 2_000
/** Another worker fires a due and locked schedule, or a request changes it; both notify when they commit. This delay covers one that dies instead. */
const LOCKED_MS = 20

export interface FiringRequest {
  /** Schedules to leave out: they could not be fired a moment ago. */
  except: readonly string[]
  /** Ends the pass after the transactions that are under way. */
  signal: AbortSignal
}

export interface FiringPass {
  /** Subtasks that were made. */
  fired: number
  /** Milliseconds until the next look is due, by the database's clock; null when nothing is to come. */
  againInMs: number | null
  /** Slots wait for room: worth another look whenever a queue may have become shorter. */
  hasWaiting: boolean
  /** Schedules that could not be fired although the database could be asked. They are unchanged and hold up no other. */
  failed: string[]
}

/**
 * Fires what is due: for every slot its row, its subtask, its event, and the next time of its schedule, in one commit. However many
 * workers look at once, one at a time fires a schedule, under its row's lock. [011] Scheduler Loop
 */
export async function fireSchedules(deps: Deps, { except, signal }: FiringRequest): Promise<FiringPass> {
  const pass: FiringPass = { fired: 0, againInMs: null, hasWaiting: false, failed: [] }
  if (!deps.settings.SCHEDULE_ENABLED || !deps.settings.SUBTASK_ENABLED) return pass
  const look = await dueSlots.findDue(deps.dispatchDb, except, DUE_MAX)
  let moved = 0
  const note = (done: Done) => {
    moved += done.moved
    pass.fired += done.fired
    pass.hasWaiting ||= done.hasWaiting
    pass.failed.push(...done.failed)
  }
  const batches = inBatches(look.due)
  const fireBatches = async () => {
    for (let batch = batches.shift(); batch !== undefined && !signal.aborted; batch = batches.shift()) {
      note(await doTogether(deps, batch.projectId, batch.ids, fireDue))
    }
  }
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, fireBatches))
  if (look.hasWaiting) {
    for (const projectId of await dueSlots.findWaitingProjects(deps.dispatchDb)) {
      if (signal.aborted) break
      pass.hasWaiting = true
      note(await fireWhatHasRoom(deps, projectId, [...except, ...pass.failed]))
    }
  }
  // What has moved on may be due again soon.
  pass.againInMs = moved > 0 ? 0 : look.due.length > pass.failed.length ? LOCKED_MS : look.nextInMs
  return pass
}

/** By project, and within it by agent, so that transactions at the same time seldom need the lock of the same lane. */
function inBatches(due: readonly DueRef[]): { projectId: string; ids: string[] }[] {
  const batches: { projectId: string; ids: string[] }[] = []
  for (const [projectId, ofProject] of Map.groupBy(due, (ref) => ref.projectId)) {
    const ids = ofProject.toSorted((one, other) => (one.agentId < other.agentId ? -1 : 1)).map((ref) => ref.id)
    for (let start = 0; start < ids.length; start += BATCH_MAX) batches.push({ projectId, ids: ids.slice(start, start + BATCH_MAX) })
  }
  return batches
}

interface Done {
  /** Schedules that were written. */
  moved: number
  fired: number
  hasWaiting: boolean
  failed: string[]
}

interface Fault {
  scheduleId: string
  error: unknown
}

/** What a transaction has done with some schedules; those with a fault were left out of it. */
interface Outcome extends Omit<Done, 'failed'> {
  faults: Fault[]
}

type Work = (deps: Deps, tx: Tx, projectId: string, ids: readonly string[]) => Promise<Outcome>

/** Does the work of several schedules in one transaction. A schedule that cannot be fired delays no other. */
async function doTogether(deps: Deps, projectId: string, ids: readonly string[], work: Work): Promise<Done> {
  const done: Done = { moved: 0, fired: 0, hasWaiting: false, failed: [] }
  for (const part of await isolating(ids, (some) => transaction(deps.db, projectId, (tx) => work(deps, tx, projectId, some)))) {
    if ('answer' in part) {
      done.moved += part.answer.moved
      done.fired += part.answer.fired
      done.hasWaiting ||= part.answer.hasWaiting
    }
    const faults = 'answer' in part ? part.answer.faults : part.items.map((scheduleId) => ({ scheduleId, error: part.error }))
    for (const { scheduleId, error } of faults) {
      done.failed.push(scheduleId)
      deps.log.error({ err: error, project_id: projectId, schedule_id: scheduleId }, 'a schedule could not be fired; it is left as it is')
      if (error instanceof DomainError) await noteRefusal(deps, projectId, scheduleId, error)
    }
  }
  return done
}

/** Of the warning that a schedule is due and cannot fire. */
const CANNOT_FIRE = 'cannot_fire'

/**
 * Stores with the schedule why it is due and does not fire, such as a missing sub-agent, because its author does not read the logs. The schedule
 * is tried again and catches up when the cause is gone.
 */
async function noteRefusal(deps: Deps, projectId: string, scheduleId: string, { message }: DomainError): Promise<void> {
  await transaction(deps.db, projectId, async (tx) => {
    const schedule = await schedules.lockSchedule(tx, scheduleId)
    if (schedule?.state !== 'active' || schedule.warnings.some((warning) => warning.code === CANNOT_FIRE && warning.message === message)) return
    await schedules.changeSchedule(tx, scheduleId, { warnings: [...withoutRefusal(schedule), { code: CANNOT_FIRE, message }] })
  })
}

/** Takes that back of locked schedules that have moved on. */
async function forgetRefusals(tx: Tx, moved: Iterable<Schedule>): Promise<void> {
  for (const schedule of moved) {
    const warnings = withoutRefusal(schedule)
    if (warnings.length < schedule.warnings.length) await schedules.changeSchedule(tx, schedule.id, { warnings })
  }
}

function withoutRefusal({ warnings }: Schedule): Schedule['warnings'] {
  return warnings.filter(({ code }) => code !== CANNOT_FIRE)
}

/** A locked schedule that is due, and what is to become of its slots. */
interface Plan {
  schedule: Schedule
  due: DueSchedule
  decision: DueDecision
}

const fireDue: Work = async (deps, tx, projectId, ids) => {
  const locked = await schedules.lockDueSchedules(tx, ids)
  const outcome: Outcome = { moved: 0, fired: 0, hasWaiting: false, faults: [] }
  if (locked.length === 0) return outcome
  const { now, facts } = await dueSlots.readDueFacts(tx, locked)
  const planned: Plan[] = []
  let slotCount = 0
  // Those that are late by one slot come before those that are late by thousands, which would hold them up pass by pass.
  for (const schedule of locked.toSorted((one, other) => (other.nextFireAt?.getTime() ?? 0) - (one.nextFireAt?.getTime() ?? 0))) {
    // The rest stays due.
    if (slotCount >= SLOTS_MAX) break
    try {
      const plan = planDue(schedule, facts.get(schedule.id) as DueFacts, now)
      slotCount += plan.decision.slots.length
      planned.push(plan)
    } catch (error) {
      outcome.faults.push({ scheduleId: schedule.id, error })
    }
  }
  const firing = planned.filter(({ decision }) => decision.slots.some((slot) => slot.outcome === 'fire'))
  const { engaged, faults } = await engageForSchedules(
    deps,
    tx,
    firing.map(({ schedule }) => schedule),
  )
  outcome.faults.push(...faults)
  const unready = new Set(faults.map(({ scheduleId }) => scheduleId))
  const plans = planned.filter(({ schedule }) => !unready.has(schedule.id))
  const spawned = await spawnDue(deps, tx, projectId, plans, engaged)
  const rows: NewSlotRow[] = []
  const advances: Advance[] = []
  const events: NewEvent[] = []
  for (const [place, plan] of plans.entries()) {
    const written = writeDown(deps, plan, spawned[place] as Subtask[], now)
    rows.push(...written.rows)
    advances.push(written.advance)
    events.push(...written.events)
    outcome.fired += written.advance.fired
    outcome.hasWaiting ||= written.rows.some((row) => row.outcome === 'waiting')
  }
  await pipeline([dueSlots.insertSlots(tx, projectId, rows), dueSlots.advanceSchedules(tx, advances), outbox.publish(tx, projectId, events)])
  await forgetRefusals(
    tx,
    plans.map(({ schedule }) => schedule),
  )
  if (events.length > 0) tx.afterCommit(() => deps.notifier.notify('outbox'))
  outcome.moved = advances.length
  return outcome
}

function planDue(schedule: Schedule, facts: DueFacts, now: Date): Plan {
  const due = dueOf(schedule, facts)
  return { schedule, due, decision: decideDue(due, now) }
}

/** Makes the subtasks of what is to fire, where queues have room. What was due first gets what there is. Answers with those of each plan, in order. */
async function spawnDue(deps: Deps, tx: Tx, projectId: string, plans: readonly Plan[], engaged: ReadonlyMap<string, Engagement>): Promise<Subtask[][]> {
  const made: Subtask[][] = plans.map(() => [])
  const firing = plans
    .flatMap(({ schedule, decision }, place) => decision.slots.filter(({ outcome }) => outcome === 'fire').map(({ slot }) => ({ schedule, place, slot })))
    .toSorted((one, other) => one.slot.getTime() - other.slot.getTime())
  if (firing.length === 0) return made
  const prepared = firing.map(({ schedule }) => firedSubtask(deps, schedule, engaged.get(schedule.id)))
  const spawned = await insertRuns(deps, tx, projectId, prepared)
  for (const [nth, { place }] of firing.entries()) {
    const answer = spawned[nth] as Spawned
    if ('answer' in answer) made[place]?.push(answer.answer)
  }
  return made
}

/** Inserts runs of schedules, those that find room with the callbacks of their sub-agents. */
async function insertRuns(deps: Deps, tx: Tx, projectId: string, prepared: readonly Prepared[]): Promise<Spawned[]> {
  const spawned = await insertPrepared(deps, tx, projectId, prepared)
  const made = spawned.flatMap((each) => ('answer' in each ? [each.answer] : []))
  await insertDefinedCallbacks(deps, tx, projectId, made)
  return spawned
}

/** What is stored of the slots of a schedule, once it is known how many of those that were to fire have found room: the first ones. */
function writeDown(deps: Deps, { schedule, due, decision }: Plan, made: readonly Subtask[], now: Date): Written {
  const { id, agentId } = schedule
  const wanted = decision.slots.filter(({ outcome }) => outcome === 'fire').length
  const { slots, nextFireAt } = made.length === wanted ? decision : decideDue({ ...due, room: made.length }, now)
  const actor = { kind: 'schedule', id }
  const rows: NewSlotRow[] = []
  const events: NewEvent[] = []
  const left = [...made]
  for (const { slot, outcome } of slots) {
    const row = { id: deps.newId(), scheduleId: id, agentId, slot, manual: false }
    if (outcome === 'fire') {
      const subtask = left.shift() as Subtask
      rows.push({ ...row, outcome: 'fired', firedAt: subtask.createdAt, subtaskId: subtask.id })
      events.push(slotEvent(schedule, slot, { subtaskId: subtask.id, manual: false }, actor))
    } else {
      rows.push({ ...row, outcome, firedAt: null, subtaskId: null })
      // A waiting slot has its event when its outcome is known.
      if (outcome !== 'waiting') events.push(slotEvent(schedule, slot, { outcome }, actor))
    }
  }
  const isWaiting = due.hasWaitingSlot || rows.some(({ outcome }) => outcome === 'waiting')
  const isFinished = nextFireAt === null && !isWaiting
  if (isFinished) events.push(stateEvent('schedule.finished', { ...schedule, state: 'finished', nextFireAt }, actor))
  return { rows, events, advance: { scheduleId: id, nextFireAt, fired: made.length, lastFiredAt: made.at(-1)?.createdAt ?? null, isFinished } }
}

interface Written {
  rows: NewSlotRow[]
  events: NewEvent[]
  advance: Advance
}

/** Fires slots of a project that have waited for room, as far as there is some by now. */
async function fireWhatHasRoom(deps: Deps, projectId: string, except: readonly string[]): Promise<Done> {
  const ids = await transaction(deps.db, projectId, (tx) => dueSlots.findRoomForWaiting(tx, projectId, except, lanes.laneDefaults(deps.settings), BATCH_MAX))
  if (ids.length === 0) return { moved: 0, fired: 0, hasWaiting: true, failed: [] }
  return await doTogether(deps, projectId, ids, fireWaiting)
}

const fireWaiting: Work = async (deps, tx, projectId, ids) => {
  const outcome: Outcome = { moved: 0, fired: 0, hasWaiting: true, faults: [] }
  const locked = new Map((await schedules.lockSchedules(tx, ids, { skipLocked: true })).map((schedule) => [schedule.id, schedule]))
  const { engaged, faults } = await engageForSchedules(deps, tx, [...locked.values()])
  for (const { scheduleId } of faults) locked.delete(scheduleId)
  outcome.faults.push(...faults)
  const waiting = locked.size === 0 ? [] : await dueSlots.listWaitingSlots(tx, [...locked.keys()])
  if (waiting.length === 0) return outcome
  const spawned = await insertRuns(
    deps,
    tx,
    projectId,
    waiting.map((slot) => firedSubtask(deps, locked.get(slot.scheduleId) as Schedule, engaged.get(slot.scheduleId))),
  )
  const fired: { id: string; subtaskId: string; firedAt: Date }[] = []
  const advances: Advance[] = []
  const events: NewEvent[] = []
  for (const [place, { id, scheduleId, slot }] of waiting.entries()) {
    const answer = spawned[place] as Spawned
    if ('error' in answer) continue
    const { id: subtaskId, createdAt } = answer.answer
    const actor = { kind: 'schedule', id: scheduleId }
    const schedule = locked.get(scheduleId) as Schedule
    const { nextFireAt } = schedule
    const isFinished = nextFireAt === null
    fired.push({ id, subtaskId, firedAt: createdAt })
    advances.push({ scheduleId, nextFireAt, fired: 1, lastFiredAt: createdAt, isFinished })
    events.push(slotEvent(schedule, slot, { subtaskId, manual: false }, actor))
    if (isFinished) events.push(stateEvent('schedule.finished', { ...schedule, state: 'finished' }, actor))
  }
  await pipeline([dueSlots.writeFired(tx, fired), dueSlots.advanceSchedules(tx, advances), outbox.publish(tx, projectId, events)])
  await forgetRefusals(
    tx,
    advances.map(({ scheduleId }) => locked.get(scheduleId) as Schedule),
  )
  if (events.length > 0) tx.afterCommit(() => deps.notifier.notify('outbox'))
  outcome.moved = advances.length
  outcome.fired = fired.length
  return outcome
}
