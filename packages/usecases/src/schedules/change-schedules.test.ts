import {
  advanceClock,
  allEvents,
  drain,
  drainOutbox,
  type Harness,
  holdRow,
  invariants,
  readScheduleRow,
  readSlots,
  resetClock,
  type StoredSchedule,
  spawnMany,
  startHarness,
  storeSchedules,
  waitUntilBlocked,
} from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  createSchedule,
  deactivateSchedule,
  fireSchedules,
  getSchedule,
  listSchedules,
  pauseSchedule,
  previewSchedule,
  resumeSchedule,
  reviseSchedule,
  triggerSchedule,
} from '../index.ts'

const PENDING_MAX = 2
const HOURLY: StoredSchedule = { timing: { kind: 'interval', seconds: 3_600, anchorAt: '' } }
const anyRunner = () => {}

let harness: Harness

beforeAll(async () => {
  harness = await startHarness({ settings: { SUBTASK_MAX_PENDING: String(PENDING_MAX) } })
})

afterEach(async () => {
  await drain(harness.ctx)
  expect(await invariants(harness.admin)).toEqual([])
  await resetClock(harness.admin)
  await harness.admin`truncate schedules, schedule_slots, subtasks, attempts, inbox, evaluations, outbox, events, pgboss.job`
})

afterAll(() => harness.close())

const fire = () => fireSchedules(harness.deps, { except: [], signal: new AbortController().signal })
const outcomes = async (id: string) => (await readSlots(harness.admin, id)).map(({ outcome }) => outcome)
const create = (text: string) => createSchedule(harness.ctx, { task: 'x', phrase: { kind: 'every', text }, runner: 'own' })

async function storeOne(schedule: StoredSchedule = {}): Promise<string> {
  const [id] = await storeSchedules(harness.admin, [schedule])
  return id as string
}

/** A schedule whose first slot has come and waits, since the queue of its agent is full. */
async function storeWaiting(schedule: StoredSchedule = {}): Promise<string> {
  const id = await storeOne({ agentId: 'full', ...schedule })
  await spawnMany(harness.ctx, PENDING_MAX, { agentId: 'full' })
  await fire()
  expect(await outcomes(id)).toEqual(['waiting'])
  return id
}

async function eventsOf(id: string): Promise<string[]> {
  await drainOutbox(harness.deps)
  return (await allEvents(harness.ctx, id)).map(({ type, data }) => (data.outcome === undefined ? type : `${type} ${data.outcome}`))
}

