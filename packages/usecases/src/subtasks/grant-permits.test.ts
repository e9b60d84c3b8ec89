import { claimOne, drain, drainOutbox, type Harness, invariants, readSubtaskRow, settleOne, spawn, spawnMany, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { grantMissedPermits } from './grant-permits.ts'

describe('a waiting subtask that was locked while a slot was given on', () => {
  let harness: Harness
  beforeAll(async () => {
    harness = await startHarness({ settings: { SUBTASK_MAX_CONCURRENT: '1' } })
  })
  afterAll(() => harness.close())

  it('gets its slot afterwards, and nothing else is given away', async () => {
    const { ctx, admin } = harness
    await spawn(ctx, { agentId: 'a' })
    const run = await claimOne(ctx)
    const waiting = await spawn(ctx, { agentId: 'a' })
    const [, full] = await spawnMany(ctx, 2, { agentId: 'full' })
    await admin.begin(async (tx) => {
      await tx`select from subtasks where id = ${waiting.id} for update`
      await settleOne(ctx, run)
    })
    expect(await readSubtaskRow(admin, waiting.id)).toMatchObject({ status: 'pending', slot: false })

    expect(await grantMissedPermits(ctx)).toBe(1)
    expect(await readSubtaskRow(admin, waiting.id)).toMatchObject({ status: 'pending', slot: true })
    expect(await readSubtaskRow(admin, full?.id as string)).toMatchObject({ status: 'pending', slot: false })
    expect(await grantMissedPermits(ctx)).toBe(0)

    await drain(ctx)
    await drainOutbox(ctx)
    expect(await invariants(admin, { runningPerAgent: 1 })).toEqual([])
  })
})
