import type { DomainError } from '@muster/domain'
import { createRunJobs } from '@muster/jobs'
import { claimAll, completed, type Harness, settleOne, spawn, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Ctx, cancelSubtask, getProject, settleRuns, updateProject } from '../index.ts'

const PENDING_MAX = 40
const RUNNING_MAX = 10
const WAIT = { timeout: 20_000, interval: 10 }

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({
    settings: { SUBTASK_PROJECT_MAX_PENDING: String(PENDING_MAX), SUBTASK_PROJECT_MAX_CONCURRENT: String(RUNNING_MAX) },
  })
})
afterAll(() => harness.close())
afterEach(async () => {
  await updateProject(harness.ctx, harness.ctx.actor.projectId, { settings: {} })
  await runAll()
})

const count = async (what: 'pending' | 'slot'): Promise<number> => {
  const [row] = await harness.admin<{ pending: number; slot: number }[]>`
    select count(*) filter (where status = 'pending')::int as pending, count(*) filter (where slot)::int as slot from subtasks`
  return row?.[what] ?? 0
}

/** Runs everything to its end, and answers how many slots there were at most. */
async function runAll(): Promise<number> {
  let most = 0
  while ((await count('pending')) > 0) {
    const runs = await vi.waitFor(async () => {
      const claimed = await claimAll(harness.ctx)
      expect(claimed).not.toEqual([])
      return claimed
    }, WAIT)
    most = Math.max(most, await count('slot'))
    // Each in a transaction of its own, all at once.
    await Promise.all(runs.map((run) => settleOne(harness.ctx, run)))
  }
  return most
}

describe('the limits of a project', () => {
  it('hold for what waits, however many agent ids callers choose, at once and in two processes', async () => {
    const processes: Ctx[] = [harness.ctx, { ...harness.ctx, runJobs: createRunJobs() }]
    const agents = Array.from({ length: 60 }, (_, place) => `self-chosen-${place}`)
    const tries = agents.flatMap((agentId) => Array.from({ length: 5 }, (_, nth) => spawn(processes[nth % 2] as Ctx, { agentId })))
    const answers = await Promise.allSettled(tries)
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(PENDING_MAX)
    expect(await count('pending')).toBe(PENDING_MAX)
    const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as DomainError] : []))
    for (const { code, message, details } of refusals) {
      expect({ code, details }).toMatchObject({ code: 'pending_limit_reached', details: { limit: PENDING_MAX, limited_by: 'project' } })
      expect(message).toContain('This project, over all of its agents, already has 40 pending subtasks')
    }
  })

  it('hold for what may run, while ends of many agents are stored at once, and everything gets its turn', async () => {
    const agents = Array.from({ length: 20 }, (_, place) => `runner-${place}`)
    await Promise.all(agents.flatMap((agentId) => [spawn(harness.ctx, { agentId }), spawn(harness.ctx, { agentId })]))
    expect(await count('slot')).toBeLessThanOrEqual(RUNNING_MAX)
    expect(await runAll()).toBe(RUNNING_MAX)
    expect(await count('pending')).toBe(0)
  })

  it('give a slot that an agent frees to the most urgent of the project, not to the next of that agent', async () => {
    await updateProject(harness.ctx, harness.ctx.actor.projectId, { settings: { limits: { running: 1 } } })
    await spawn(harness.ctx, { agentId: 'busy' })
    const [run] = await vi.waitFor(async () => {
      const claimed = await claimAll(harness.ctx)
      expect(claimed).toHaveLength(1)
      return claimed
    }, WAIT)
    await spawn(harness.ctx, { agentId: 'busy', priority: 'low' })
    const urgent = await spawn(harness.ctx, { agentId: 'other', priority: 'urgent' })
    await settleRuns(harness.ctx, harness.ctx.actor.projectId, [{ subtaskId: run?.id as string, attempt: 1, end: completed() }])
    const next = await vi.waitFor(async () => {
      const claimed = await claimAll(harness.ctx)
      expect(claimed).toHaveLength(1)
      return claimed
    }, WAIT)
    expect(next.map(({ id }) => id)).toEqual([urgent.id])
    await settleOne(harness.ctx, next[0] as (typeof next)[number])
  })

  it('give the slot of a cancelled subtask on, and more slots when the limit is raised', async () => {
    const { projectId } = harness.ctx.actor
    await updateProject(harness.ctx, projectId, { settings: { limits: { running: 1 } } })
    const first = await spawn(harness.ctx, { agentId: 'one' })
    for (const agentId of ['two', 'three', 'four']) await spawn(harness.ctx, { agentId })
    await cancelSubtask(harness.ctx, first.id)
    await vi.waitFor(async () => expect(await count('slot')).toBe(1), WAIT)
    await updateProject(harness.ctx, projectId, { settings: { limits: { running: 2 } } })
    await vi.waitFor(async () => expect(await count('slot')).toBe(2), WAIT)
  })

  it('are those of the project where it sets some, and an agent’s own limit is named where that is met', async () => {
    const { projectId } = harness.ctx.actor
    await updateProject(harness.ctx, projectId, { settings: { limits: { pending: 6, running: 0 } } })
    for (let nth = 0; nth < 5; nth += 1) await spawn(harness.ctx, { agentId: 'full' })
    await expect(spawn(harness.ctx, { agentId: 'full' })).rejects.toMatchObject({ details: { limit: 5, limited_by: 'agent', agent_id: 'full' } })
    await spawn(harness.ctx, { agentId: 'last' })
    await expect(spawn(harness.ctx, { agentId: 'last' })).rejects.toMatchObject({ details: { limit: 6, limited_by: 'project' } })
    expect(await count('slot')).toBe(0)
  })
})

