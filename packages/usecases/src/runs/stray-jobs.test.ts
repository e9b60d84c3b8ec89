import { createBoss, runQueue } from '@muster/jobs'
import { type Harness, invariants, spawn, startHarness } from '@muster/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cancelSubtask, claimSubtask } from '../index.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const REQUEST = { runner: 'external', workerId: 'outside', leaseSeconds: 60 }

it('a job whose row was cancelled while a claim had it in its hands is removed by the next claim over HTTP, and hides nothing', async () => {
  const { ctx } = harness
  const gone = await spawn(ctx, { runner: 'external', priority: 'urgent' })
  await cancelSubtask(ctx, gone.id)
  // What is left of such a claim when it is broken off: cancelling had to leave the job to it.
  const boss = createBoss(ctx.dispatchDb, { supervise: false, onError: () => {}, onWarning: () => {} })
  const leaveJob = () => boss.insert(runQueue('external', ctx.actor.projectId), [{ data: { project_id: ctx.actor.projectId, id: gone.id } }])
  await leaveJob()
  expect(await claimSubtask(ctx, REQUEST)).toBeNull()
  expect(await invariants(harness.admin)).toEqual([])

  await leaveJob()
  const waiting = await spawn(ctx, { runner: 'external' })
  const claimed = await claimSubtask(ctx, REQUEST)
  expect(claimed?.subtask.id).toBe(waiting.id)
  expect(await invariants(harness.admin)).toEqual([])
})
