import { claimAll, claimOne, type Harness, spawn, startHarness } from '@muster/testing'
import { type PlanNode, type Recording, recordStatements, type Statement, storeJobs } from '@muster/testing/statements'
import { claimSubtask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claims, type DatabaseRole, type Tx } from './index.ts'

let harness: Harness
let recording: Recording

/** A claim of one's own worker, and one of an outside worker, with a long queue. */
beforeAll(async () => {
  harness = await startHarness()
  await storeJobs(harness.admin, 5_000)
  await harness.admin`vacuum analyze`
  recording = recordStatements(harness)
  const { ctx } = recording
  await spawn(ctx, { runner: 'external' })
  await claimSubtask(ctx, { runner: 'external', workerId: 'outside', leaseSeconds: 60 })
  await spawn(ctx, {})
  await claimOne(ctx)
  await claimOne(ctx, { subtaskIds: [(await spawn(ctx, {})).id] })
  await claimAll(ctx, { looksFirst: true })
})

afterAll(async () => {
  await recording.close()
  await harness.close()
})

describe('a claim', () => {
  // The queue has grown since the last statistics, and the plan is generic, as for every claim.
  async function scansOfClaim(role: DatabaseRole, text: string): Promise<string[]> {
    const claim = recording.all().find((each) => each.role === role && each.text.includes(text)) as Statement
    let plan = ''
    await harness.admin
      .begin(async (sql) => {
        await sql`update pg_class set reltuples = 20 where oid = 'pgboss.job_common'::regclass`
        await claims.readFromFront({ sql: sql as unknown as Tx['sql'] })
        plan = JSON.stringify(await sql.unsafe(`explain (generic_plan, format json) ${claim.text}`))
        throw new Error('explained')
      })
      .catch((error: Error) => expect(error.message).toBe('explained'))
    return scansOf((JSON.parse(plan) as [{ 'QUERY PLAN': [{ Plan: PlanNode }] }])[0]['QUERY PLAN'][0].Plan, 'job_common')
  }

  /** How a plan reads a table: the index of each scan, or its kind. */
  function scansOf(node: PlanNode, table: string): string[] {
    const own = node['Relation Name'] === table && node['Node Type'] !== 'ModifyTable' ? [node['Index Name'] ?? node['Node Type']] : []
    return [...own, ...(node.Plans ?? []).flatMap((each) => scansOf(each, table))]
  }

  it.each(['muster_dispatch', 'muster_app'] as const)('reads its queue from the front, as %s', async (role) => {
    const pool = role === 'muster_app' ? harness.deps.db : harness.deps.dispatchDb
    const bitmaps = await pool.sql.begin(async (sql) => {
      if (role === 'muster_app') await claims.readFromFront({ sql: sql as unknown as Tx['sql'] })
      return (await sql<{ enable_bitmapscan: string }[]>`show enable_bitmapscan`)[0]?.enable_bitmapscan as string
    })
    expect(bitmaps).toBe('off')
    const byProject = 'job_common_name_expr_priority_created_on_id_idx'
    // The projects and the best jobs of each come from our index; what is taken is locked by its id.
    expect(await scansOfClaim(role, 'candidates as')).toEqual([byProject, byProject, byProject, 'job_common_pkey', 'job_common_pkey', 'job_common_pkey'])
  })

  it('that looks first reads one job of each queue', async () => {
    expect(await scansOfClaim('muster_dispatch', 'as q(name, place)')).toEqual(['job_common_name_expr_priority_created_on_id_idx'])
  })

  it('of a named subtask reads its job by the id', async () => {
    expect(await scansOfClaim('muster_dispatch', 'select job_id from subtasks')).toEqual(['job_common_pkey', 'job_common_pkey', 'job_common_pkey'])
  })
})
