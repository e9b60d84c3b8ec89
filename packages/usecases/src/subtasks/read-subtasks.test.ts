import { claimOne, completed, type Harness, settleOne, spawn, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getSubtask, listAgents, listSubtasks } from '../index.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterAll(() => harness.close())

const reflected = 'There are 3.\n<npl-block type="reflection">\n✅ All are counted\n</npl-block>'

describe('a subtask', () => {
  it('is read with everything that is stored of it, alone and in every list', async () => {
    const {
      id,
      evaluation: _,
      ...made
    } = await spawn(harness.ctx, {
      parentSessionId: 'chat',
      agentId: 'full',
      priority: 'urgent',
      requiredOutputs: [{ name: 'count', description: 'How many', schema: { type: 'integer' } }],
      metadata: { from: 'a test', nested: [1, null] },
      model: 'some-model',
    })
    await settleOne(harness.ctx, await claimOne(harness.ctx), completed(reflected, { count: 3 }))
    const past32Bits = 3_000_000_000
    const times = { created_at: '2026-02-03T04:05:06.007Z', started_at: '2026-02-03T04:05:06.100Z', completed_at: '2026-02-03T04:06:00Z' }
    const others = [id.replace(/.$/, '0'), id.replace(/.$/, '1'), id.replace(/.$/, '2')]
    const values = {
      ...{ ...times, cancel_requested_at: '2026-02-03T04:05:59.999Z', summary: 'Three.', error: 'late', task_id: others[0], task_revision: 4 },
      ...{
        schedule_id: others[1],
        subagent_name: 'scout',
        subagent_version: 2,
        revision_of: others[2],
        revision_round: 1,
        max_revisions: 2,
        resume_of: others[0],
      },
      ...{ budget_max_steps: 7, budget_max_tokens: past32Bits, budget_max_cost_micros: past32Bits + 1, input_tokens: past32Bits + 2, output_tokens: 11 },
      ...{ cost_micros: past32Bits + 3, tool_calls: 5, step_seq: 6, failures: 1, background: false, notify: false, result_truncated: true, worker_id: 'w' },
    }
    await harness.admin`update subtasks set ${harness.admin(values)} where id = ${id}`
    const judgedId = harness.deps.newId()
    await harness.admin`
      insert into evaluations select (jsonb_populate_record(e, jsonb_build_object(
        'id', ${judgedId}::text, 'is_judged', true, 'judge_of', e.id, 'score', 0.125, 'recommendation', 'request_revision'))).* from evaluations e where subtask_id = ${id}`

    const read = await getSubtask(harness.ctx, id)
    expect(read).toEqual({
      ...made,
      id,
      taskId: others[0],
      taskRevision: 4,
      scheduleId: others[1],
      subagentName: 'scout',
      subagentVersion: 2,
      resumeOf: others[0],
      background: false,
      status: 'completed',
      finalOutcome: 'completed',
      result: reflected,
      resultTruncated: true,
      summary: 'Three.',
      error: 'late',
      outputs: { count: 3 },
      workerId: 'w',
      attempt: 1,
      failures: 1,
      budget: { maxSteps: 7, maxTokens: past32Bits, maxCostUsdMicros: past32Bits + 1 },
      notify: false,
      usage: { inputTokens: past32Bits + 2, outputTokens: 11, costUsdMicros: past32Bits + 3, steps: 6, toolCalls: 5 },
      revisionOf: others[2],
      revisionRound: 1,
      maxRevisions: 2,
      evaluation: { id: judgedId, score: 0.125, recommendation: 'request_revision' },
      createdAt: new Date(times.created_at),
      startedAt: new Date(times.started_at),
      completedAt: new Date(times.completed_at),
      cancelRequestedAt: new Date(values.cancel_requested_at),
    })
    const filters = [{}, { status: 'completed' }, { agentId: 'full' }, { session: 'chat' }, { taskId: others[0] as string }, { subagent: 'scout' }] as const
    for (const filter of filters) expect((await listSubtasks(harness.ctx, { limit: 10, ...filter })).items).toEqual([read])
  })

  it('whose result is long is read whole alone, and without it in a list', async () => {
    const { id } = await spawn(harness.ctx, { parentSessionId: 'long' })
    const long = `${'é'.repeat(40_000)}!`
    await settleOne(harness.ctx, await claimOne(harness.ctx), completed(long))
    expect((await getSubtask(harness.ctx, id)).result).toBe(long)
    expect((await listSubtasks(harness.ctx, { limit: 10, session: 'long' })).items).toMatchObject([{ id, result: null }])
  })
})

