import { connect } from '@muster/db'
import type { Timing } from '@muster/domain'
import {
  advanceClock,
  allEvents,
  claimAll,
  drain,
  drainOutbox,
  type Harness,
  invariants,
  readScheduleRow,
  readSlots,
  resetClock,
  type StoredSchedule,
  settleOne,
  spawnMany,
  startHarness,
  storeSchedules,
  waitUntilBlocked,
} from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { deactivateSchedule, fireSchedules, getSubtask, listSubtasks, pauseSchedule, triggerSchedule } from '../index.ts'
import type { FiringPass } from './fire-schedules.ts'

const SECONDS = (seconds: number): Timing => ({ kind: 'interval', seconds, anchorAt: '' })

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await drain(harness.ctx)
  expect(await invariants(harness.admin)).toEqual([])
  // A moved clock would make what one test has left due in another.
  await resetClock(harness.admin)
  await harness.admin`truncate schedules, schedule_slots, subtasks, attempts, inbox, evaluations, outbox, events, pgboss.job`
})

afterAll(() => harness.close())

function fire(except: readonly string[] = [], deps = harness.deps): Promise<FiringPass> {
  return fireSchedules(deps, { except, signal: new AbortController().signal })
}

/** Looks again as long as a worker would without pause. Answers how many subtasks were made. */
async function fireAll(deps = harness.deps): Promise<number> {
  for (let fired = 0; ; ) {
    const pass = await fire([], deps)
    fired += pass.fired
    if (pass.againInMs !== 0) return fired
  }
}

async function storeOne(schedule: StoredSchedule = {}): Promise<string> {
  const [id] = await storeSchedules(harness.admin, [schedule])
  return id as string
}

async function outcomes(id: string): Promise<string[]> {
  return (await readSlots(harness.admin, id)).map((slot) => slot.outcome)
}

async function eventsOf(id: string): Promise<string[]> {
  await drainOutbox(harness.deps)
  return (await allEvents(harness.ctx, id)).map(({ type, data }) => (data.outcome === undefined ? type : `${type} ${data.outcome}`))
}

