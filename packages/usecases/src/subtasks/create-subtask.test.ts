import { connect } from '@muster/db'
import { DomainError } from '@muster/domain'
import { createNotifier, createRunJobs } from '@muster/jobs'
import {
  advanceClock,
  allEvents,
  claimAll,
  drain,
  drainOutbox,
  type Harness,
  invariants,
  readSubtaskRow,
  resetClock,
  settleOne,
  spawn,
  spawnMany,
  startDatabaseProxy,
  startHarness,
} from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createSubtask, getSubtask, updateProject } from '../index.ts'

let harness: Harness
let agents = 0

beforeAll(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await drain(harness.ctx)
  expect(await invariants(harness.admin, { limitsHaveChanged: true })).toEqual([])
})

afterAll(() => harness.close())

/** An agent that no other test uses, so that its lane is empty. */
function newAgent(): string {
  agents += 1
  return `agent-${agents}`
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'none'
  } catch (error) {
    if (error instanceof DomainError) return error.code
    throw error
  }
}

describe('spawning', () => {
  it('stores what was asked for, with defaults for the rest, and answers as a later read does', async () => {
    const made = await spawn(harness.ctx, {
      task: 'Read everything.',
      agentId: newAgent(),
      priority: 'low',
      parentSessionId: 'chat',
      model: 'some-model',
      budget: { maxSteps: 7, maxTokens: 3_000_000_000, maxCostUsdMicros: 5 },
      requiredOutputs: [{ name: 'files', description: null, schema: { type: 'array' } }],
      metadata: { nested: ['ä', 1, null] },
    })
    expect(made).toMatchObject({
      status: 'pending',
      attempt: 0,
      failures: 0,
      maxAttempts: 2,
      timeoutSeconds: 120,
      notify: true,
      background: true,
      finalOutcome: null,
    })
    expect(await getSubtask(harness.ctx, made.id)).toEqual(made)
  })

  it('announces it in the same commit', async () => {
    const made = await spawn(harness.ctx, { agentId: newAgent(), parentSessionId: 'chat' })
    await drainOutbox(harness.deps)
    expect(await allEvents(harness.ctx, made.id)).toMatchObject([
      {
        type: 'subtask.created',
        subject: { kind: 'subtask', id: made.id },
        actor: { kind: 'open', id: 'open' },
        data: { subtask_id: made.id, agent_id: made.agentId, task: made.task, parent_session: 'chat', priority: 'normal', runner: 'own' },
      },
    ])
  })

  it('is one round trip: the lock, the row, the job, the notification and the COMMIT travel together', async () => {
    const proxy = await startDatabaseProxy(harness.database.appUrl)
    const behind = connect(proxy.url, { role: 'muster_app', connectionsMax: 1, applicationName: 'round-trips' })
    const ctx = { ...harness.ctx, db: behind }
    try {
      // The first time, the driver asks for types.
      await spawn(ctx, { agentId: newAgent() })
      const before = proxy.roundTrips()
      const made = await spawn(ctx, { agentId: newAgent() })
      expect(proxy.roundTrips() - before).toBe(1)
      expect(await readSubtaskRow(harness.admin, made.id)).toMatchObject({ status: 'pending', slot: true })
    } finally {
      await behind.close()
      await proxy.close()
    }
  })

  it('is heard by other processes with its commit if it may start, and not if it waits for a permit', async () => {
    const heard: string[] = []
    const unlisten = await harness.deps.dispatchDb.listen(
      'muster_run',
      (payload) => heard.push(payload),
      () => {},
    )
    const far = () => ({ ...harness.ctx, notifier: createNotifier(harness.deps.dispatchDb, () => {}), runJobs: createRunJobs() })
    const agentId = newAgent()
    // One more than the running limit.
    for (let number = 1; number <= harness.ctx.settings.SUBTASK_MAX_CONCURRENT + 1; number += 1) await spawn(far(), { agentId })
    harness.deps.notifier.notify('run', 'last')
    await expect.poll(() => heard.at(-1)).toMatch(/,last$/)
    expect(heard).toHaveLength(harness.ctx.settings.SUBTASK_MAX_CONCURRENT + 1)
    await unlisten()
  })

  it('leaves nothing behind when its transaction fails', async () => {
    const agentId = newAgent()
    await expect(spawn(harness.ctx, { agentId, runner: 'unheard-of' })).rejects.toThrow('null value in column "name"')
    expect(await harness.admin`select from subtasks where agent_id = ${agentId}`).toHaveLength(0)
  })

  it('is for the agent that the key is bound to, whatever the request says', async () => {
    const [bound, asked] = [newAgent(), newAgent()]
    const made = await createSubtask(harness.as({ ...harness.ctx.actor, agentId: bound }), { task: 'x', runner: 'own', agentId: asked })
    expect(made.agentId).toBe(bound)
  })

  it('is refused while subtasks are switched off, without the scope, and from within a subtask', async () => {
    const off = { ...harness.ctx, settings: { ...harness.ctx.settings, SUBTASK_ENABLED: false } }
    expect(await codeOf(spawn(off))).toBe('subtasks_disabled')
    expect(await codeOf(spawn(harness.as({ ...harness.ctx.actor, scopes: ['subtasks:read'] })))).toBe('forbidden')
    const lineage = { subtaskId: 's', taskId: null, sessionId: 'subtask-s', depth: 1 as const }
    expect(await codeOf(spawn(harness.as({ ...harness.ctx.actor, lineage })))).toBe('spawn_blocked')
  })
})

