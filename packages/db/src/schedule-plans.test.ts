import { type Harness, startHarness, storeSchedules } from '@muster/testing'
import { type Explained, type PlanNode, type Recording, recordStatements, type Statement, storePastSchedules } from '@muster/testing/statements'
import { fireSchedules } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let harness: Harness
let recording: Recording

beforeAll(async () => {
  harness = await startHarness()
  await storePastSchedules(harness.admin, 5_000)
  await harness.admin`vacuum analyze`
  recording = recordStatements(harness)
  await fireSchedules(recording.ctx, { except: [], signal: new AbortController().signal })
})

afterAll(async () => {
  await recording.close()
  await harness.close()
})

describe('a look for due schedules', () => {
  it('reads what is due from its index, and no more than what is due', async () => {
    await storeSchedules(harness.admin, [{ runner: 'external' }, { runner: 'external' }])
    const look = recording.all().find(({ text, role }) => role === 'muster_dispatch' && text.includes('as next_in_ms'))
    const plan = await explainAnalyzed(look as Statement)
    expect(JSON.stringify(plan)).toContain('"Index Name":"schedules_due"')
    expect(rowsRead(plan, 'schedules')).toBeLessThanOrEqual(3)
    await fireSchedules(harness.deps, { except: [], signal: new AbortController().signal })
  })

  async function explainAnalyzed({ text, parameters }: Statement): Promise<PlanNode> {
    const [row] = await harness.deps.dispatchDb.sql.unsafe<Explained[]>(`explain (analyze, format json) ${text}`, parameters as never[])
    return row?.['QUERY PLAN'][0]?.Plan as PlanNode
  }

  /** Rows of a table that a plan reads, with those that it discards. */
  function rowsRead(node: PlanNode, table: string): number {
    const own = node['Relation Name'] === table ? (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) : 0
    return own + (node.Plans ?? []).reduce((sum, each) => sum + rowsRead(each, table), 0)
  }
})