describe('a slot that is due', () => {
  it('becomes a subtask as its schedule says, and the schedule moves on', async () => {
    const id = await storeOne({ timing: SECONDS(3600), agentId: 'scout', metadata: { from: 'a test' } })
    const before = await readScheduleRow(harness.admin, id)
    expect(await fire()).toEqual({ fired: 1, againInMs: 0, hasWaiting: false, failed: [] })

    const [slot] = await readSlots(harness.admin, id)
    const subtask = await getSubtask(harness.ctx, slot?.subtaskId as string)
    expect(subtask).toMatchObject({
      scheduleId: id,
      agentId: 'scout',
      parentSessionId: null,
      task: 'Count the files.',
      status: 'pending',
      runner: 'own',
      timeoutSeconds: 120,
      budget: { maxSteps: 50 },
      metadata: { from: 'a test' },
    })
    expect(slot).toMatchObject({ slot: before.next_fire_at, outcome: 'fired', manual: false, firedAt: subtask.createdAt })
    const nextFireAt = new Date((before.next_fire_at as Date).getTime() + 3_600_000)
    expect(await readScheduleRow(harness.admin, id)).toEqual({
      state: 'active',
      next_fire_at: nextFireAt,
      fire_count: 1,
      last_fired_at: subtask.createdAt,
    })
    await drainOutbox(harness.deps)
    expect(await allEvents(harness.ctx, id)).toMatchObject([
      {
        type: 'schedule.fired',
        subject: { kind: 'schedule', id },
        actor: { kind: 'schedule', id },
        data: { schedule_id: id, agent_id: subtask.agentId, slot: before.next_fire_at?.toISOString(), subtask_id: subtask.id, manual: false },
      },
    ])
    expect((await allEvents(harness.ctx, subtask.id))[0]).toMatchObject({ type: 'subtask.created', actor: { kind: 'schedule', id } })
    expect((await listSubtasks(harness.ctx, { scheduleId: id, limit: 5 })).items).toEqual([subtask])
  })

  it('tells the session that its schedule names', async () => {
    const id = await storeOne({ parentSessionId: 'chat' })
    await fireAll()
    const [slot] = await readSlots(harness.admin, id)
    expect(await getSubtask(harness.ctx, slot?.subtaskId as string)).toMatchObject({ parentSessionId: 'chat' })
  })

  it('finishes a schedule that has no other', async () => {
    const id = await storeOne()
    await fireAll()
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'finished', next_fire_at: null, fire_count: 1 })
    expect(await eventsOf(id)).toEqual(['schedule.fired', 'schedule.finished'])
  })

  it('finishes a schedule that has fired as often as it may', async () => {
    const id = await storeOne({ timing: SECONDS(60), maxFires: 2 })
    await fireAll()
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'active', fire_count: 1 })
    await drain(harness.ctx)
    await advanceClock(harness.admin, '1 minute')
    await fireAll()
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'finished', next_fire_at: null, fire_count: 2 })
  })

  it('waits for its time, which the look before it tells', async () => {
    await storeSchedules(harness.admin, [{ dueInMs: 3_000_000 }, { dueInMs: 2_000_000 }])
    const pass = await fire()
    expect(pass).toMatchObject({ fired: 0, hasWaiting: false, failed: [] })
    expect(pass.againInMs).toBeLessThanOrEqual(2_000_000)
    expect(pass.againInMs).toBeGreaterThan(1_900_000)
    expect(await harness.admin`select from schedule_slots`).toHaveLength(0)
  })

  it('is nobody else’s business: each project has its own', async () => {
    const other = await harness.projectCtx()
    const [mine, theirs] = await storeSchedules(harness.admin, [{}, { projectId: other.actor.projectId }])
    expect(await fireAll()).toBe(2)
    expect((await listSubtasks(harness.ctx, { limit: 5 })).items).toMatchObject([{ scheduleId: mine }])
    expect((await listSubtasks(other, { limit: 5 })).items).toMatchObject([{ scheduleId: theirs }])
    await drain(other)
  })

  it('fires once, however many look at once', async () => {
    await storeSchedules(
      harness.admin,
      Array.from({ length: 450 }, (_, place) => ({ agentId: `agent-${place % 150}`, timing: SECONDS(3600) })),
    )
    const fired = await Promise.all([1, 2, 3, 4].map(() => fireAll()))
    // What was in another's hands when one looked is not its to wait for: a worker looks again a moment later.
    expect(fired.reduce((sum, count) => sum + count, 0) + (await fireAll())).toBe(450)
    expect(await harness.admin`select schedule_id from schedule_slots group by 1`).toHaveLength(450)
    expect(await harness.admin`select from subtasks`).toHaveLength(450)
  })

  it('takes few statements, however many are due at once', async () => {
    await storeSchedules(
      harness.admin,
      Array.from({ length: 200 }, (_, place) => ({ agentId: `agent-${place}` })),
    )
    const db = connect(harness.database.appUrl, { role: 'muster_app', connectionsMax: 2, applicationName: 'test' })
    let statements = 0
    const options = db.sql.options as { debug: unknown }
    options.debug = () => {
      statements += 1
    }
    expect(await fireAll({ ...harness.deps, db })).toBe(200)
    await db.close()
    expect(statements).toBeLessThan(20)
  })

  it('leaves nothing behind when its transaction dies half-way, and fires later', async () => {
    const id = await storeOne({ agentId: 'held' })
    const holder = await harness.admin.reserve()
    await holder`begin`
    await holder`select pg_advisory_xact_lock(hashtextextended(${`${harness.ctx.actor.projectId}/held`}, 0))`
    const dying = fire().then(
      () => 'fired',
      () => 'failed',
    )
    await waitUntilBlocked(harness.admin, 1)
    // Its schedule is in its hands, so others pass it by.
    expect(await fire()).toEqual({ fired: 0, againInMs: 20, hasWaiting: false, failed: [] })
    await harness.admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    expect(await dying).toBe('failed')
    await holder`commit`
    holder.release()
    expect([await outcomes(id), await harness.admin`select from subtasks`]).toEqual([[], []])

    expect(await fireAll()).toBe(1)
    expect(await outcomes(id)).toEqual(['fired'])
  })

  it('is left alone while schedules, or subtasks, are switched off, and when it is time to stop', async () => {
    await storeOne()
    for (const off of ['SCHEDULE_ENABLED', 'SUBTASK_ENABLED']) {
      const deps = { ...harness.deps, settings: { ...harness.deps.settings, [off]: false } }
      expect(await fire([], deps)).toEqual({ fired: 0, againInMs: null, hasWaiting: false, failed: [] })
    }
    expect((await fireSchedules(harness.deps, { except: [], signal: AbortSignal.abort() })).fired).toBe(0)
    expect(await fireAll()).toBe(1)
  })
})

