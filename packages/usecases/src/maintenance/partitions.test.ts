import { maintenance } from '@muster/db'
import { advanceClock, claimOne, drain, drainOutbox, type Harness, resetClock, settleOne, spawn, spawnMany, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { latestEventSeq, listSteps, readEvents } from '../index.ts'
import { findPartitionReach, makePartitions } from './partitions.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness({ settings: { SUBTASK_MAX_PENDING: '1000' } })
})

afterAll(() => harness.close())

/** The partitions of a parent that the statements of a transaction have locked. */
async function lockedBy(work: () => Promise<unknown>): Promise<string[]> {
  const seen = new Set<string>()
  let isDone = false
  // Locks end with their transaction, so they are looked at all the time, by other connections.
  const look = async () => {
    while (!isDone) {
      const rows = await harness.admin<{ name: string }[]>`
        select p.name from pg_locks l join pg_class c on c.oid = l.relation join muster_system.partitions p on p.name = c.relname
        where l.pid <> pg_backend_pid() and l.database = (select oid from pg_database where datname = current_database())`
      for (const { name } of rows) seen.add(name)
    }
  }
  const looking = look()
  for (let time = 0; time < 30; time += 1) await work()
  isDone = true
  await looking
  return [...seen].sort()
}

/** Events that come in a day, a multiple of the smallest partition; and what comes in six hours, rounded up to such a multiple. */
const PER_DAY = 39_500_000
const PER_SIX_HOURS = 10_000_000

/** Lives through a day with that many events, and returns the sizes of the partitions that are then made where the server keeps events for some days. */
async function sizesForServer(days: number): Promise<number[]> {
  const [{ end } = { end: 0 }] = await harness.admin<{ end: number }[]>`select max(to_key) as end from muster_system.partitions where parent = 'events'`
  await harness.admin`select muster_system.add_partition('events', ${`events_of_a_day_${end}`}, ${end}, ${end + PER_DAY + 500_000})`
  await harness.admin`select setval('muster_system.event_seq', ${end + 1})`
  await spawnMany(harness.ctx, 1, { agentId: 'many' })
  await drain(harness.ctx)
  await drainOutbox(harness.deps)
  await advanceClock(harness.admin, '1 day')
  await harness.admin`select setval('muster_system.event_seq', ${end + PER_DAY})`
  await makePartitions({ ...harness.deps, settings: { ...harness.deps.settings, RETENTION_DAYS: { events: days } } })
  const made = await harness.admin<{ size: number }[]>`
    select to_key - from_key as size from muster_system.partitions where parent = 'events' and from_key >= ${end + PER_DAY + 500_000}`
  return made.map(({ size }) => size)
}