describe('a new schedule', () => {
  it('is read at the time of the database', async () => {
    await advanceClock(harness.admin, '400 days')
    const before = await harness.admin<{ now: Date }[]>`select muster_now() as now`
    const { anchorAt, nextFireAt } = await create('2 hours')
    expect(anchorAt.getTime()).toBeGreaterThanOrEqual(before[0]?.now.getTime() as number)
    expect((nextFireAt as Date).getTime() - anchorAt.getTime()).toBe(7_200_000)
    const preview = await previewSchedule(harness.ctx, { kind: 'every', text: '2 hours' }, null, undefined, { runner: 'own' })
    expect(preview.anchorAt.getTime()).toBeGreaterThanOrEqual(anchorAt.getTime())
  })

  it('wakes whoever fires, as do a change and a resumption, and nothing else does', async () => {
    const heard: string[] = []
    const notifier = { ...harness.deps.notifier, notify: (channel: string) => void heard.push(channel) }
    const rung = () => heard.filter((channel) => channel === 'schedule').length
    const ctx = { ...harness.ctx, notifier }
    const { id } = await createSchedule(ctx, { task: 'x', phrase: { kind: 'every', text: '1 hour' }, runner: 'own' })
    expect(rung()).toBe(1)
    await reviseSchedule(ctx, id, { graceSeconds: 1 })
    expect(rung()).toBe(2)
    await pauseSchedule(ctx, id)
    await expect(reviseSchedule(ctx, id, { phrase: { kind: 'every', text: 'whenever' } })).rejects.toMatchObject({ code: 'schedule_unparseable' })
    expect(rung()).toBe(2)
    await resumeSchedule(ctx, id)
    expect(rung()).toBe(3)
  })

  it('is unknown to other projects, which list none', async () => {
    const { id } = await create('1 hour')
    const other = await harness.projectCtx()
    await expect(getSchedule(other, id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(reviseSchedule(other, id, { task: 'mine' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(triggerSchedule(other, id, anyRunner)).rejects.toMatchObject({ code: 'not_found' })
    await expect(deactivateSchedule(other, id)).rejects.toMatchObject({ code: 'not_found' })
    expect((await listSchedules(other, { limit: 50 })).items).toEqual([])
  })
})

describe('a slot that waits for room', () => {
  it('is given up by a pause, and nothing of its schedule is lost but that', async () => {
    const id = await storeWaiting(HOURLY)
    const { state } = await pauseSchedule(harness.ctx, id)
    expect([state, await outcomes(id)]).toEqual(['paused', ['skipped_paused']])
    expect(await eventsOf(id)).toEqual(['schedule.skipped skipped_paused', 'schedule.paused'])
  })

  it('was the last by its number: given up, it makes room for another', async () => {
    const id = await storeWaiting({ ...HOURLY, maxFires: 1 })
    expect((await readScheduleRow(harness.admin, id)).next_fire_at).toBeNull()
    const { state, nextFireAt, fireCount } = await pauseSchedule(harness.ctx, id)
    expect([state, fireCount, nextFireAt === null]).toEqual(['paused', 0, false])
    expect((await resumeSchedule(harness.ctx, id)).nextFireAt).toEqual(nextFireAt)
  })

  it.each([
    ['is given up by a pause', (id: string) => pauseSchedule(harness.ctx, id), ['skipped_paused', 'skipped_paused', 'skipped_paused']],
    ['may be followed by more', (id: string) => reviseSchedule(harness.ctx, id, { maxFires: 9 }), ['waiting', 'skipped_missed', 'skipped_overlap']],
  ])('was the last by its number and %s: what came since has its rows too', async (_, change, expected) => {
    const id = await storeWaiting({ ...HOURLY, maxFires: 1 })
    await advanceClock(harness.admin, '150 minutes')
    await change(id)
    await fire()
    expect(await outcomes(id)).toEqual(expected)
  })

  it('was the only one: given up, it ends its schedule', async () => {
    const id = await storeWaiting()
    expect((await pauseSchedule(harness.ctx, id)).state).toBe('finished')
    expect(await eventsOf(id)).toEqual(['schedule.skipped skipped_paused', 'schedule.finished'])
  })

  it('is given up by the end of its schedule', async () => {
    const id = await storeWaiting(HOURLY)
    await deactivateSchedule(harness.ctx, id)
    expect(await outcomes(id)).toEqual(['skipped_paused'])
    expect(await eventsOf(id)).toEqual(['schedule.skipped skipped_paused', 'schedule.deactivated'])
    await drain(harness.ctx)
    expect((await fire()).fired).toBe(0)
  })

  it('waits for the queue of another agent when its schedule is given to that', async () => {
    const id = await storeWaiting(HOURLY)
    await reviseSchedule(harness.ctx, id, { agentId: 'free' })
    expect((await fire()).fired).toBe(1)
    expect(await outcomes(id)).toEqual(['fired'])
  })

  it('counts: one more that may fire gives its schedule a next time, one less takes it away', async () => {
    const id = await storeWaiting({ ...HOURLY, maxFires: 1 })
    expect((await reviseSchedule(harness.ctx, id, { maxFires: 2 })).nextFireAt).not.toBeNull()
    expect((await reviseSchedule(harness.ctx, id, { maxFires: 1 })).nextFireAt).toBeNull()
    expect(await outcomes(id)).toEqual(['waiting'])
  })
})

describe('a slot that has come, and that nobody has looked at', () => {
  const MINUTELY: StoredSchedule = { timing: { kind: 'interval', seconds: 60, anchorAt: '' }, dueInMs: -150_000 }
  const late = (id: string) => harness.admin`select from schedules where id = ${id} and next_fire_at <= muster_now()`

  it('fires by the rule that its schedule had when it came', async () => {
    const id = await storeOne({ ...HOURLY, dueInMs: -5 })
    const { nextFireAt } = await reviseSchedule(harness.ctx, id, { phrase: { kind: 'every', text: '2 hours' } })
    expect(await outcomes(id)).toEqual(['waiting'])
    expect((await fire()).fired).toBe(1)
    expect(await outcomes(id)).toEqual(['fired'])
    expect((await readScheduleRow(harness.admin, id)).next_fire_at).toEqual(nextFireAt)
    expect(await eventsOf(id)).toEqual(['schedule.fired'])
  })

  it('counts towards what its schedule may fire', async () => {
    const id = await storeOne({ ...HOURLY, maxFires: 1 })
    expect((await reviseSchedule(harness.ctx, id, { phrase: { kind: 'every', text: '2 hours' } })).nextFireAt).toBeNull()
    expect((await fire()).fired).toBe(1)
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'finished', fire_count: 1 })
  })

  it('was missed, and its row says so, when its schedule is read anew', async () => {
    const id = await storeOne({ ...MINUTELY, dueInMs: -250_000, missed: 'skip', graceSeconds: 30 })
    await reviseSchedule(harness.ctx, id, { phrase: { kind: 'every', text: '2 hours' } })
    expect(await outcomes(id)).toEqual([...Array(4).fill('skipped_missed'), 'waiting'])
    expect((await fire()).fired).toBe(1)
  })

  it('has passed when its schedule was paused then, and is resumed', async () => {
    const id = await storeOne({ ...MINUTELY, state: 'paused', graceSeconds: 3_600 })
    await resumeSchedule(harness.ctx, id)
    expect(await outcomes(id)).toEqual(Array(3).fill('skipped_paused'))
    expect((await fire()).fired).toBe(0)
    expect(await eventsOf(id)).toEqual(Array(3).fill('schedule.skipped skipped_paused'))
  })

  it('was the last one of a paused schedule, which cannot be resumed', async () => {
    const id = await storeOne({ state: 'paused', dueInMs: -5 })
    await expect(resumeSchedule(harness.ctx, id)).rejects.toMatchObject({ code: 'invalid_transition' })
    expect((await fire()).fired).toBe(0)
    expect(await readScheduleRow(harness.admin, id)).toMatchObject({ state: 'finished' })
    expect(await outcomes(id)).toEqual(['skipped_paused'])
  })

  it('passes at the end of its schedule', async () => {
    const id = await storeOne({ ...HOURLY, dueInMs: -5 })
    await deactivateSchedule(harness.ctx, id)
    expect(await outcomes(id)).toEqual(['skipped_paused'])
    expect(await eventsOf(id)).toEqual(['schedule.skipped skipped_paused', 'schedule.deactivated'])
  })

  it('is one of so many that not all are written down: what comes next is to come', async () => {
    const id = await storeOne({ timing: { kind: 'interval', seconds: 10, anchorAt: '' }, state: 'paused', dueInMs: -25_000_000 })
    await resumeSchedule(harness.ctx, id)
    expect(await outcomes(id)).toHaveLength(2_000)
    expect(await late(id)).toHaveLength(0)
  })
})

describe('a clock that has been far ahead', () => {
  it('leaves a schedule that is read anew with its next slot', async () => {
    const id = await storeOne({ timing: { kind: 'interval', seconds: 60, anchorAt: '' }, missed: 'skip', overlap: 'allow' })
    await advanceClock(harness.admin, '1 hour')
    await fire()
    await resetClock(harness.admin)
    await reviseSchedule(harness.ctx, id, { phrase: { kind: 'every', text: '7 minutes' }, graceSeconds: 600 })
    await advanceClock(harness.admin, '8 minutes')
    expect((await fire()).fired).toBe(1)
    await deactivateSchedule(harness.ctx, id)
  })
})

describe('a phrase that is written anew', () => {
  it('has no quarrel with a zone that nobody has given', async () => {
    const { id } = await create('every day at 9am Europe/Berlin')
    const { timezone, warnings } = await reviseSchedule(harness.ctx, id, { phrase: { kind: 'every', text: 'every day at 9am America/New_York' } })
    expect([timezone, warnings]).toEqual(['America/New_York', []])
    const given = await reviseSchedule(harness.ctx, id, { timezone: 'Europe/Berlin' })
    expect(given.warnings.map(({ code }) => code)).toEqual(['zone_conflict'])
  })
})

describe('a new zone alone', () => {
  const once = (text: string, timezone: string) => createSchedule(harness.ctx, { task: 'x', phrase: { kind: 'when', text }, timezone, runner: 'own' })

  it('reads a day that is counted as of the moment at which the phrase was written', async () => {
    const before = await once('in 2 days at noon', 'Europe/Berlin')
    await advanceClock(harness.admin, '1 day')
    // The clock of Paris is that of Berlin.
    const after = await reviseSchedule(harness.ctx, before.id, { timezone: 'Europe/Paris' })
    expect(after).toMatchObject({ timezone: 'Europe/Paris', nextFireAt: before.nextFireAt })
  })

  it('keeps the weeks that a rule of every so many weeks counts', async () => {
    const before = await create('every 2 weeks on friday at 9am')
    await advanceClock(harness.admin, '14 days')
    const { timing } = await reviseSchedule(harness.ctx, before.id, { timezone: 'UTC' })
    expect(timing).toEqual(before.timing)
  })

  it('is refused when the point in time has passed in it, and changes nothing', async () => {
    const before = await once('march 10 2099 at noon', 'America/New_York')
    await advanceClock(harness.admin, `${Number(before.nextFireAt) - Number(before.anchorAt) - 3_600_000} milliseconds`)
    await expect(reviseSchedule(harness.ctx, before.id, { timezone: 'Europe/Berlin' })).rejects.toMatchObject({ code: 'schedule_in_past' })
    expect(await getSchedule(harness.ctx, before.id)).toMatchObject({ timezone: 'America/New_York', nextFireAt: before.nextFireAt })
  })
})

describe('a rule that ends on a date', () => {
  it('is finished with its last firing', async () => {
    const id = await storeOne({ timing: { kind: 'interval', seconds: 10, anchorAt: '', until: '2000-01-01' } })
    await fire()
    expect(await getSchedule(harness.ctx, id)).toMatchObject({ state: 'finished', fireCount: 1, nextFireAt: null })
    expect((await eventsOf(id)).at(-1)).toBe('schedule.finished')
  })
})

describe('a change of how often a schedule may fire', () => {
  it('finishes it when it has fired so often, and is shown as what it has fired', async () => {
    const id = await storeOne({ timing: { kind: 'interval', seconds: 10, anchorAt: '' }, overlap: 'allow' })
    await fire()
    await advanceClock(harness.admin, '10 seconds')
    await fire()
    expect(await reviseSchedule(harness.ctx, id, { maxFires: 1 })).toMatchObject({ state: 'finished', fireCount: 2, maxFires: 2, nextFireAt: null })
    expect((await eventsOf(id)).at(-1)).toBe('schedule.finished')
  })

  it('leaves it alone when there is more to come', async () => {
    const id = await storeOne(HOURLY)
    await fire()
    expect(await reviseSchedule(harness.ctx, id, { maxFires: 2 })).toMatchObject({ state: 'active', fireCount: 1, maxFires: 2 })
  })
})

describe('two who come at once', () => {
  it('pause a schedule once', async () => {
    const { id } = await create('1 hour')
    await Promise.all([pauseSchedule(harness.ctx, id), pauseSchedule(harness.ctx, id)])
    expect(await eventsOf(id)).toEqual(['schedule.created', 'schedule.paused'])
  })

  it('deactivate it once', async () => {
    const { id } = await create('1 hour')
    const [one, other] = await Promise.all([deactivateSchedule(harness.ctx, id), deactivateSchedule(harness.ctx, id)])
    expect(one).toEqual(other)
    expect(await eventsOf(id)).toEqual(['schedule.created', 'schedule.deactivated'])
  })

  it('resume it once', async () => {
    const { id } = await create('1 hour')
    await pauseSchedule(harness.ctx, id)
    const answers = await Promise.allSettled([resumeSchedule(harness.ctx, id), resumeSchedule(harness.ctx, id)])
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('both change it, each by what it was given alone', async () => {
    const { id } = await create('1 hour')
    const release = await holdRow(harness.admin, id, 'schedules')
    const changes = [reviseSchedule(harness.ctx, id, { task: 'y' }), reviseSchedule(harness.ctx, id, { phrase: { kind: 'every', text: '2 hours' } })]
    await waitUntilBlocked(harness.admin, 2)
    await release()
    await Promise.all(changes)
    expect(await getSchedule(harness.ctx, id)).toMatchObject({ task: 'y', phrase: '2 hours', timing: { seconds: 7_200 } })
  })

  it('trigger it after it has ended in vain', async () => {
    const { id } = await create('1 hour')
    const release = await holdRow(harness.admin, id, 'schedules')
    const ending = deactivateSchedule(harness.ctx, id)
    await waitUntilBlocked(harness.admin, 1)
    const refused = expect(triggerSchedule(harness.ctx, id, anyRunner)).rejects.toMatchObject({ code: 'invalid_transition' })
    await waitUntilBlocked(harness.admin, 2)
    await release()
    await ending
    await refused
    expect(await readSlots(harness.admin, id)).toEqual([])
  })
})

describe('a triggered run', () => {
  it('is announced as such, in the name of who asked, and counts nowhere', async () => {
    const { id } = await create('1 hour')
    const { id: subtaskId } = await triggerSchedule(harness.ctx, id, anyRunner)
    await drainOutbox(harness.deps)
    const fired = (await allEvents(harness.ctx, id)).at(-1)
    const [slot] = await readSlots(harness.admin, id)
    expect(fired).toMatchObject({
      type: 'schedule.fired',
      data: { schedule_id: id, agent_id: 'default', subtask_id: subtaskId, manual: true, slot: slot?.slot.toISOString() },
      actor: { kind: harness.ctx.actor.kind, id: harness.ctx.actor.id },
    })
    expect(await getSchedule(harness.ctx, id)).toMatchObject({ fireCount: 0, lastFiredAt: null })
  })
})
