import { setTimeout as sleep } from 'node:timers/promises'
import { claimOne, type Harness, spawn, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { deleteExpired } from '../index.ts'
import { MAINTENANCE, reaperPace, refreshStatistics, startMaintenance } from './maintenance.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
  // Autovacuum would take the statistics of these tables at any moment.
  await harness.admin`alter table attempts set (autovacuum_enabled = false)`
  await harness.admin`alter table outbox set (autovacuum_enabled = false)`
})

afterAll(() => harness.close())

describe('keeping house', () => {
  it('tells the planner of a table that has grown, also as a role that does not own it', async () => {
    await harness.admin`
      insert into idempotency_keys (project_id, actor_id, key, request_hash, status, headers)
      values (${harness.ctx.actor.projectId}, 'somebody', 'old', '\\x00', 202, '{}')`
    const grow = async (rows: number) => {
      await harness.admin`
        insert into attempts (project_id, subtask_id, attempt, worker_id)
        select ${harness.ctx.actor.projectId}, gen_random_uuid(), 1, 'w' from generate_series(1, ${rows}::int)`
      // What a session has changed reaches the statistics when it says so.
      await harness.admin`select pg_stat_force_next_flush()`
    }
    const known = async () => (await harness.admin<{ rows: number }[]>`select reltuples::int as rows from pg_class where relname = 'attempts'`)[0]?.rows
    await grow(1_000)
    expect(await known()).toBe(-1)
    await refreshStatistics(harness.deps)
    expect(await known()).toBe(1_000)
    // Not before as many rows have changed as there were.
    await grow(900)
    await refreshStatistics(harness.deps)
    expect(await known()).toBe(1_000)
    await grow(200)
    await refreshStatistics(harness.deps)
    expect(await known()).toBe(2_100)
    await harness.admin`delete from attempts`
  })

  it('leaves the statistics of a queue alone that is nearly empty, because all plans that use it would be made again', async () => {
    await harness.admin`
      insert into outbox (project_id, type, subject_kind, subject_id, data, actor_kind, actor_id)
      select ${harness.ctx.actor.projectId}, 'subtask.created', 'subtask', gen_random_uuid(), '{}', 'system', 'test' from generate_series(1, 300)`
    await harness.admin`delete from outbox`
    await harness.admin`select pg_stat_force_next_flush()`
    const [queue] = await harness.admin`select n_mod_since_analyze > 200 as churned from pg_stat_user_tables where relname = 'outbox'`
    expect(queue).toEqual({ churned: true })
    await refreshStatistics(harness.deps)
    const [after] = await harness.admin`select reltuples::int as rows from pg_class where relname = 'outbox'`
    expect(after).toEqual({ rows: -1 })
  })

  it('changes nothing that is in use', async () => {
    const subtask = await spawn(harness.ctx)
    await deleteExpired(harness.deps)
    await deleteExpired(harness.deps)
    expect((await harness.admin`select from subtasks where id = ${subtask.id}`).length).toBe(1)
    expect((await harness.admin`select from idempotency_keys`).length).toBe(1)
  })

  it('writes nothing while no subtask runs, and checks writes within a second of the start of the first', async () => {
    const failures: unknown[] = []
    const loops = MAINTENANCE.map((task) => startMaintenance(harness.deps, task, (error) => failures.push(error)))
    const writtenAt = async () => (await harness.admin<{ at: string }[]>`select at::text as at from muster_system.write_check`)[0]?.at
    try {
      const idle = await writtenAt()
      await sleep(2_500)
      expect(await writtenAt()).toBe(idle)
      await spawn(harness.ctx)
      await claimOne(harness.ctx, { workerId: 'outside' })
      await vi.waitFor(async () => expect(await writtenAt()).not.toBe(idle), 1_500)
    } finally {
      await Promise.all(loops.map((loop) => loop.stop()))
    }
    expect(failures).toEqual([])
  })

  it('looks for lost runs the less often, the more live workers come before this process', async () => {
    const paceOf = async (workerId?: string) => {
      // The process shares what it has found a moment ago.
      await sleep(300)
      return await reaperPace({ ...harness.deps, ...(workerId !== undefined && { workerId }) })
    }
    expect(await paceOf()).toBe(250)
    await harness.admin`insert into muster_system.workers (id, runners, slots, seen_at) select n::text, '{}', 1, muster_now() + interval '1 minute' from generate_series(1, 9) as n`
    try {
      expect([await paceOf('1'), await paceOf('2'), await paceOf('3'), await paceOf('9'), await paceOf()]).toEqual([250, 500, 1_000, 1_000, 1_000])
      await harness.admin`update muster_system.workers set seen_at = muster_now() - interval '2 seconds' where id <> '9'`
      expect([await paceOf('9'), await paceOf()]).toEqual([250, 500])
    } finally {
      await harness.admin`delete from muster_system.workers`
    }
  })
})
