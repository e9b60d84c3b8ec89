import { FairShares, PRIORITIES } from '@muster/domain'
import { claimAll, claimOne, drain, type Harness, invariants, spawn, spawnMany, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Ctx } from '../index.ts'

let harness: Harness
let full: Ctx
let quiet: Ctx

beforeAll(async () => {
  harness = await startHarness({
    settings: {
      SUBTASK_MAX_PENDING: '1000',
      SUBTASK_MAX_CONCURRENT: '1000',
      SUBTASK_PROJECT_MAX_PENDING: '0',
      SUBTASK_PROJECT_MAX_CONCURRENT: '0',
    },
  })
  full = harness.ctx
  quiet = await harness.projectCtx('quiet')
})

afterEach(async () => {
  await drain(full, quiet)
  expect(await invariants(harness.admin, { runningPerAgent: 1_000 })).toEqual([])
})

afterAll(() => harness.close())

/** Claims one after the other, as free capacity of one worker comes, and answers the projects. */
async function claimInTurn(shares: FairShares, count: number): Promise<string[]> {
  const projects: string[] = []
  for (let number = 0; number < count; number += 1) projects.push((await claimOne(full, { shares })).projectId)
  return projects
}

describe('claims of a queue that projects share', () => {
  it('take the subtask of a quiet project next, however much its neighbour has queued and however urgent that is', async () => {
    const shares = new FairShares()
    await spawnMany(full, 40, { priority: 'urgent' })
    await claimAll(full, { shares, limit: 5 })
    const made = await spawn(quiet, { priority: 'low' })
    expect((await claimOne(full, { shares })).id).toBe(made.id)
  })

  it('keep the order of ranks within each project', async () => {
    const shares = new FairShares()
    // A low subtask that has waited for long is before an urgent one: ageing.
    await spawn(full, { priority: 'low' })
    await harness.admin`update subtasks set rank_at = rank_at - interval '1 hour' where status = 'pending'`
    await harness.admin`update pgboss.job set priority = priority + 3600 where state < 'active'`
    for (const project of [full, quiet]) {
      for (const priority of [...PRIORITIES, ...PRIORITIES]) await spawn(project, { priority })
    }
    const claimed = new Map<string, string[]>()
    for (let number = 0; number < 4 * PRIORITIES.length + 1; number += 1) {
      const run = await claimOne(full, { shares })
      claimed.set(run.projectId, [...(claimed.get(run.projectId) ?? []), run.id])
    }
    const ranked = await harness.admin<{ project_id: string; ids: string[] }[]>`
      select project_id, array_agg(id order by floor(extract(epoch from rank_at)), created_at) as ids from subtasks where id = any(${[...claimed.values()].flat()}) group by 1`
    expect(Object.fromEntries(claimed)).toEqual(Object.fromEntries(ranked.map(({ project_id, ids }) => [project_id, ids])))
  })

  it('share starts by weight while both wait, also among the starts of one claim', async () => {
    const shares = new FairShares({ [quiet.actor.projectId]: 3 })
    await spawnMany(full, 40, { priority: 'urgent' })
    await spawnMany(quiet, 40)
    const inTurn = await claimInTurn(shares, 16)
    const atOnce = (await claimAll(full, { shares, limit: 16 })).map(({ projectId }) => projectId)
    for (const projects of [inTurn, atOnce]) expect(projects.filter((projectId) => projectId === quiet.actor.projectId)).toHaveLength(12)
  })

  it('find jobs behind those that another claim has locked', async () => {
    await spawnMany(full, 30)
    await harness.admin.begin(async (sql) => {
      // More than a claim of one looks at first.
      await sql`select from pgboss.job where state < 'active' order by priority desc, created_on limit 25 for update`
      expect(await claimAll(full, { limit: 1 })).toHaveLength(1)
    })
  })
})