describe('a schedule that cannot be fired', () => {
  it.each<[string, StoredSchedule]>([
    ['its rule makes no sense', { timing: { kind: 'calendar', crons: ['when it suits'], every: null } }],
    ['its zone is unknown', { timing: { kind: 'calendar', crons: ['0 0 9 * * *'], every: null }, timezone: 'Atlantis/Center' }],
    ['the database refuses it', { runner: 'without-a-queue' }],
  ])('holds up no other when %s: it is logged, left as it is, and can be left out', async (_, poisoned) => {
    const ids = await storeSchedules(harness.admin, [{ agentId: 'a' }, { ...poisoned, agentId: 'b', dueInMs: -1_000 }, { agentId: 'c' }])
    const [first, bad, last] = ids as [string, string, string]
    const before = await readScheduleRow(harness.admin, bad)
    expect(await fire()).toEqual({ fired: 2, againInMs: 0, hasWaiting: false, failed: [bad] })
    expect(harness.log.takeErrors()).toMatchObject([{ fields: { schedule_id: bad } }])
    expect([await outcomes(first), await outcomes(bad), await outcomes(last)]).toEqual([['fired'], [], ['fired']])
    expect(await readScheduleRow(harness.admin, bad)).toEqual(before)
    expect(await fire([bad])).toEqual({ fired: 0, againInMs: null, hasWaiting: false, failed: [] })
  })

  it('is not asked for again at once', async () => {
    const id = await storeOne({ timing: { kind: 'calendar', crons: ['when it suits'], every: null } })
    expect(await fire()).toEqual({ fired: 0, againInMs: null, hasWaiting: false, failed: [id] })
    harness.log.takeErrors()
  })
})

