import { runQueue } from '@muster/jobs'
import { claimAll, drain, drainOutbox, type Harness, invariants, readSubtaskRow, settleOne, spawnMany, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Ctx,
  cancelSubtask,
  claimInbox,
  claimSubtask,
  getProject,
  getSubtask,
  listSteps,
  listSubtasks,
  listUpdates,
  readEvents,
  steerSubtask,
  updateProject,
} from '../index.ts'

let harness: Harness
let one: Ctx
let other: Ctx
let ids: string[]

beforeAll(async () => {
  harness = await startHarness()
  one = await harness.projectCtx('one')
  other = await harness.projectCtx('other')
  ids = (await spawnMany(one, 3, { runner: 'external', parentSessionId: 'same-session', agentId: 'same-agent' })).map((subtask) => subtask.id)
})

afterAll(async () => {
  await drain(one, other)
  expect(await invariants(harness.admin)).toEqual([])
  await harness.close()
})

describe('two projects', () => {
  it('see nothing of each other, whatever is asked for', async () => {
    await drainOutbox(harness.deps)
    const id = ids[0] as string
    const notFound = { code: 'not_found' }
    await expect(getSubtask(other, id)).rejects.toMatchObject(notFound)
    await expect(listSteps(other, id, { limit: 5 })).rejects.toMatchObject(notFound)
    await expect(listUpdates(other, id, { limit: 5 })).rejects.toMatchObject(notFound)
    await expect(cancelSubtask(other, id)).rejects.toMatchObject(notFound)
    await expect(steerSubtask(other, id, { content: 'x', delivery: 'next_step', steerable: () => true })).rejects.toMatchObject(notFound)
    await expect(getProject(other, one.actor.projectId)).rejects.toMatchObject(notFound)
    await expect(updateProject(other, one.actor.projectId, { name: 'mine' })).rejects.toMatchObject(notFound)
    expect((await listSubtasks(other, { limit: 50 })).items).toEqual([])
    expect((await listSubtasks(other, { limit: 50, session: 'same-session' })).items).toEqual([])
    expect(await readEvents(other, { afterSeq: 0, limit: 50 })).toEqual([])
    expect(await readEvents(other, { afterSeq: 0, limit: 50, subjectId: id })).toEqual([])
    expect((await claimInbox(other, 'same-session', { limit: 5, ack: 'auto' })).items).toEqual([])
  })

  it('have limits of their own for agents of the same name', async () => {
    expect(await spawnMany(other, 5, { agentId: 'same-agent' })).toHaveLength(5)
    expect(await claimAll(other, { limit: 10 })).toHaveLength(3)
  })
})

describe('an outside worker', () => {
  it('never gets what belongs to another project, nor even touches it', async () => {
    const before = await Promise.all(ids.map((id) => readSubtaskRow(harness.admin, id)))
    for (let time = 0; time < 5; time += 1) expect(await claimSubtask(other, { runner: 'external', workerId: 'stranger', leaseSeconds: 60 })).toBeNull()
    expect(await Promise.all(ids.map((id) => readSubtaskRow(harness.admin, id)))).toEqual(before)
    const jobs = await harness.admin`select state, count(*)::int as count from pgboss.job where name = ${runQueue('external', one.actor.projectId)} group by 1`
    expect(jobs).toEqual([{ state: 'created', count: 3 }])
  })

  it('cannot name its way into a queue that holds jobs of other projects', async () => {
    const [own] = await spawnMany(one, 1, { agentId: 'served-by-ours' })
    const jobs = () => harness.admin`select name, id, state from pgboss.job where state = 'created' order by id`
    const before = await jobs()
    for (const runner of ['own', 'other', `external.${one.actor.projectId}`, '', '%']) {
      await expect(claimSubtask(other, { runner, workerId: 'stranger', leaseSeconds: 60 })).rejects.toMatchObject({ code: 'runner_unavailable' })
    }
    expect(await jobs()).toEqual(before)
    expect((await readSubtaskRow(harness.admin, own?.id as string)).status).toBe('pending')
  })
})

describe('our own workers', () => {
  it('serve every project, and settle each run in its own', async () => {
    await spawnMany(one, 2, { agentId: 'mine' })
    await spawnMany(other, 2, { agentId: 'theirs' })
    const runs = await claimAll(harness.ctx, { limit: 50 })
    expect(new Set(runs.map((run) => run.projectId))).toEqual(new Set([one.actor.projectId, other.actor.projectId]))
    for (const run of runs) expect(await settleOne(harness.deps, run)).toBe('settled')
  })
})
