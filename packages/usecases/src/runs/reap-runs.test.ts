import {
  advanceClock,
  allEvents,
  claimAll,
  claimOne,
  completed,
  drain,
  drainOutbox,
  type Harness,
  invariants,
  readSubtaskRow,
  resetClock,
  settleOne,
  spawn,
  startHarness,
} from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  beatWorker,
  cancelSubtask,
  checkWrites,
  claimSubtask,
  getSubtask,
  holdWorkerLock,
  passIdlePermits,
  reapRuns,
  removeWorker,
  renewLeases,
  WriteWatch,
} from '../index.ts'

let harness: Harness
let names = 0

beforeAll(async () => {
  harness = await startHarness({ settings: { SUBTASK_LEASE_SECONDS: '2' } })
  // Lapsed leases count only once the server has been up for a whole lease.
  await vi.waitFor(async () => {
    const [row] = await harness.admin<{ up: boolean }[]>`select clock_timestamp() - pg_postmaster_start_time() > interval '2.1 seconds' as up`
    expect(row?.up).toBe(true)
  }, 5_000)
})

afterEach(async () => {
  await resetClock(harness.admin)
  await drain(harness.ctx)
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

function newName(): string {
  names += 1
  return `name-${names}`
}

async function running(input: Parameters<typeof spawn>[1] = {}, workerId = 'outside') {
  await spawn(harness.ctx, { agentId: newName(), ...input })
  return await claimOne(harness.ctx, { workerId })
}

describe('a lapsed lease', () => {
  it('returns its subtask to the queue as a failure, and the late holder changes nothing', async () => {
    const run = await running()
    await advanceClock(harness.admin, '29 seconds')
    expect(await reapRuns(harness.deps)).toBe(0)
    await advanceClock(harness.admin, '2 seconds')
    expect(await reapRuns(harness.deps)).toBe(1)

    expect(await readSubtaskRow(harness.admin, run.id)).toMatchObject({ status: 'pending', slot: true, failures: 1, worker_id: null })
    expect(await settleOne(harness.ctx, run, completed('too late'))).toBe('fenced')
    const again = await claimOne(harness.ctx)
    expect(again).toMatchObject({ id: run.id, attempt: 2, feedback: null })
    await settleOne(harness.ctx, again)
  })

  it('is no longer taken once it has been renewed, even after it had lapsed', async () => {
    const run = await running()
    await advanceClock(harness.admin, '31 seconds')
    expect(await renewLeases(harness.deps, [{ subtaskId: run.id, attempt: 1 }])).toEqual([
      { subtaskId: run.id, attempt: 1, cancelRequested: false, updateSeq: 0 },
    ])
    expect(await reapRuns(harness.deps)).toBe(0)
    expect(await settleOne(harness.ctx, run)).toBe('settled')
  })

  it('cannot be renewed by whoever has lost it', async () => {
    const run = await running()
    await advanceClock(harness.admin, '31 seconds')
    await reapRuns(harness.deps)
    expect(await renewLeases(harness.deps, [{ subtaskId: run.id, attempt: 1 }])).toEqual([])
  })

  it('counts for nothing until the server has been up for a whole lease', async () => {
    const run = await running()
    await advanceClock(harness.admin, '31 seconds')
    const patient = { ...harness.deps, settings: { ...harness.deps.settings, SUBTASK_LEASE_SECONDS: 86_400 } }
    expect(await reapRuns(patient)).toBe(0)
    expect(await settleOne(harness.ctx, run)).toBe('settled')
  })

  it('ends a subtask as cancelled that was to be cancelled', async () => {
    const run = await running()
    await cancelSubtask(harness.ctx, run.id)
    await advanceClock(harness.admin, '31 seconds')
    await reapRuns(harness.deps)
    expect(await getSubtask(harness.ctx, run.id)).toMatchObject({ status: 'cancelled', finalOutcome: 'cancelled' })
  })

  it('fails a subtask for good that loses every worker it is given', async () => {
    const run = await running({ maxAttempts: 3, parentSessionId: 'lost' })
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await advanceClock(harness.admin, '31 seconds')
      expect(await reapRuns(harness.deps)).toBe(1)
      if (attempt < 3) expect((await claimOne(harness.ctx)).attempt).toBe(attempt + 1)
    }
    expect(await getSubtask(harness.ctx, run.id)).toMatchObject({ status: 'failed', finalOutcome: 'worker_lost', failures: 3, attempt: 3 })
    expect(await claimAll(harness.ctx)).toEqual([])
  })
})

describe('a lost subtask that cannot be written', () => {
  it('keeps no other from being taken, and is taken once it can be', async () => {
    const runs = [await running(), await running(), await running()]
    const poisoned = runs[1]?.id as string
    await harness.admin.unsafe(`
      create function boom() returns trigger language plpgsql as $$ begin raise exception 'boom' using errcode = '22023'; end $$;
      create trigger boom before update on subtasks for each row when (new.id = '${poisoned}' and new.status = 'pending') execute function boom()`)
    await advanceClock(harness.admin, '31 seconds')
    expect(await reapRuns(harness.deps)).toBe(2)
    expect(harness.log.takeErrors()).toMatchObject([{ message: 'could not take a lost subtask; it is tried again' }])
    expect(await readSubtaskRow(harness.admin, poisoned)).toMatchObject({ status: 'running', failures: 0 })
    await harness.admin.unsafe('drop trigger boom on subtasks; drop function boom')
    expect(await reapRuns(harness.deps)).toBe(1)
    expect(await readSubtaskRow(harness.admin, poisoned)).toMatchObject({ status: 'pending', failures: 1 })
  })
})

/** A worker of ours: registered, with its session's lock. */
async function registeredWorker() {
  const id = newName()
  const connection = await harness.deps.dispatchDb.sql.reserve()
  const beat = () => beatWorker(connection, { id, runners: ['own'], capacity: 2, version: '1', host: 'h', pid: 1 }, false)
  const { lockKey } = await beat()
  expect(await holdWorkerLock(connection, lockKey)).toBe(true)
  return {
    id,
    beat,
    /** As when its process dies: the session's lock is free at once. */
    async die() {
      await connection`select pg_advisory_unlock_all()`
      connection.release()
    },
  }
}

describe('a worker that is gone', () => {
  it('loses its subtasks within two seconds, long before their leases lapse', async () => {
    const worker = await registeredWorker()
    const run = await running({}, worker.id)
    await worker.die()
    expect(await reapRuns(harness.deps)).toBe(0)
    await advanceClock(harness.admin, '1.3 seconds')
    expect(await reapRuns(harness.deps)).toBe(1)
    expect(await readSubtaskRow(harness.admin, run.id)).toMatchObject({ status: 'pending', failures: 1 })
    await removeWorker(harness.deps, worker.id)
  })

  it('keeps them while its session lives, however long it was silent', async () => {
    const worker = await registeredWorker()
    const run = await running({}, worker.id)
    await advanceClock(harness.admin, '20 seconds')
    expect(await reapRuns(harness.deps)).toBe(0)
    expect(await settleOne(harness.ctx, run)).toBe('settled')
    await worker.die()
    await removeWorker(harness.deps, worker.id)
  })

  it('keeps them while it was seen lately, although its connection broke', async () => {
    const worker = await registeredWorker()
    const run = await running({}, worker.id)
    await advanceClock(harness.admin, '20 seconds')
    await worker.beat()
    await worker.die()
    expect(await reapRuns(harness.deps)).toBe(0)
    expect(await settleOne(harness.ctx, run)).toBe('settled')
    await removeWorker(harness.deps, worker.id)
  })

  it('keeps them when it was PostgreSQL that went: nobody was seen since its start', async () => {
    const worker = await registeredWorker()
    const run = await running({}, worker.id)
    await worker.die()
    await harness.admin`update muster_system.workers set seen_at = pg_postmaster_start_time() - interval '1 second' where id = ${worker.id}`
    expect(await reapRuns(harness.deps)).toBe(0)
    expect(await settleOne(harness.ctx, run)).toBe('settled')
    await removeWorker(harness.deps, worker.id)
  })

  it('loses each of them once, although their leases have lapsed as well', async () => {
    const worker = await registeredWorker()
    const ending = await running({ maxAttempts: 1, parentSessionId: 'twice' }, worker.id)
    const returning = await running({ maxAttempts: 2 }, worker.id)
    await worker.die()
    await advanceClock(harness.admin, '31 seconds')
    // Seen since the server started, as far as a clock that was moved can tell.
    await harness.admin`update muster_system.workers set seen_at = muster_now() - interval '2 seconds' where id = ${worker.id}`
    expect(await reapRuns(harness.deps)).toBe(2)

    await drainOutbox(harness.deps)
    expect((await allEvents(harness.ctx, ending.id)).map((event) => event.type)).toEqual(['subtask.created', 'subtask.started', 'subtask.failed'])
    expect((await allEvents(harness.ctx, returning.id)).map((event) => event.type)).toEqual(['subtask.created', 'subtask.started', 'subtask.retrying'])
    expect(await invariants(harness.admin)).toEqual([])
    await removeWorker(harness.deps, worker.id)
  })
})

describe('the time of an attempt', () => {
  it('has run out: a live worker that holds it for longer than timeout and grace loses it as timed out, and it is tried no more', async () => {
    const worker = await registeredWorker()
    const run = await running({ timeoutSeconds: 10 }, worker.id)
    await advanceClock(harness.admin, '11 seconds')
    expect(await reapRuns(harness.deps)).toBe(0)
    await advanceClock(harness.admin, '5 seconds')
    expect(await reapRuns(harness.deps)).toBe(1)
    expect(await getSubtask(harness.ctx, run.id)).toMatchObject({ finalOutcome: 'timed_out', failures: 0, attempt: 1, lostMs: 0 })
    await worker.die()
    await removeWorker(harness.deps, worker.id)
  })

  it('cannot be made longer by renewing the lease', async () => {
    const worker = await registeredWorker()
    const run = await running({ timeoutSeconds: 10 }, worker.id)
    await advanceClock(harness.admin, '14 seconds')
    await renewLeases({ ...harness.deps, settings: { ...harness.deps.settings, SUBTASK_LEASE_SECONDS: 3600 } }, [{ subtaskId: run.id, attempt: 1 }])
    await advanceClock(harness.admin, '2 seconds')
    expect(await reapRuns(harness.deps)).toBe(1)
    expect((await getSubtask(harness.ctx, run.id)).finalOutcome).toBe('timed_out')
    await worker.die()
    await removeWorker(harness.deps, worker.id)
  })

  it('runs out for an outside worker whose lease would still be valid', async () => {
    const run = await claimedOutside({ timeoutSeconds: 10 }, 3600)
    await advanceClock(harness.admin, '16 seconds')
    expect(await reapRuns(harness.deps)).toBe(1)
    expect(await getSubtask(harness.ctx, run.id)).toMatchObject({ finalOutcome: 'timed_out', attempt: 1 })
  })

  it('is not what an outage takes: an outside worker whose lease has lapsed meanwhile was lost, however long ago its timeout was', async () => {
    const run = await claimedOutside({ timeoutSeconds: 10 }, 30)
    await advanceClock(harness.admin, '100 seconds')
    expect(await reapRuns(harness.deps)).toBe(1)
    expect(await readSubtaskRow(harness.admin, run.id)).toMatchObject({ status: 'pending', attempt: 1, failures: 1 })
  })

  it.each([
    ['with its connection', async (worker: Awaited<ReturnType<typeof registeredWorker>>) => await worker.die()],
    [
      'and had signed off before',
      async (worker: Awaited<ReturnType<typeof registeredWorker>>) => {
        await worker.die()
        await removeWorker(harness.deps, worker.id)
      },
    ],
    [
      'while PostgreSQL was away',
      async (worker: Awaited<ReturnType<typeof registeredWorker>>) => {
        await worker.die()
        await harness.admin`update muster_system.workers set seen_at = pg_postmaster_start_time() - interval '1 second' where id = ${worker.id}`
      },
    ],
  ])('does not count once its worker is gone %s: retried, and the time that was lost is noted apart', async (_, goes) => {
    const worker = await registeredWorker()
    const run = await running({ timeoutSeconds: 10 }, worker.id)
    await goes(worker)
    // Timeout and grace have passed; its lease of 30 s has not.
    await advanceClock(harness.admin, '25 seconds')
    expect(await reapRuns(harness.deps)).toBe(1)
    expect(await readSubtaskRow(harness.admin, run.id)).toMatchObject({ status: 'pending', failures: 1, attempt: 1 })
    const [attempt] = await harness.admin<{ outcome: string; ran_ms: number; lost_ms: number }[]>`
      select outcome, (extract(epoch from ended_at - started_at) * 1000)::int - lost_ms as ran_ms, lost_ms from attempts where subtask_id = ${run.id}`
    expect(attempt?.outcome).toBe('lost')
    expect(attempt?.ran_ms).toBeLessThan(15_000)
    expect(attempt?.lost_ms).toBeGreaterThan(15_000)
    const again = await claimOne(harness.ctx)
    await settleOne(harness.ctx, again)
    expect((await getSubtask(harness.ctx, run.id)).lostMs).toBe(attempt?.lost_ms)
    await removeWorker(harness.deps, worker.id)
  })
})

/** Claimed as over HTTP: its lease token proves the lease. */
async function claimedOutside(input: Parameters<typeof spawn>[1], leaseSeconds: number) {
  const { id } = await spawn(harness.ctx, { agentId: newName(), runner: 'external', ...input })
  const claimed = await claimSubtask(harness.ctx, { runner: 'external', workerId: 'outside', leaseSeconds })
  expect(claimed?.subtask.id).toBe(id)
  return { id }
}

describe('a database that took no writes for a while', () => {
  it('is given time once it takes them again: a moment for workers to be seen, a whole lease for leases', async () => {
    let nowMs = 0
    const writes = new WriteWatch(() => nowMs)
    const deps = { ...harness.deps, writes }
    const worker = await registeredWorker()
    const ofGone = await running({}, worker.id)
    const lapsed = await running()
    await worker.die()
    await advanceClock(harness.admin, '31 seconds')
    await harness.admin`update muster_system.workers set seen_at = muster_now() - interval '2 seconds' where id = ${worker.id}`
    // Not known yet, as after the start of a process.
    expect(await reapRuns(deps)).toBe(0)
    writes.succeeded()
    expect(await reapRuns(deps)).toBe(0)
    nowMs += 60_000
    writes.failed()
    expect(await reapRuns(deps)).toBe(0)
    writes.succeeded()
    nowMs += 2_000
    // The lease of this harness is 2 s, and so as long as the moment.
    const longLeases = { ...deps, settings: { ...deps.settings, SUBTASK_LEASE_SECONDS: 3 } }
    expect(await reapRuns(longLeases)).toBe(1)
    expect(await readSubtaskRow(harness.admin, ofGone.id)).toMatchObject({ status: 'pending', failures: 1 })
    expect(await readSubtaskRow(harness.admin, lapsed.id)).toMatchObject({ status: 'running', failures: 0 })
    nowMs += 1_000
    expect(await reapRuns(longLeases)).toBe(1)
    expect(await readSubtaskRow(harness.admin, lapsed.id)).toMatchObject({ status: 'pending', failures: 1 })
    await removeWorker(harness.deps, worker.id)
  })

  it('is found out by a write that needs room, and by one that has to be logged', async () => {
    const writes = new WriteWatch(() => 1_000)
    await checkWrites({ dispatchDb: harness.deps.dispatchDb, writes })
    const [before] = await harness.admin<{ at: string; pages: number }[]>`
      select at, pg_relation_size('muster_system.write_check') / 8192 as pages from muster_system.write_check`
    for (let round = 0; round < 50; round += 1) await checkWrites({ dispatchDb: harness.deps.dispatchDb, writes })
    const [after] = await harness.admin<{ at: string; pages: number }[]>`
      select at, pg_relation_size('muster_system.write_check') / 8192 as pages from muster_system.write_check`
    expect(after?.at).not.toBe(before?.at)
    // It leaves nothing behind.
    expect(after?.pages).toBeLessThanOrEqual(2)
    // PostgreSQL counts the files of a session a little later.
    const roomTaken = async () => Number((await harness.admin`select temp_bytes from pg_stat_database where datname = current_database()`)[0]?.temp_bytes)
    const taken = await roomTaken()
    await vi.waitFor(async () => {
      await checkWrites({ dispatchDb: harness.deps.dispatchDb, writes })
      expect((await roomTaken()) - taken).toBeGreaterThan(100_000)
    }, 10_000)
  })
})

describe('several reapers at once', () => {
  it('take each lost subtask once', async () => {
    for (let lane = 0; lane < 10; lane += 1) await running()
    await advanceClock(harness.admin, '31 seconds')
    const reaped = await Promise.all(Array.from({ length: 8 }, () => reapRuns(harness.deps)))
    expect(reaped.reduce((sum, count) => sum + count, 0)).toBe(10)
  })
})

describe('a slot that nobody claims', () => {
  it('passes to the best waiting subtask of another runner after five seconds, and can come back', async () => {
    const agentId = newName()
    const unserved = []
    for (let place = 0; place < 3; place += 1) unserved.push(await spawn(harness.ctx, { agentId, runner: 'external' }))
    const [low, normal] = [await spawn(harness.ctx, { agentId, priority: 'low' }), await spawn(harness.ctx, { agentId })]
    expect(await passIdlePermits(harness.deps)).toBe(0)
    expect(await claimAll(harness.ctx)).toEqual([])

    await advanceClock(harness.admin, '6 seconds')
    const passed = await passIdlePermits(harness.deps)
    expect(passed).toBe(2)
    expect(await invariants(harness.admin)).toEqual([])
    const runs = await claimAll(harness.ctx)
    expect(runs.map((run) => run.id)).toEqual([normal.id, low.id])
    for (const run of runs) await settleOne(harness.ctx, run)
    expect((await claimAll(harness.ctx, { runners: ['external'] })).map((run) => run.id).sort()).toEqual(unserved.map((subtask) => subtask.id).sort())
  })

  it('stays where it is when only its own runner waits', async () => {
    const agentId = newName()
    for (let place = 0; place < 5; place += 1) await spawn(harness.ctx, { agentId, runner: 'external' })
    await advanceClock(harness.admin, '6 seconds')
    expect(await passIdlePermits(harness.deps)).toBe(0)
  })
})
