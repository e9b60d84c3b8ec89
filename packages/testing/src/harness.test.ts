import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { advanceClock, drain, drainOutbox, type Harness, invariants, resetClock, spawnMany, startHarness } from './index.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterAll(() => harness.close())

describe('a harness', () => {
  it('runs subtasks from spawn to end, and every invariant holds', async () => {
    const other = await harness.projectCtx()
    await spawnMany(harness.ctx, 5, { parentSessionId: 'parent' })
    await spawnMany(other, 4, { runner: 'external' })

    expect(await invariants(harness.admin)).toEqual([])
    expect(await drain(harness.ctx, other)).toBe(9)
    expect(await invariants(harness.admin)).toEqual([])
    await drainOutbox(harness.deps)
    expect(await invariants(harness.admin)).toEqual([])
  })

  it('has a database that no other harness sees', async () => {
    const other = await startHarness()

    expect(await other.admin`select from subtasks`).toHaveLength(0)
    await other.close()
  })

  it('moves the clock of its own database', async () => {
    const shift = async () =>
      (await harness.deps.db.sql<{ minutes: number }[]>`select extract(epoch from muster_now() - clock_timestamp())::int / 60 as minutes`)[0]?.minutes

    await advanceClock(harness.admin, '3 hours')
    await advanceClock(harness.admin, '-1 hour')
    expect(await shift()).toBe(120)
    await resetClock(harness.admin)
    expect(await shift()).toBe(0)
  })

  it('fails a file that logs an error which nobody expected', async () => {
    const other = await startHarness()
    other.log.error({}, 'the sky has fallen')

    await expect(other.close()).rejects.toThrow('the sky has fallen')
  })
})

describe('invariants', () => {
  /** Breaks something in a copy of its own, and answers which claims are then broken. */
  async function claimsBrokenBy(statement: (id: string) => string): Promise<string> {
    const broken = await startHarness()
    const [first] = await spawnMany(broken.ctx, 4, { parentSessionId: 'parent' })
    await drain(broken.ctx)
    await drainOutbox(broken.deps)
    await spawnMany(broken.ctx, 4)
    await broken.admin.unsafe(statement(first?.id ?? ''))
    const problems = await invariants(broken.admin)
    await broken.close()
    return problems.join('\n')
  }

  it.each([
    [
      'a terminal event is missing',
      (id: string) => `delete from events where subject_id = '${id}' and type = 'subtask.completed'`,
      /exactly one terminal event/,
    ],
    ['an inbox item is missing', (id: string) => `delete from inbox where subtask_id = '${id}'`, /exactly one inbox item/],
    ['a job is missing', () => `delete from pgboss.job where state = 'created'`, /has a waiting job/],
    ['a job is active too early', () => `update pgboss.job set state = 'active' where name like 'run.%'`, /an active job has a running subtask/],
    ['a job is left over', () => `update subtasks set job_id = '${randomUUID()}' where slot`, /a waiting job is the job of a subtask/],
    [
      'a slot was not passed on',
      () => `update subtasks set slot = false, slot_at = null, job_id = null where slot`,
      /nothing waits while its lane has a free permit/,
    ],
    [
      'a slot too many was granted',
      () => `update subtasks set slot = true, job_id = gen_random_uuid() where status = 'pending' and not slot`,
      /at most as many slots/,
    ],
    ['an attempt is open', (id: string) => `update attempts set ended_at = null where subtask_id = '${id}'`, /the only open one/],
  ])('say so when %s', async (_, statement, claim) => {
    expect(await claimsBrokenBy(statement)).toMatch(claim)
  })

  it('refuse to look with the eyes of a login that does not see everything', async () => {
    await expect(invariants(harness.deps.db.sql)).rejects.toThrow(/row-level security/)
  })
})