describe('the ceilings of the operator', () => {
  const below = () => ({ ...harness.ctx, settings: { ...harness.ctx.settings, PROJECT_PENDING_CEILING: 50, PROJECT_RUNNING_CEILING: 12 } })

  it('refuse a higher limit, and change nothing', async () => {
    const ctx = below()
    const raising = updateProject(ctx, ctx.actor.projectId, { name: 'raised', settings: { limits: { agents: { greedy: { pending: 1_000_000 } } } } })
    await expect(raising).rejects.toMatchObject({
      code: 'validation_failed',
      message: 'settings.limits.agents.greedy.pending must be at most 50, the ceiling that the operator set for pending subtasks.',
    })
    expect(await getProject(ctx, ctx.actor.projectId)).toMatchObject({ name: 'default', settings: {} })
  })

  it('cap limits that were stored above them: where they hold and where they are shown', async () => {
    const ctx = below()
    const limits = { pending: 5_000, pending_per_agent: 3, running: 5_000, running_per_agent: 5_000, agents: { greedy: { pending: 5_000, running: 5_000 } } }
    await harness.admin`update projects set settings = ${JSON.stringify({ limits })}::text::jsonb where id = ${ctx.actor.projectId}`
    expect((await getProject(ctx, ctx.actor.projectId)).settings.limits).toEqual({
      pending: 50,
      pending_per_agent: 3,
      running: 12,
      running_per_agent: 12,
      agents: { greedy: { pending: 50, running: 12 } },
    })
    const answers = await Promise.allSettled(Array.from({ length: 60 }, () => spawn(ctx, { agentId: 'greedy' })))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(50)
    await vi.waitFor(async () => expect(await count('slot')).toBe(12), WAIT)
  })

  it('leave limits that a change does not name as they were stored, and refuse those that it names', async () => {
    const ctx = below()
    const { projectId } = ctx.actor
    const limits = { pending: 5_000, running: 5_000 }
    await harness.admin`update projects set settings = ${JSON.stringify({ limits })}::text::jsonb where id = ${projectId}`
    const merge = (more: object) =>
      updateProject(ctx, projectId, ({ settings }) => ({ settings: { ...settings, limits: { ...settings.limits, pending_per_agent: 3, ...more } } }))
    expect((await merge({})).settings.limits).toEqual({ pending: 50, running: 12, pending_per_agent: 3 })
    await expect(merge({ running: 13 })).rejects.toMatchObject({ details: { errors: [{ pointer: '/settings/limits/running' }] } })
    const [stored] = await harness.admin`select settings from projects where id = ${projectId}`
    expect(stored?.settings).toEqual({ limits: { ...limits, pending_per_agent: 3 } })
  })
})