describe('the pending limit', () => {
  it('is exact when 50 ask at once: 5 are accepted and 45 refused', async () => {
    const agentId = newAgent()
    const codes = await Promise.all(Array.from({ length: 50 }, () => codeOf(spawn(harness.ctx, { agentId }))))
    expect(codes.filter((code) => code === 'none')).toHaveLength(5)
    expect(codes.filter((code) => code === 'pending_limit_reached')).toHaveLength(45)
    expect(await harness.admin`select from subtasks where agent_id = ${agentId}`).toHaveLength(5)
  })

  it('says which agent is full, at how many, and when to come again', async () => {
    const agentId = newAgent()
    await spawnMany(harness.ctx, 5, { agentId })
    const refusal = await spawn(harness.ctx, { agentId }).catch((error: DomainError) => error)
    expect(refusal).toMatchObject({ code: 'pending_limit_reached', details: { limit: 5, agent_id: agentId, retryAfterSeconds: 1 } })
  })

  it('counts what waits, not what runs, and not what other agents have', async () => {
    const agentId = newAgent()
    await spawnMany(harness.ctx, 5, { agentId })
    expect(await claimAll(harness.ctx)).toHaveLength(3)
    await spawnMany(harness.ctx, 3, { agentId })
    expect(await codeOf(spawn(harness.ctx, { agentId }))).toBe('pending_limit_reached')
    expect(await codeOf(spawn(harness.ctx, { agentId: newAgent() }))).toBe('none')
  })

  it('can be set for a project, and for one of its agents', async () => {
    const ctx = await harness.projectCtx()
    await updateProject(ctx, ctx.actor.projectId, {
      settings: { limits: { pending_per_agent: 2, agents: { 'busy, "one"': { pending: 7 }, never: { pending: 0 } } } },
    })
    const accepted = async (agentId: string) => {
      const codes = await Promise.all(Array.from({ length: 10 }, () => codeOf(spawn(ctx, { agentId, runner: 'external' }))))
      return codes.filter((code) => code === 'none').length
    }
    expect(await accepted('anybody')).toBe(2)
    expect(await accepted('busy, "one"')).toBe(7)
    expect(await accepted('never')).toBe(0)
  })
})

describe('subtasks that are spawned at once', () => {
  it('are accepted or refused each for itself, whoever they come with', async () => {
    const [full, roomy] = [newAgent(), newAgent()]
    const wrong = { ...harness.ctx, newId: () => 'no-uuid' }
    const asked = [
      ...Array.from({ length: 7 }, () => spawn(harness.ctx, { agentId: full })),
      spawn(wrong, { agentId: roomy }),
      ...Array.from({ length: 3 }, () => spawn(harness.ctx, { agentId: roomy })),
    ]
    const outcomes = (await Promise.allSettled(asked)).map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.status : outcome.reason.code))
    const refused = 'pending_limit_reached'
    // 22P02: invalid text representation. The one that cannot be stored takes nobody with it.
    expect(outcomes).toEqual([...Array(5).fill('pending'), refused, refused, '22P02', ...Array(3).fill('pending')])
    const rows =
      await harness.admin`select agent_id, count(*)::int, count(*) filter (where slot)::int as slots from subtasks where agent_id in (${full}, ${roomy}) group by 1`
    expect(new Map(rows.map((row) => [row.agent_id, [row.count, row.slots]]))).toEqual(
      new Map([
        [full, [5, 3]],
        [roomy, [3, 3]],
      ]),
    )
    expect(await invariants(harness.admin, { limitsHaveChanged: true })).toEqual([])
  })

  it('take slots from later ones of the same moment', async () => {
    const agentId = newAgent()
    const made = await Promise.all((['low', 'low', 'low', 'urgent'] as const).map((priority) => spawn(harness.ctx, { agentId, priority })))
    const slots = await Promise.all(made.map(async ({ id }) => (await readSubtaskRow(harness.admin, id)).slot))
    expect(slots[3]).toBe(true)
    expect(slots.filter(Boolean)).toHaveLength(3)
    expect(await invariants(harness.admin, { limitsHaveChanged: true })).toEqual([])
  })
})