describe('a list of every status', () => {
  it('is newest first, page by page, whatever has become of each', async () => {
    const ids: string[] = []
    for (let place = 0; place < 7; place += 1) {
      ids.unshift((await spawn(harness.ctx, { agentId: 'mixed', runner: place === 6 ? 'external' : 'own' })).id)
      if (place % 2 === 0 && place < 6) await settleOne(harness.ctx, await claimOne(harness.ctx))
    }
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await listSubtasks(harness.ctx, { limit: 2, agentId: 'mixed', cursor })
      seen.push(...page.items.map((item) => item.id))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(seen).toEqual(ids)
  })
})

describe('the agents with work', () => {
  let own: Harness
  beforeAll(async () => {
    own = await startHarness({ settings: { SUBTASK_MAX_CONCURRENT: '2', SUBTASK_MAX_PENDING: '4' } })
    const settings = { limits: { running_per_agent: 3, agents: { writer: { running: 1, pending: 9 } } } }
    await own.admin`update projects set settings = ${own.admin.json(settings)} where id = ${own.ctx.actor.projectId}`
    await spawn(own.ctx, { agentId: 'finished' })
    await settleOne(own.ctx, await claimOne(own.ctx))
    for (const agentId of ['writer', 'writer', 'writer']) await spawn(own.ctx, { agentId })
    await claimOne(own.ctx)
    await spawn(own.ctx, { agentId: 'coder' })
  })
  afterAll(() => own.close())

  it('are those whose subtasks run or are pending, by name, page by page, with their limits', async () => {
    const coder = { agentId: 'coder', running: 0, pending: 1, runningMax: 3, pendingMax: 4 }
    const writer = { agentId: 'writer', running: 1, pending: 2, runningMax: 1, pendingMax: 9 }
    expect(await listAgents(own.ctx, { limit: 10 })).toEqual({ items: [coder, writer], nextCursor: null })
    expect(await listAgents(own.ctx, { limit: 1 })).toEqual({ items: [coder], nextCursor: 'coder' })
    expect(await listAgents(own.ctx, { limit: 1, cursor: 'coder' })).toEqual({ items: [writer], nextCursor: null })
  })

  it('of which more is pending than is counted show as much as is counted', async () => {
    const { admin, ctx } = own
    await admin`create temporary table many as select s.* from subtasks s cross join generate_series(1, 1200) where s.agent_id = 'writer' and s.status = 'pending' limit 1200`
    await admin`update many set id = gen_random_uuid(), agent_id = 'busy', slot = false, slot_at = null, job_id = null`
    await admin`insert into subtasks select * from many`
    expect((await listAgents(ctx, { limit: 10 })).items.find(({ agentId }) => agentId === 'busy')).toMatchObject({ running: 0, pending: 1_000 })
    await admin`delete from subtasks where agent_id = 'busy'`
  })

  it('of a key of one agent are that one, and a sub-agent sees none', async () => {
    expect((await listAgents(own.as({ ...own.ctx.actor, agentId: 'writer' }), { limit: 10 })).items.map(({ agentId }) => agentId)).toEqual(['writer'])
    expect((await listAgents(own.as({ ...own.ctx.actor, agentId: 'finished' }), { limit: 10 })).items).toEqual([])
    const lineage = { subtaskId: 's', taskId: null, sessionId: 'subtask-s', depth: 1 as const }
    await expect(listAgents(own.as({ ...own.ctx.actor, lineage }), { limit: 10 })).rejects.toMatchObject({ code: 'forbidden' })
  })
})
