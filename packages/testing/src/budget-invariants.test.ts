import { updateProject } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drainOutbox, type Harness, invariants, spawn, startHarness } from './index.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
  const budget = { day: { tokens: 100, cost_usd: 1 }, per_agent: { total: { tokens: 50 } } }
  await updateProject(harness.ctx, harness.ctx.actor.projectId, { settings: { limits: { budget } } })
  for (const agentId of ['one', 'two']) await spawn(harness.ctx, { agentId, budget: { maxTokens: 40 } })
  await drainOutbox(harness.deps)
})
afterAll(() => harness.close())

describe('the invariants of budgets', () => {
  it('hold between any two commits', async () => expect(await invariants(harness.admin)).toEqual([]))

  it.each([
    ['the project in tokens', "budget_max_tokens = 49 where agent_id = 'one'", []],
    ['the project in tokens, too', 'budget_max_tokens = budget_max_tokens + 11', ['/* has 102 of 100 tokens (day)', '/one has 51', '/two has 51']],
    ['an agent', "budget_max_tokens = 51 where agent_id = 'one'", ['/one has 51 of 50 tokens (total)']],
    ['the project in dollars', 'budget_max_cost_micros = 500001', ['/* has 1000002 of 1 cost_usd (day)']],
  ])('find what %s has too much', async (_, change, found) => {
    const [before] =
      await harness.admin`select jsonb_agg(jsonb_build_object('id', id, 't', budget_max_tokens, 'c', budget_max_cost_micros)) as rows from subtasks`
    await harness.admin.unsafe(`update subtasks set ${change}`)
    const problems = await invariants(harness.admin)
    await harness.admin`
      update subtasks s set budget_max_tokens = r.t, budget_max_cost_micros = r.c
      from jsonb_to_recordset(${JSON.stringify(before?.rows)}::text::jsonb) as r(id uuid, t bigint, c bigint) where s.id = r.id`
    expect(problems).toHaveLength(found.length > 0 ? 1 : 0)
    for (const part of found) expect(problems[0]).toContain(part)
  })
})
