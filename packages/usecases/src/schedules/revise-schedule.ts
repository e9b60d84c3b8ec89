import { clock, scheduleSlots, schedules, type Tx } from '@muster/db'
import { DomainError, nextFiring, requireScope, requireSpawnAllowed, type Schedule } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import { type ChangeOf, type Precondition, toChange } from '../core/precondition.ts'
import { type Callback, findCallback, replaceCallback } from '../deliveries/insert-callback.ts'
import { type NewSchedule, readRule, requireSchedulable, toBudget } from './create-schedule.ts'
import { announce, giveUpWaitingSlot, lockOpenSchedule, type Settled, settleSlots, stateEvent } from './locked-schedule.ts'

/** What is given of a schedule is changed; null takes away, or back to the default. */
export type ScheduleRevision = { [Field in keyof Omit<NewSchedule, Clearable>]?: NewSchedule[Field] | undefined } & {
  [Field in Clearable]?: NewSchedule[Field] | null | undefined
}
type Clearable = 'callback' | 'timezone' | 'maxFires' | 'model' | 'parentSessionId' | 'subagent'

/**
 * Changes a schedule. A new phrase is read as of now. A new zone alone reads the stored phrase again, as of the moment it was written: a duration keeps its
 * instant, and intervals and periods keep their count. Slots that come later follow the new rule, and those that have come by then the old one. The number
 * of firings stays.
 *
 * @throws DomainError `not_found`, `invalid_transition` once it has ended, `spawn_blocked`, `schedule_in_past` when the new zone leaves no firing to come, and
 * what `readRule` and `requireSpawnable` refuse
 */
export async function reviseSchedule(
  ctx: Ctx,
  id: string,
  change: ChangeOf<ScheduleRevision, Schedule & { callback: Callback | null }>,
  precondition?: Precondition<Schedule>,
): Promise<Schedule> {
  requireSpawnAllowed(ctx.actor)
  requireScope(ctx.actor, 'schedules:write')
  return await inProject(ctx, async (tx) => {
    const schedule = await lockOpenSchedule(tx, id)
    precondition?.(schedule)
    const revision = toChange(change, { ...schedule, callback: await findCallback(ctx, tx, schedule.projectId, id) })
    const { phrase, timezone, budget, agentId, maxFires, runner, callback, ...fields } = revision
    if (Object.values(revision).every((value) => value === undefined)) return schedule
    if (callback !== undefined) await replaceCallback(ctx, tx, id, callback)
    const changed: Partial<Schedule> = {
      ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
      ...(maxFires === undefined ? {} : { maxFires }),
      ...(budget === undefined ? {} : { budget: toBudget(budget) }),
      ...(agentId === undefined ? {} : { agentId: ctx.actor.agentId ?? agentId }),
    }
    if (fields.subagent !== undefined || fields.model !== undefined || runner !== undefined) {
      changed.runner = await requireSchedulable(ctx, tx, { ...schedule, ...changed, runner: runner ?? schedule.runner })
    }
    if (phrase !== undefined || timezone !== undefined) {
      const spoken = phrase ?? { kind: schedule.phraseKind, text: schedule.phrase }
      const from = phrase === undefined ? schedule.anchorAt : undefined
      // A zone that is not given anew stays, wherever it came from.
      const { warnings, ...rule } = await readRule(ctx, tx, spoken, timezone === undefined ? schedule.timezone : timezone, from)
      const isGiven = (code: string) => timezone !== undefined || code !== 'zone_conflict'
      Object.assign(changed, rule, { warnings: warnings.filter(({ code }) => isGiven(code)) })
      const settled = await settleSlots(ctx, tx, schedule, ctx.actor)
      if (from !== undefined) changed.nextFireAt = nextFiring(rule.timing, rule.timezone, settled.now)
      if (changed.nextFireAt === null && !settled.hasWaitingSlot) throw nothingToCome(rule)
      return await writeRevision(ctx, tx, schedule, changed, settled)
    }
    const waiting = await scheduleSlots.findWaitingSlot(tx, id)
    // Where the one that waits had used it up and does not any more, those after it count again, also those that have passed.
    const now = waiting ?? (await clock.readClock(tx))
    return await writeRevision(ctx, tx, schedule, changed, { now, nextFireAt: schedule.nextFireAt, hasWaitingSlot: waiting !== null, events: [] })
  })
}

function nothingToCome({ reading }: Pick<Schedule, 'reading'>): DomainError {
  return new DomainError('schedule_in_past', `In the new time zone the phrase is read as "${reading}", which has passed. Send a phrase with the zone.`)
}

/** Writes a change of a locked schedule, and what follows from it for the slots that are to come. */
async function writeRevision(ctx: Ctx, tx: Tx, schedule: Schedule, change: Partial<Schedule>, settled: Settled): Promise<Schedule> {
  const { id, projectId } = schedule
  const { timing, timezone, maxFires, fireCount, nextFireAt, agentId } = { ...schedule, ...change }
  if (maxFires !== null && maxFires <= fireCount) {
    const { events: skipped } = await giveUpWaitingSlot(tx, schedule, ctx.actor)
    // `maxFires` never falls below the number of firings.
    const finished = await schedules.changeSchedule(tx, id, { ...change, maxFires: fireCount, state: 'finished', nextFireAt: null })
    await announce(ctx, tx, finished, [...settled.events, ...skipped, stateEvent('schedule.finished', finished, ctx.actor)])
    return finished
  }
  const { now, hasWaitingSlot, events } = settled
  if (hasWaitingSlot && agentId !== schedule.agentId) await scheduleSlots.moveWaitingSlot(tx, projectId, id, agentId)
  // The one that waits counts. Without more to come, a schedule is open only because one waits.
  const isUsedUp = maxFires !== null && fireCount + (hasWaitingSlot ? 1 : 0) >= maxFires
  tx.afterCommit(() => ctx.notifier.notify('schedule'))
  const changed = await schedules.changeSchedule(tx, id, { ...change, nextFireAt: isUsedUp ? null : (nextFireAt ?? nextFiring(timing, timezone, now)) })
  await announce(ctx, tx, changed, events)
  return changed
}