describe('a slot whose agent has a full queue', () => {
  const agentId = 'busy'

  /** Five wait, which is all that may, besides the three that run. */
  async function fillQueue(): Promise<void> {
    await spawnMany(harness.ctx, 5, { agentId })
    await claimAll(harness.ctx)
    await spawnMany(harness.ctx, 3, { agentId })
  }

  it('waits, and fires as soon as there is room', async () => {
    const id = await storeOne({ agentId, timing: SECONDS(3600) })
    await fillQueue()
    expect(await fire()).toMatchObject({ fired: 0, hasWaiting: true, failed: [] })
    expect(await readSlots(harness.admin, id)).toMatchObject([{ outcome: 'waiting', firedAt: null, subtaskId: null }])
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'active', fire_count: 0, last_fired_at: null })
    expect(await fire()).toMatchObject({ fired: 0, hasWaiting: true })
    expect(await eventsOf(id)).toEqual([])

    await settleAll()
    expect(await fire()).toMatchObject({ fired: 1, againInMs: 0 })
    expect(await fire()).toMatchObject({ fired: 0, hasWaiting: false })
    expect(await readSlots(harness.admin, id)).toMatchObject([{ outcome: 'fired' }])
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'active', fire_count: 1 })
    expect(await eventsOf(id)).toEqual(['schedule.fired'])
  })

  it('holds up no slot of another agent, and no later look', async () => {
    await fillQueue()
    const [waiting, other] = await storeSchedules(harness.admin, [{ agentId }, { agentId: 'idle' }])
    await fireAll()
    const later = await storeOne({ agentId: 'idle too' })
    await fireAll()
    expect([await outcomes(waiting as string), await outcomes(other as string), await outcomes(later)]).toEqual([['waiting'], ['fired'], ['fired']])
  })

  it('gets the room before one that came later, and no more fire than there is room for', async () => {
    await fillQueue()
    const ids = await storeSchedules(
      harness.admin,
      [-1_000, -3_000, -2_000, 0].map((dueInMs) => ({ agentId, dueInMs })),
    )
    await fireAll()
    const [run] = await claimAll(harness.ctx)
    expect(run).toBeUndefined()
    // Two of those that run end, so two of those that wait begin.
    const running = await harness.admin<{ id: string; attempt: number; projectId: string }[]>`
      select id, attempt, project_id as "projectId" from subtasks where status = 'running' limit 2`
    for (const each of running) await settleOne(harness.ctx, each)
    expect(await claimAll(harness.ctx)).toHaveLength(2)
    expect(await fireAll()).toBe(2)
    expect((await Promise.all(ids.map(outcomes))).flat()).toEqual(['waiting', 'fired', 'fired', 'waiting'])
    await settleAll()
    await fireAll()
  })

  it('finishes a one-shot when it fires, not while it waits', async () => {
    const id = await storeOne({ agentId })
    await fillQueue()
    await fireAll()
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'active', next_fire_at: null })
    await settleAll()
    await fireAll()
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'finished', next_fire_at: null, fire_count: 1 })
    expect(await eventsOf(id)).toEqual(['schedule.fired', 'schedule.finished'])
  })

  it('lets none of its schedule wait behind it', async () => {
    const id = await storeOne({ agentId, timing: SECONDS(60), overlap: 'allow', graceSeconds: 3600 })
    await fillQueue()
    await fireAll()
    await advanceClock(harness.admin, '2 minutes')
    await fireAll()
    expect(await outcomes(id)).toEqual(['waiting', 'skipped_overlap', 'skipped_overlap'])
  })

  it('counts towards the runs that its schedule may make', async () => {
    const id = await storeOne({ agentId, timing: SECONDS(60), overlap: 'allow', maxFires: 1 })
    await fillQueue()
    await fireAll()
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'active', next_fire_at: null, fire_count: 0 })
    await advanceClock(harness.admin, '2 minutes')
    await settleAll()
    await fireAll()
    expect(await outcomes(id)).toEqual(['fired'])
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'finished', fire_count: 1 })
  })

  it('fires as many of those that come together as there is room for', async () => {
    const id = await storeOne({ agentId, timing: SECONDS(60), overlap: 'allow', graceSeconds: 3600, dueInMs: -600_000, maxFires: 6 })
    await fireAll()
    // Five find room, the sixth waits and is the last that may fire.
    expect(await outcomes(id)).toEqual([...Array(5).fill('fired'), 'waiting'])
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'active', next_fire_at: null, fire_count: 5 })
    await settleAll()
    await fireAll()
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'finished', fire_count: 6 })
  })

  it('goes on waiting while a run that was triggered meanwhile would overlap', async () => {
    const id = await storeOne({ agentId, timing: SECONDS(3600) })
    await fillQueue()
    await fireAll()
    await harness.admin`update projects set settings = '{"limits": {"pending_per_agent": 6}}'`
    const triggered = await triggerSchedule(harness.ctx, id, () => {})
    await harness.admin`update projects set settings = '{"limits": {"pending_per_agent": 20}}'`
    expect(await fire()).toMatchObject({ fired: 0, hasWaiting: true })
    await settleAll()
    expect(await getSubtask(harness.ctx, triggered.id)).toMatchObject({ status: 'completed' })
    expect(await fireAll()).toBe(1)
    await harness.admin`update projects set settings = '{}'`
  })

  /** Brings everything that runs or waits to its end. */
  async function settleAll(): Promise<void> {
    for (;;) {
      const running = await harness.admin<{ id: string; attempt: number; projectId: string }[]>`
        select id, attempt, project_id as "projectId" from subtasks where status = 'running'`
      for (const run of running) await settleOne(harness.ctx, run)
      if ((await claimAll(harness.ctx)).length === 0) return
    }
  }
})

