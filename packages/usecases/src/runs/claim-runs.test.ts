import type { Subtask } from '@muster/domain'
import type { RunJobs } from '@muster/jobs'
import {
  allEvents,
  claimAll,
  claimOne,
  drain,
  drainOutbox,
  type Harness,
  invariants,
  readSubtaskRow,
  settleOne,
  spawn,
  spawnMany,
  startHarness,
} from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hashToken } from '../core/secrets.ts'
import { beatDataFolder, type ClaimedRun, getSubtask } from '../index.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness({ settings: { SUBTASK_MAX_PENDING: '1000' } })
})

afterEach(async () => {
  await drain(harness.ctx)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

describe('claiming', () => {
  it('starts a new attempt of this worker, with a lease and a credential of which only the hash is stored', async () => {
    const made = await spawn(harness.ctx, { agentId: 'single', timeoutSeconds: 600 })
    const run = await claimOne(harness.ctx, { workerId: 'worker-7', leaseSeconds: 30 })

    expect(run).toMatchObject({ id: made.id, projectId: made.projectId, task: made.task, attempt: 1, timeoutSeconds: 600, feedback: null, leaseToken: null })
    expect(await getSubtask(harness.ctx, made.id)).toMatchObject({ status: 'running', workerId: 'worker-7', attempt: 1, startedAt: expect.any(Date) })
    const row = await readSubtaskRow(harness.admin, made.id)
    expect(row.credential_hash).toEqual(hashToken(run.credential))
    const [lease] = await harness.admin`select extract(epoch from lease_expires_at - attempt_started_at)::int as seconds from subtasks where id = ${made.id}`
    expect(lease?.seconds).toBe(30)
    expect(await harness.admin`select attempt, worker_id, ended_at from attempts where subtask_id = ${made.id}`).toEqual([
      { attempt: 1, worker_id: 'worker-7', ended_at: null },
    ])
  })

  it('gives no lease beyond what the attempt may take', async () => {
    const made = await spawn(harness.ctx, { agentId: 'short', timeoutSeconds: 10 })
    await claimOne(harness.ctx, { leaseSeconds: 600 })
    const [lease] = await harness.admin`select extract(epoch from lease_expires_at - attempt_started_at)::int as seconds from subtasks where id = ${made.id}`
    expect(lease?.seconds).toBe(15)
  })

  it('is announced in the same commit', async () => {
    const made = await spawn(harness.ctx, { agentId: 'announced' })
    await claimOne(harness.ctx, { workerId: 'worker-7' })
    await drainOutbox(harness.deps)
    const events = await allEvents(harness.ctx, made.id)
    expect(events.map((event) => event.type)).toEqual(['subtask.created', 'subtask.started'])
    expect(events[1]).toMatchObject({ actor: { kind: 'worker', id: 'worker-7' }, data: { subtask_id: made.id, attempt: 1, runner: 'own' } })
  })

  it('fills the free capacity of a worker over all its queues, the first queue first', async () => {
    const own = await spawnMany(harness.ctx, 2, { agentId: 'both' })
    const other = await spawnMany(harness.ctx, 3, { agentId: 'both-other', runner: 'other' })
    const runs = await claimAll(harness.ctx, { runners: ['own', 'other'], limit: 4 })
    expect(runs.map((run) => run.id)).toEqual([...own, ...other.slice(0, 2)].map((subtask) => subtask.id))
  })

  it('starts nothing while subtasks are switched off', async () => {
    await spawn(harness.ctx, { agentId: 'off' })
    expect(await claimAll({ ...harness.ctx, settings: { ...harness.ctx.settings, SUBTASK_ENABLED: false } })).toEqual([])
    expect(await claimAll(harness.ctx)).toHaveLength(1)
  })

  it('takes nothing from a database that has not come as far as its data folder, and leaves its queue as it was', async () => {
    const made = await spawn(harness.ctx, { agentId: 'restored' })
    const place = harness.ctx.newId()
    const noted = await beatDataFolder(harness.deps, place, null)
    for (const other of [{ beat: noted.beat + 1 }, { id: harness.ctx.newId() }, { place: harness.ctx.newId() }])
      expect(await claimAll(harness.ctx, { reached: { place, ...noted, ...other } })).toEqual([])
    await beatDataFolder(harness.deps, place, noted)
    expect(await claimAll(harness.ctx, { reached: { place, ...noted } })).toMatchObject([{ id: made.id, attempt: 1 }])
  })

  it('takes the named subtasks and no others, in whichever of its queues they are', async () => {
    const first = await spawn(harness.ctx, { agentId: 'named' })
    expect((await claimOne(harness.ctx)).id).toBe(first.id)
    const [second, third] = (await spawnMany(harness.ctx, 2, { agentId: 'named', runner: 'other' })) as [Subtask, Subtask]
    const unserved = await spawn(harness.ctx, { agentId: 'served by others' })
    const ids = [unserved, first, second].map(({ id }) => id)
    const runs = await claimAll(harness.ctx, { runners: ['other', 'external'], subtaskIds: [...ids, harness.ctx.newId()], workerId: 'named' })
    expect(runs).toMatchObject([{ id: second.id, attempt: 1 }])
    const row = await readSubtaskRow(harness.admin, second.id)
    expect(row).toMatchObject({ status: 'running', worker_id: 'named', credential_hash: hashToken(runs[0]?.credential ?? '') })
    expect((await readSubtaskRow(harness.admin, third.id)).status).toBe('pending')
    expect((await claimAll(harness.ctx, { subtaskIds: ids })).map(({ id }) => id)).toEqual([unserved.id])
  })

  it('leaves a named subtask to whoever is about to take its job, and takes it where that fails', async () => {
    const made = await spawn(harness.ctx, { agentId: 'named' })
    const [{ job_id: jobId }] = (await harness.admin`select job_id from subtasks where id = ${made.id}`) as unknown as [{ job_id: string }]
    await harness.admin.begin(async (other) => {
      await other`select from pgboss.job where id = ${jobId} for update`
      expect(await claimAll(harness.ctx, { subtaskIds: [made.id] })).toEqual([])
    })
    expect(await claimAll(harness.ctx, { subtaskIds: [made.id] })).toMatchObject([{ id: made.id, attempt: 1 }])
  })

  it('takes no named subtask that waits for a permit', async () => {
    const [waiting] = (await spawnMany(harness.ctx, 4, { agentId: 'full' })).slice(-1)
    expect(await claimAll(harness.ctx, { subtaskIds: [waiting?.id ?? ''] })).toEqual([])
  })

  it('of ten workers at once, each for all of fifty named subtasks, takes each once', async () => {
    const made = (await Promise.all(Array.from({ length: 50 }, (_, place) => spawn(harness.ctx, { agentId: `named-${place}` })))).map(({ id }) => id)
    const claims = Array.from({ length: 10 }, (_, place) => claimAll(harness.ctx, { workerId: `named-${place}`, subtaskIds: made }))
    const taken = (await Promise.all(claims)).flat().map(({ id }) => id)
    expect(taken.toSorted()).toEqual(made.toSorted())
  })

  it('that looks first takes what a claim takes that does not', async () => {
    expect(await claimAll(harness.ctx, { runners: ['other', 'own'], looksFirst: true })).toEqual([])
    const made = [await spawn(harness.ctx, { agentId: 'looked for' }), await spawn(harness.ctx, { agentId: 'looked for', runner: 'other' })]
    const runs = await claimAll(harness.ctx, { runners: ['other', 'own'], looksFirst: true })
    expect(runs.map(({ id }) => id).toSorted()).toEqual(made.map(({ id }) => id).toSorted())
  })

  it('leaves row and job as they were when it fails half-way', async () => {
    const made = await spawn(harness.ctx, { agentId: 'crash' })
    const claiming: RunJobs['claiming'] = (sql, ...rest) => {
      const jobs = harness.ctx.runJobs.claiming(sql, ...rest)
      return { ...jobs, moved: sql`${jobs.moved}, dying as (update subtasks set attempt = 1 / 0 where id = any(array(select subtask_id from taken)))` }
    }
    const failing = { ...harness.ctx, runJobs: { ...harness.ctx.runJobs, claiming } }
    await expect(claimAll(failing)).rejects.toThrow('division by zero')

    expect(await readSubtaskRow(harness.admin, made.id)).toMatchObject({ status: 'pending', slot: true, attempt: 0 })
    expect(await invariants(harness.admin)).toEqual([])
    expect((await claimOne(harness.ctx)).id).toBe(made.id)
  })
})

describe('ten workers that race for 500 subtasks', () => {
  it('run each of them once, and never more of an agent at once than its limit', async () => {
    const agents = Array.from({ length: 20 }, (_, place) => `racer-${place}`)
    await Promise.all(agents.map((agentId) => spawnMany(harness.ctx, 25, { agentId })))

    const claimed: string[] = []
    let mostRunning = 0
    let isOver = false
    const sample = async () => {
      while (!isOver) {
        const [row] = await harness.admin<{ most: number }[]>`
          select coalesce(max(slots), 0)::int as most from (select count(*) as slots from subtasks where slot group by project_id, agent_id) as lane`
        mostRunning = Math.max(mostRunning, row?.most ?? 0)
      }
    }
    const work = async (workerId: string) => {
      let idle = 0
      while (claimed.length < 500 && idle < 1_000) {
        const runs: ClaimedRun[] = await claimAll(harness.ctx, { workerId, limit: 4 })
        idle = runs.length === 0 ? idle + 1 : 0
        claimed.push(...runs.map((run) => run.id))
        for (const run of runs) expect(await settleOne(harness.ctx, run)).toBe('settled')
      }
    }
    const sampling = sample()
    await Promise.all(Array.from({ length: 10 }, (_, place) => work(`racer-${place}`)))
    isOver = true
    await sampling

    expect(claimed).toHaveLength(500)
    expect(new Set(claimed).size).toBe(500)
    expect(mostRunning).toBe(3)
    const [ended] =
      await harness.admin`select count(*)::int as count, max(attempt) as attempts from subtasks where agent_id like 'racer-%' and status = 'completed'`
    expect(ended).toEqual({ count: 500, attempts: 1 })
  })
})
