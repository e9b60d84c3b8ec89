import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { advanceClock, readScheduleRow, readSlots, resetClock, type StoredSchedule, storeSchedules, waitUntilBlocked } from '@muster/testing'
import type postgres from 'postgres'
import { describe, expect, it } from 'vitest'
import { startOwnPostgres } from './harness/own-postgres.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'

const MANY = { SUBTASK_MAX_PENDING: '1000', SUBTASK_MAX_CONCURRENT: '1000' }
const COUNT = 1_000
const AGENTS = 200
const agentOf = (place: number) => `agent-${String(place % AGENTS).padStart(3, '0')}`

/** Stores schedules of many agents that are due in the same second. Nobody here runs what they make: that is tried elsewhere. */
async function storeMany(system: System, dueInMs: number): Promise<void> {
  await store(
    system,
    Array.from({ length: COUNT }, (_, place) => ({ agentId: agentOf(place), runner: 'external', dueInMs })),
  )
}

/** Stores schedules, and tells the workers as creating them does. */
async function store(system: System, schedules: readonly StoredSchedule[]): Promise<string[]> {
  const ids = await storeSchedules(system.admin, schedules)
  await system.admin`select pg_notify('muster_schedule', '')`
  return ids
}

/** Holds the lanes of the later agents, so that whoever fires their schedules stays half-way in its transaction. */
async function holdLanes(admin: postgres.Sql): Promise<() => Promise<void>> {
  const agents = Array.from({ length: AGENTS }, (_, place) => agentOf(place)).slice(80)
  const connection = await admin.reserve()
  await connection`begin`
  await connection`select pg_advisory_xact_lock(hashtextextended(${DEFAULT_PROJECT_ID} || '/' || agent, 0)) from unnest(${agents}::text[]) as agent`
  return async () => {
    await connection`commit`
    connection.release()
  }
}

async function countSlots(admin: postgres.Sql): Promise<number> {
  const [row] = await admin<{ count: number }[]>`select count(*)::int as count from schedule_slots`
  return row?.count ?? 0
}

/** A thousand slots, a thousand subtasks, one for each schedule, and everything agrees. */
async function expectEachOnce(system: System): Promise<void> {
  await until('all have fired', async () => (await countSlots(system.admin)) >= COUNT, 30_000)
  const [made] = await system.admin<{ slots: number; schedules: number; subtasks: number; scheduled: number }[]>`
    select (select count(*)::int from schedule_slots where outcome = 'fired') as slots,
      (select count(distinct schedule_id)::int from schedule_slots) as schedules,
      (select count(*)::int from subtasks) as subtasks, (select count(distinct schedule_id)::int from subtasks) as scheduled`
  expect(made).toEqual({ slots: COUNT, schedules: COUNT, subtasks: COUNT, scheduled: COUNT })
  expect(await system.admin`select from schedules where state <> 'finished' or fire_count <> 1`).toHaveLength(0)
  expect(await system.invariants()).toEqual([])
}

describe('1,000 schedules of 200 agents that are due in the same second', () => {
  it('fire once each over three workers, one of which is killed half-way', async () => {
    const system = await startSystem({ workers: 3, env: MANY })
    const letGo = await holdLanes(system.admin)
    await storeMany(system, 1_000)
    await until('some have fired', async () => (await countSlots(system.admin)) > 0)
    await waitUntilBlocked(system.admin, 1)
    await system.workers[0]?.child.end('SIGKILL')
    expect(await countSlots(system.admin)).toBeLessThan(COUNT)
    await letGo()
    await expectEachOnce(system)
    await system.close()
  })

  it('fire once each when PostgreSQL is killed half-way and comes back', async () => {
    const { server, database } = await startOwnPostgres()
    const system = await startSystem({ workers: 3, database, env: { ...MANY, SCHEDULE_CHECK_INTERVAL: '1' } })
    const letGo = await holdLanes(system.admin)
    await storeMany(system, 1_000)
    await until('some have fired', async () => (await countSlots(system.admin)) > 0)
    await waitUntilBlocked(system.admin, 1)
    await server.stop('immediate')
    // Its connection is gone, and the locks with it.
    await letGo().catch(() => {})
    await server.restart('immediate')
    await until('the database is back', async () => (await system.admin`select 1`).length === 1)
    await expectEachOnce(system)
    await system.close()
  })
})