describe('a slot while an earlier run goes on', () => {
  it.each(['pending', 'running'])('is passed by where runs may not overlap: %s', async (status) => {
    const id = await storeOne({ timing: SECONDS(60) })
    await fireAll()
    const runs = status === 'running' ? await claimAll(harness.ctx) : []
    await advanceClock(harness.admin, '1 minute')
    await fireAll()
    expect(await outcomes(id)).toEqual(['fired', 'skipped_overlap'])
    expect(await eventsOf(id)).toEqual(['schedule.fired', 'schedule.skipped skipped_overlap'])

    for (const run of runs) await settleOne(harness.ctx, run)
    await drain(harness.ctx)
    await advanceClock(harness.admin, '1 minute')
    await fireAll()
    expect(await outcomes(id)).toEqual(['fired', 'skipped_overlap', 'fired'])
  })

  it('fires where they may', async () => {
    const id = await storeOne({ timing: SECONDS(60), overlap: 'allow' })
    await fireAll()
    const runs = await claimAll(harness.ctx)
    await advanceClock(harness.admin, '1 minute')
    await fireAll()
    expect(await outcomes(id)).toEqual(['fired', 'fired'])
    for (const run of runs) await settleOne(harness.ctx, run)
  })
})

describe('slots that nobody could fire in time', () => {
  it.each([
    ['skip', Array(10).fill('skipped_missed')],
    ['run_once', [...Array(9).fill('skipped_missed'), 'fired']],
  ] as const)('%s: each of ten has its row, and the next comes in time', async (missed, expected) => {
    const id = await storeOne({ timing: SECONDS(60), missed, graceSeconds: 10, dueInMs: 30_000 })
    await advanceClock(harness.admin, '10 minutes')
    await fireAll()
    expect(await outcomes(id)).toEqual(expected)
    expect(await harness.admin`select from schedules where id = ${id} and next_fire_at > muster_now()`).toHaveLength(1)
    await drain(harness.ctx)
    await advanceClock(harness.admin, '35 seconds')
    await fireAll()
    expect(await outcomes(id)).toEqual([...expected, 'fired'])
  })

  it('have their rows after a long silence too, and one run makes up for all', async () => {
    const id = await storeOne({ timing: SECONDS(10), graceSeconds: 1, dueInMs: 5_000 })
    await advanceClock(harness.admin, '75 minutes 3 seconds')
    await fireAll()
    expect(await outcomes(id)).toEqual([...Array(449).fill('skipped_missed'), 'fired'])
  })

  it('do not keep others waiting that are due with them', async () => {
    await storeSchedules(
      harness.admin,
      Array.from({ length: 30 }, (_, place) => ({ agentId: `agent-${place}`, timing: SECONDS(10), graceSeconds: 1, dueInMs: 5_000 })),
    )
    await advanceClock(harness.admin, '20 minutes 3 seconds')
    expect(await fireAll()).toBe(30)
    expect(await harness.admin`select schedule_id from schedule_slots group by 1 having count(*) = 120`).toHaveLength(30)
  })
})