describe('the partitions of the log', () => {
  it('are read a few at a time, and a reader sees all of its events in order whichever they are in', async () => {
    const [before] = await harness.admin<{ count: number }[]>`select count(*)::int as count from muster_system.partitions where parent = 'events'`
    for (let part = 0; part < 40; part += 1) {
      await harness.admin`select setval('muster_system.event_seq', (select max(to_key) from muster_system.partitions where parent = 'events') - 2)`
      await makePartitions(harness.deps)
      await spawnMany(harness.ctx, 1, { agentId: 'spread' })
      await drainOutbox(harness.deps)
    }
    const [after] = await harness.admin<{ count: number }[]>`select count(*)::int as count from muster_system.partitions where parent = 'events'`
    expect((after?.count ?? 0) - (before?.count ?? 0)).toBeGreaterThanOrEqual(40)
    const created = { types: ['subtask.created'], afterSeq: 0, limit: 1_000 }
    const seen = await readEvents(harness.ctx, created)
    expect(seen).toHaveLength(40)
    expect(seen.map((event) => event.id)).toEqual(seen.map((event) => event.id).toSorted((a, b) => a - b))
    const paged = []
    for (let page = await readEvents(harness.ctx, { ...created, limit: 7 }); page.length > 0; ) {
      paged.push(...page)
      page = await readEvents(harness.ctx, { ...created, afterSeq: page.at(-1)?.id ?? 0, limit: 7 })
    }
    expect(paged).toEqual(seen)
    await drain(harness.ctx)
    await drainOutbox(harness.deps)
  })

  it('are not locked by a reader near the end of the log, but for the first and the last of them', async () => {
    const latest = await latestEventSeq(harness.deps)
    expect((await lockedBy(() => readEvents(harness.ctx, { afterSeq: latest - 1, limit: 10 }))).length).toBeLessThanOrEqual(4)
  })

  it('hold what comes in six hours, so that a hundred times as many events do not make a hundred times as many partitions', async () => {
    const sizes = await sizesForServer(30)
    expect(sizes.length).toBeLessThanOrEqual(9)
    for (const size of sizes) expect(size).toBe(PER_SIX_HOURS)
    expect((await findPartitionReach(harness.deps)).problem).toBeNull()
  })

  it.each([
    { server: 90, project: null },
    { server: 91, project: null },
    { server: 365, project: null },
    { server: 365, project: 30 },
    { server: 30, project: 90 },
    { server: 30, project: 365 },
  ])('are a few hundred at most where the server keeps $server days of events and a project $project', async ({ server, project }) => {
    const settings = project === null ? {} : { retention_days: { events: project } }
    await harness.admin`update projects set settings = ${JSON.stringify(settings)}::text::jsonb where id = ${harness.ctx.actor.projectId}`
    const sizes = await sizesForServer(server)
    await harness.admin`update projects set settings = '{}' where id = ${harness.ctx.actor.projectId}`
    expect(sizes.length).toBeGreaterThan(0)
    const days = Math.max(server, project ?? 0)
    for (const size of sizes) {
      expect(size).toBe(days > 90 ? PER_DAY : PER_SIX_HOURS)
      expect((days * PER_DAY) / size).toBeLessThanOrEqual(365)
    }
  })

  it('stay as they are when they are to hold more from now on', async () => {
    const partitions = () => harness.admin<{ name: string; from_key: number; to_key: number }[]>`select * from muster_system.partitions where parent = 'events'`
    const before = await partitions()
    await sizesForServer(365)
    expect(await partitions()).toEqual(expect.arrayContaining(before.map((partition) => expect.objectContaining(partition))))
  })
})

describe('making partitions', () => {
  it('goes on beside a dump, which reads every table in one long transaction', async () => {
    await harness.admin.begin(async (dump) => {
      await dump`lock table events, steps, subtasks in access share mode`
      await advanceClock(harness.admin, '3 days')
      await maintenance.ensurePartitions(harness.deps.dispatchDb, 30)
    })
    const { stepsSecondsAhead } = await findPartitionReach(harness.deps)
    expect(stepsSecondsAhead).toBeGreaterThan(2 * 86_400)
  })

  it('gives up at once while another change of the tables is under way, and what is written meanwhile does not wait', async () => {
    await harness.admin`update muster_system.clock set shift = '60 days'`
    await harness.admin.begin(async (change) => {
      await change`lock table steps in share update exclusive mode`
      await expect(maintenance.ensurePartitions(harness.deps.dispatchDb, 30)).rejects.toMatchObject({ code: '55P03' })
    })
  })

  it('is logged as an error while they are not ahead, and that ends when they are', async () => {
    expect((await findPartitionReach(harness.deps)).problem).toMatch(/transcripts end 0 seconds ahead/)
    await harness.admin.begin(async (change) => {
      await change`lock table steps in share update exclusive mode`
      await makePartitions(harness.deps)
    })
    expect(harness.log.takeErrors()).toMatchObject([{ message: expect.stringContaining('transcripts end 0 seconds ahead') }])
    await makePartitions(harness.deps)
    expect((await findPartitionReach(harness.deps)).problem).toBeNull()
  })
})

describe('transcripts', () => {
  it('are read from the days of their subtask alone', async () => {
    await resetClock(harness.admin)
    await spawn(harness.ctx, { agentId: 'steps' })
    const run = await claimOne(harness.ctx)
    await harness.admin`
      insert into steps (project_id, subtask_id, seq, attempt, kind, content) values (${run.projectId}, ${run.id}, 1, 1, 'message', '"first"')`
    await settleOne(harness.ctx, run)
    const [all] = await harness.admin<{ count: number }[]>`select count(*)::int as count from muster_system.partitions where parent = 'steps'`
    expect(all?.count).toBeGreaterThanOrEqual(12)
    expect((await listSteps(harness.ctx, run.id, { limit: 10 })).items).toHaveLength(1)
    const locked = await lockedBy(() => listSteps(harness.ctx, run.id, { limit: 10 }))
    expect(locked.filter((name) => name.startsWith('steps_')).length).toBeLessThanOrEqual(4)
  })
})