describe('a worker', () => {
  it('wakes when a schedule is due, of which it has heard by a bell alone', async () => {
    const system = await startSystem({ workers: 2, env: { SCHEDULE_CHECK_INTERVAL: '3600' } })
    const [id = ''] = await store(system, [{ runner: 'act', dueInMs: 1_500, parentSessionId: 'chat' }])
    const fired = await until('it has fired', async () => (await readSlots(system.admin, id))[0]?.subtaskId)
    expect(await system.client.ended(fired)).toMatchObject({ status: 'completed', agent_id: 'default' })
    expect(await system.client.inbox('chat')).toMatchObject([{ subtask_id: fired, status: 'completed' }])
    await system.close()
  })

  it('fires a slot that waits for room as soon as something of its agent has started', async () => {
    const system = await startSystem({ env: { SCHEDULE_CHECK_INTERVAL: '3600', SUBTASK_MAX_PENDING: '1', SUBTASK_MAX_CONCURRENT: '1' } })
    const running = await system.client.spawn({ task: 'Hold on.', runner: 'hold' })
    await system.ledger.written(running.id, 'start')
    const pending = await system.client.spawn({ task: 'Hold on too.', runner: 'hold' })
    const [id = ''] = await store(system, [{ runner: 'act' }])
    await until('it waits', async () => (await readSlots(system.admin, id))[0]?.outcome === 'waiting')
    system.ledger.release(running.id)
    await system.ledger.written(pending.id, 'start')
    const fired = await until('it has fired', async () => (await readSlots(system.admin, id))[0]?.subtaskId)
    expect(await system.client.get(fired)).toMatchObject({ status: 'pending' })
    system.ledger.release(pending.id)
    expect(await system.client.ended(fired)).toMatchObject({ status: 'completed' })
    expect(await readScheduleRow(system.admin, id)).toMatchObject({ state: 'finished', fire_count: 1 })
    await system.close()
  })

  it('writes down ten slots that it has missed, and makes up for them as their schedule says', async () => {
    const system = await startSystem({ env: { SCHEDULE_CHECK_INTERVAL: '1' } })
    const timing = { kind: 'interval', seconds: 60, anchorAt: '' } as const
    const due = { timing, runner: 'act', graceSeconds: 15, dueInMs: 30_000 }
    const [skip = '', once = ''] = await storeSchedules(system.admin, [
      { ...due, missed: 'skip' },
      { ...due, agentId: 'another', missed: 'run_once' },
    ])
    await advanceClock(system.admin, '10 minutes')
    const outcomesOf = async (id: string) => (await readSlots(system.admin, id)).map(({ outcome }) => outcome)
    await until('all have their rows', async () => (await outcomesOf(skip)).length >= 10 && (await outcomesOf(once)).length >= 10)
    expect(await outcomesOf(skip)).toEqual(Array(10).fill('skipped_missed'))
    expect(await outcomesOf(once)).toEqual([...Array(9).fill('skipped_missed'), 'fired'])
    // The clock goes back to where it was: what has been does not come again.
    await resetClock(system.admin)
    const [later = ''] = await store(system, [{ runner: 'act', agentId: 'later' }])
    await until('another one has fired since', async () => (await readSlots(system.admin, later)).length === 1)
    expect(await outcomesOf(once)).toHaveLength(10)
    await system.close()
  })

  it('that is told to stop finishes the transaction that it is in, and leaves the rest to others', async () => {
    const system = await startSystem({ workers: 1, env: MANY })
    const letGo = await holdLanes(system.admin)
    await storeMany(system, 0)
    await waitUntilBlocked(system.admin, 1)
    const ended = system.workers[0]?.child.end('SIGTERM')
    await system.workers[0]?.child.line('stopping')
    await letGo()
    expect(await ended).toEqual({ code: 0, signal: null })
    expect(await system.invariants()).toEqual([])
    await system.startWorker()
    await expectEachOnce(system)
    await system.close()
  })
})