describe('a paused schedule', () => {
  it('lets its slots pass, each with its row', async () => {
    const id = await storeOne({ timing: SECONDS(60), state: 'paused', dueInMs: -130_000 })
    await fireAll()
    expect(await outcomes(id)).toEqual(['skipped_paused', 'skipped_paused', 'skipped_paused'])
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'paused', fire_count: 0 })
  })

  it('is finished when its only slot has passed', async () => {
    const id = await storeOne({ state: 'paused' })
    await fireAll()
    expect(await outcomes(id)).toEqual(['skipped_paused'])
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'finished', next_fire_at: null })
    expect(await eventsOf(id)).toEqual(['schedule.skipped skipped_paused', 'schedule.finished'])
  })
})

describe('many schedules with thousands of slots to tell of', () => {
  it('do not hold up one that is due now', async () => {
    const silent = Array.from({ length: 40 }, (): StoredSchedule => ({ timing: SECONDS(10), dueInMs: -10_000_000, missed: 'skip', agentId: 'silent' }))
    await storeSchedules(harness.admin, silent)
    const id = await storeOne({ agentId: 'silent' })
    const { fired } = await fire()
    expect(fired).toBe(1)
    expect(await outcomes(id)).toEqual(['fired'])
    await harness.admin`truncate schedules, schedule_slots, outbox`
    await harness.admin`truncate subtasks, attempts, evaluations`
  })
})

describe('a clock that goes back', () => {
  it('fires nothing twice', async () => {
    const id = await storeOne({ timing: SECONDS(60) })
    await fireAll()
    await drain(harness.ctx)
    const before = await readScheduleRow(harness.admin, id)
    await advanceClock(harness.admin, '-1 hour')
    expect(await fireAll()).toBe(0)
    expect(await readScheduleRow(harness.admin, id)).toEqual(before)
    await resetClock(harness.admin)
    expect(await fireAll()).toBe(0)
    expect(await outcomes(id)).toEqual(['fired'])
  })

  it('fires nothing twice either when the schedule was read anew meanwhile', async () => {
    const id = await storeOne({ timing: SECONDS(60) })
    await fireAll()
    await drain(harness.ctx)
    const at = (await readSlots(harness.admin, id))[0]?.slot as Date
    // What reading it anew finds as its next slot, by a clock that is behind.
    await harness.admin`update schedules set next_fire_at = ${at} where id = ${id}`
    expect(await fireAll()).toBe(0)
    expect(await outcomes(id)).toEqual(['fired'])
    expect((await readScheduleRow(harness.admin, id)).next_fire_at).toEqual(new Date(at.getTime() + 60_000))
  })
})

describe('a schedule that is changed at the moment at which it is due', () => {
  it('is left to whoever changes it, and follows the change', async () => {
    const id = await storeOne({ timing: SECONDS(3600) })
    await harness.admin.begin(async (sql) => {
      await sql`update schedules set state = 'paused' where id = ${id}`
      expect(await fire()).toEqual({ fired: 0, againInMs: 20, hasWaiting: false, failed: [] })
    })
    await fireAll()
    expect(await outcomes(id)).toEqual(['skipped_paused'])
  })

  it('has fired before the change or follows it, and nothing in between', async () => {
    const ids = await storeSchedules(
      harness.admin,
      Array.from({ length: 40 }, (_, place) => ({ agentId: `agent-${place}`, timing: SECONDS(3600) })),
    )
    const change = [pauseSchedule, deactivateSchedule]
    await Promise.all([fireAll(), ...ids.map((id, place) => change[place % 2]?.(harness.ctx, id)), fireAll()])
    await fireAll()
    for (const [place, id] of ids.entries()) {
      expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: place % 2 === 0 ? 'paused' : 'deactivated' })
      expect([[], ['fired'], ['skipped_paused']]).toContainEqual(await outcomes(id))
    }
  })
})
