import { transaction } from '@muster/db'
import { claimAll, claimOne, type Harness, spawn, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBoss, runQueue } from './index.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterAll(() => harness.close())

describe('a job that is inserted for its row', () => {
  it('is the one that pg-boss itself would insert', async () => {
    const subtask = await spawn(harness.ctx)
    const projectId = harness.ctx.actor.projectId
    const [row] = (await harness.admin`select job_id, rank_at from subtasks where id = ${subtask.id}`) as unknown as [{ job_id: string; rank_at: Date }]
    const [ownId, twinId] = [row.job_id, harness.deps.newId()]
    const boss = createBoss(harness.deps.dispatchDb, { supervise: false, onError: () => {}, onWarning: () => {} })
    const priority = -Math.floor(row.rank_at.getTime() / 1_000)
    await boss.insert(runQueue('own', projectId), [{ id: twinId, data: { project_id: projectId, id: subtask.id }, priority }])

    const jobs = await harness.admin`
      select *, keep_until - created_on as kept_for, created_on = start_after as starts_at_once from pgboss.job where id in (${ownId}, ${twinId})`
    const comparable = jobs.map(({ id, created_on, start_after, keep_until, ...rest }) => rest)
    expect(comparable).toHaveLength(2)
    expect(comparable[0]).toEqual(comparable[1])
    await harness.admin`delete from pgboss.job where id = ${twinId}`
  })

  it('keeps the row from being there without it: a runner whose queue is not made yet gets no subtask', async () => {
    await expect(spawn(harness.ctx, { runner: 'unheard-of' })).rejects.toThrow()
    expect(await harness.admin`select from subtasks where runner = 'unheard-of'`).toEqual([])
  })

  it('is not there where the row has no slot', async () => {
    const projectId = harness.ctx.actor.projectId
    const spawned = [
      await spawn(harness.ctx, { agentId: 'full' }),
      await spawn(harness.ctx, { agentId: 'full' }),
      await spawn(harness.ctx, { agentId: 'full' }),
    ]
    const waiting = await spawn(harness.ctx, { agentId: 'full' })
    await transaction(harness.deps.db, projectId, (tx) => harness.deps.runJobs.insertForRows(tx, [waiting.id]))
    const jobs = await harness.admin<
      { id: string }[]
    >`select data ->> 'id' as id from pgboss.job where data ->> 'id' in ${harness.admin([...spawned, waiting].map((one) => one.id))}`
    expect(jobs.map((job) => job.id).sort()).toEqual(spawned.map((one) => one.id).sort())
  })
})

describe('a job that is taken by a claim', () => {
  it.each(['of whatever waits', 'of a named subtask'])('%s is left as pg-boss itself would leave it after a fetch', async (what) => {
    const projectId = harness.ctx.actor.projectId
    const [claimed, fetched] = [
      await spawn(harness.ctx, { agentId: `twins ${what}`, runner: 'other' }),
      await spawn(harness.ctx, { agentId: `twins ${what}`, runner: 'other' }),
    ]
    const run = await claimOne(harness.ctx, what === 'of a named subtask' ? { runners: ['own', 'other'], subtaskIds: [claimed.id] } : { runners: ['other'] })
    expect(run.id).toBe(claimed.id)
    const boss = createBoss(harness.deps.dispatchDb, { supervise: false, onError: () => {}, onWarning: () => {} })
    await boss.start()
    const [job] = await boss.fetch<{ id: string }>(runQueue('other', projectId), { batchSize: 1 })
    await boss.stop({ graceful: false })
    expect(job?.data.id).toBe(fetched.id)

    const jobs = await harness.admin`
      select *, started_on >= created_on as began, heartbeat_on = started_on as beat from pgboss.job where id in (${run.jobId}, ${job?.id as string})`
    const comparable = jobs.map(({ id, data, priority, created_on, start_after, keep_until, started_on, heartbeat_on, ...rest }) => rest)
    expect(comparable).toHaveLength(2)
    expect(comparable[0]).toMatchObject({ state: 'active', retry_count: 0, began: true })
    expect(comparable[0]).toEqual(comparable[1])
  })

  it('is looked for in the queues that are asked, without the jobs of runs', async () => {
    const { runJobs, dispatchDb } = harness.deps
    const look = (...runners: string[]) => runJobs.findWaitingQueues(dispatchDb.sql, runners)
    await claimAll(harness.ctx, { runners: ['own', 'other'] })
    expect(await look('run.other', 'run.own', 'run.none')).toEqual([])
    await spawn(harness.ctx, { agentId: 'looked for', runner: 'other' })
    expect(await look('run.none', 'run.other')).toEqual(['run.other'])
    expect(await look('run.own')).toEqual([])
    await spawn(harness.ctx, { agentId: 'looked for' })
    expect(await look('run.own', 'run.other')).toEqual(['run.own', 'run.other'])
    await claimOne(harness.ctx, { runners: ['other'] })
    expect(await look('run.own', 'run.other')).toEqual(['run.own'])
  })

  it('is removed where its row waits no longer', async () => {
    const gone = await spawn(harness.ctx, { agentId: 'gone', runner: 'other' })
    await harness.admin`update subtasks set status = 'cancelled', final_outcome = 'cancelled', completed_at = now(), slot = false, slot_at = null, job_id = null where id = ${gone.id}`
    const next = await spawn(harness.ctx, { agentId: 'gone', runner: 'other' })
    expect((await claimOne(harness.ctx, { runners: ['other'] })).id).toBe(next.id)
    expect(await harness.admin`select from pgboss.job where data ->> 'id' = ${gone.id}`).toEqual([])
  })
})