describe('the running limit', () => {
  it('lets as many start as it says, for the server, a project and an agent', async () => {
    const ctx = await harness.projectCtx()
    await spawnMany(ctx, 5, { agentId: 'before' })
    expect(await claimAll(ctx)).toHaveLength(3)
    await updateProject(ctx, ctx.actor.projectId, {
      settings: { limits: { pending_per_agent: 10, running_per_agent: 2, agents: { busy: { running: 4 }, never: { running: 0 } } } },
    })
    await spawnMany(ctx, 6, { agentId: 'anybody' })
    expect(await claimAll(ctx)).toHaveLength(2)
    await spawnMany(ctx, 6, { agentId: 'busy' })
    expect(await claimAll(ctx)).toHaveLength(4)
    await spawnMany(ctx, 6, { agentId: 'never' })
    expect(await claimAll(ctx)).toHaveLength(0)
  })

  it('starts what waits as soon as it is raised', async () => {
    const ctx = await harness.projectCtx()
    const limit = (running_per_agent: number) => updateProject(ctx, ctx.actor.projectId, { settings: { limits: { running_per_agent } } })
    await limit(0)
    const waiting = await spawnMany(ctx, 4, { agentId: 'stopped' })
    await spawn(ctx, { agentId: 'another' })
    expect(await claimAll(ctx)).toEqual([])

    await limit(2)
    const started = await claimAll(ctx)
    expect(started.filter((run) => run.agentId === 'stopped').map((run) => run.id)).toEqual(waiting.slice(0, 2).map((subtask) => subtask.id))
    expect(started.filter((run) => run.agentId === 'another')).toHaveLength(1)
  })

  it('stops nothing that runs when it is lowered, and starts nothing more until enough has ended', async () => {
    const ctx = await harness.projectCtx()
    await spawnMany(ctx, 4)
    const running = await claimAll(ctx)
    await updateProject(ctx, ctx.actor.projectId, { settings: { limits: { running_per_agent: 1 } } })
    for (const run of running.slice(0, 2)) await settleOne(ctx, run)
    expect(await claimAll(ctx)).toEqual([])
    await settleOne(ctx, running[2] as (typeof running)[0])
    expect(await claimAll(ctx)).toHaveLength(1)
  })
})

describe('priority', () => {
  it('lets an urgent subtask take the slot of a low one that nobody has started', async () => {
    const agentId = newAgent()
    const low = await spawnMany(harness.ctx, 3, { agentId, priority: 'low' })
    const urgent = await spawn(harness.ctx, { agentId, priority: 'urgent' })

    const slots = await Promise.all([...low, urgent].map(async (subtask) => (await readSubtaskRow(harness.admin, subtask.id)).slot))
    expect(slots).toEqual([true, true, false, true])
    expect((await claimAll(harness.ctx)).map((run) => run.id)).toEqual([urgent.id, low[0]?.id, low[1]?.id])
  })

  it('takes no slot from a subtask that runs, nor from one that is not later', async () => {
    const agentId = newAgent()
    await spawnMany(harness.ctx, 2, { agentId, priority: 'low' })
    await claimAll(harness.ctx)
    await spawn(harness.ctx, { agentId, priority: 'urgent' })
    const second = await spawn(harness.ctx, { agentId, priority: 'urgent' })
    expect((await readSubtaskRow(harness.admin, second.id)).slot).toBe(false)
  })

  it('is served in order: urgent, high, normal, low, and the oldest first among equals', async () => {
    const ctx = await harness.projectCtx()
    await updateProject(ctx, ctx.actor.projectId, { settings: { limits: { running_per_agent: 20, pending_per_agent: 20 } } })
    const made: Record<string, string[]> = { urgent: [], high: [], normal: [], low: [] }
    for (const priority of ['low', 'high', 'urgent', 'normal', 'normal', 'high', 'urgent', 'low'] as const)
      made[priority]?.push((await spawn(ctx, { priority })).id)
    expect((await claimAll(ctx)).map((run) => run.id)).toEqual([...(made.urgent ?? []), ...(made.high ?? []), ...(made.normal ?? []), ...(made.low ?? [])])
  })

  it('ages: a low one that has waited for three minutes comes before a new urgent one', async () => {
    const agentId = newAgent()
    const first = await spawn(harness.ctx, { agentId, priority: 'low' })
    await advanceClock(harness.admin, '160 seconds')
    const soon = await spawn(harness.ctx, { agentId, priority: 'urgent' })
    await advanceClock(harness.admin, '30 seconds')
    const late = await spawn(harness.ctx, { agentId, priority: 'urgent' })

    expect((await claimAll(harness.ctx)).map((run) => run.id)).toEqual([soon.id, first.id, late.id])
    await resetClock(harness.admin)
  })

  it('counts across agents', async () => {
    const low = await spawn(harness.ctx, { agentId: newAgent(), priority: 'low' })
    const urgent = await spawn(harness.ctx, { agentId: newAgent(), priority: 'urgent' })
    expect((await claimAll(harness.ctx, { limit: 1 })).map((run) => run.id)).toEqual([urgent.id])
    expect((await claimAll(harness.ctx, { limit: 1 })).map((run) => run.id)).toEqual([low.id])
  })
})
