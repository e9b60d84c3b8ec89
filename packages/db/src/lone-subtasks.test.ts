import { randomUUID } from 'node:crypto'
import { DEFAULT_PROJECT_ID, type NewEvent } from '@muster/domain'
import { runQueue } from '@muster/jobs'
import {
  claimAll,
  claimOne,
  completed,
  drain,
  drainOutbox,
  type Harness,
  invariants,
  readSubtaskRow,
  settleOne,
  spawn,
  spawnMany,
  startHarness,
  waitUntilBlocked,
} from '@muster/testing'
import { type Explained, recordStatements } from '@muster/testing/statements'
import { type Ctx, settleRuns, updateProject } from '@muster/usecases'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { auditLog, lanes, type NewAuditEntry, type NewSubtaskRow, pipeline, spawn as spawns, transaction, writeOnce } from './index.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterAll(() => harness.close())

/** A row with a value in each column that a request sets. */
function wholeRow(own: Partial<NewSubtaskRow> = {}): NewSubtaskRow {
  return {
    id: harness.deps.newId(),
    projectId: DEFAULT_PROJECT_ID,
    agentId: `agent-${randomUUID()}`,
    parentSessionId: 'chat',
    task: 'Read "everything".\nÄ',
    taskId: randomUUID(),
    taskRevision: 7,
    scheduleId: randomUUID(),
    subagentName: 'scout',
    subagentVersion: 3,
    resumeOf: randomUUID(),
    background: false,
    priority: 'high',
    runner: 'own',
    model: 'some-model',
    timeoutSeconds: 77,
    maxAttempts: 4,
    budgetMaxSteps: 11,
    budgetMaxTokens: 12,
    budgetMaxCostMicros: 13,
    notify: false,
    requiredOutputs: [{ name: 'count', description: null, schema: { type: 'integer' } }],
    metadata: { nested: { list: [1, null] } },
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    maxRevisions: 2,
    jobId: randomUUID(),
    ...own,
  }
}

const created = ({ id }: NewSubtaskRow): NewEvent => ({
  type: 'subtask.created',
  subject: { kind: 'subtask', id },
  data: { subtask_id: id, priority: 'high' },
  actor: { kind: 'key', id: 'key-1' },
})
const entryOf = ({ id }: NewSubtaskRow, onlyWithSubtaskId: string | null): NewAuditEntry => ({
  onlyWithSubtaskId,
  actor: { kind: 'key', id: 'key-1', name: 'CI' },
  origin: { door: 'http', address: '192.0.2.1', operation: 'spawnSubtask', requestId: `request-${id}`, ids: { subtask_id: id }, fields: ['task', 'priority'] },
})

const AGEING_SECONDS = 60
/** What the server sets; each of them would refuse nothing here. */
const ROOM: lanes.LaneDefaults = { running: 3, pending: 5, projectRunning: 60, projectPending: 100, ceilings: { running: 1_000, pending: 10_000 } as never }

const insertAlone = (row: NewSubtaskRow, defaults = ROOM, entry: NewAuditEntry | null = entryOf(row, null)) =>
  writeOnce(harness.deps.db, row.projectId, (tx) =>
    spawns.insertAlone(tx, { row, created: created(row) }, defaults, AGEING_SECONDS, runQueue(row.runner, row.projectId), entry, { channel: 'x', text: null }),
  )

const insertInBatch = (row: NewSubtaskRow, defaults = ROOM) =>
  transaction(harness.deps.db, row.projectId, async (tx) => {
    const [, rows] = await pipeline([
      lanes.lockProjectLanes(tx, row.projectId, [row.agentId], defaults),
      spawns.insertSubtasks(tx, row.projectId, [{ row, created: created(row) }], defaults, AGEING_SECONDS, harness.deps.runJobs.inserting(tx), {
        isReserved: false,
      }),
    ])
    await auditLog.insertAuditEntries(tx, row.projectId, [entryOf(row, row.id)])
    return rows.get(row.id)
  })

const [INSTANT, ID] = [/"\d{4}-\d\d-\d\dT[\d:.]+(?:\+00:00|Z)"/g, /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g]
/**
 * What is stored, as a text in which two subtasks that were written in the same way are equal: ids are numbered in their order, and instants are tens of seconds
 * after the first one.
 */
function normal(stored: unknown): unknown {
  const text = JSON.stringify(stored)
  const startMs = Math.min(...[...text.matchAll(INSTANT)].map(([instant]) => Date.parse(JSON.parse(instant))))
  const ids: string[] = []
  const numbered = text.replaceAll(ID, (id) => {
    if (!ids.includes(id)) ids.push(id)
    return `<${ids.indexOf(id)}>`
  })
  return JSON.parse(numbered.replaceAll(INSTANT, (instant) => `"+${Math.round((Date.parse(JSON.parse(instant)) - startMs) / 10_000)}"`))
}

/** Everything that is stored of a subtask, but for secrets and places. */
async function storedOf(id: string) {
  const isOwn = ([name, value]: [string, unknown]) =>
    ['credential_hash', 'lease_token_hash', 'seq', 'place'].includes(name) || (name === 'id' && typeof value === 'number')
  const rows = async (table: string, column: string, order = '1') =>
    (
      await harness.admin.unsafe<{ row: Record<string, unknown> }[]>(`select to_jsonb(t) as row from ${table} t where ${column} = $1 order by ${order}`, [id])
    ).map(({ row }) => Object.fromEntries(Object.entries(row).filter((field) => !isOwn(field))))
  return {
    subtask: await rows('subtasks', 'id::text'),
    attempts: await rows('attempts', 'subtask_id::text'),
    inbox: await rows('inbox', 'subtask_id::text'),
    evaluations: await rows('evaluations', 'subtask_id::text'),
    events: await rows('muster_system.waiting_events', 'subject_id::text', 'id, place'),
    audit: await rows('audit_log', "ids ->> 'subtask_id'"),
    // Its priority is the place of its row, in seconds.
    jobs: (await rows('pgboss.job', "data ->> 'id'")).map(({ priority, ...job }) => ({ ...job, hasPriority: Number(priority) < 0 })),
  }
}

describe('a subtask that is accepted alone', () => {
  // Rows that name tasks and schedules that are not there.
  afterEach(async () => {
    await harness.admin`delete from pgboss.job`
    for (const table of ['subtasks', 'attempts', 'evaluations', 'inbox', 'outbox', 'audit_log']) await harness.admin`delete from ${harness.admin(table)}`
  })

  it('leaves the rows of one that is accepted in a batch', async () => {
    const [alone, batched] = [wholeRow(), wholeRow()]
    for (const [column, value] of Object.entries(alone)) expect(value, column).toBeDefined()
    expect(await insertAlone(alone)).toEqual(expect.any(Date))
    expect(await insertInBatch(batched)).toMatchObject({ hasPermit: true })
    const [one, other] = [normal(await storedOf(alone.id)), normal(await storedOf(batched.id))]
    expect(one).toEqual(other)
    expect(one).toMatchObject({ subtask: [{ slot: true }], events: [{}], audit: [{}], jobs: [{ name: 'run.own' }] })
    const placesOf = await harness.admin<{ is_place: boolean }[]>`
      select j.priority = -floor(extract(epoch from s.rank_at))::int as is_place from subtasks s join pgboss.job j on j.id = s.job_id
      where s.id in (${alone.id}, ${batched.id})`
    expect(placesOf).toEqual([{ is_place: true }, { is_place: true }])
  })

  it('leaves no entry in the audit log where its caller has no origin, and its notification goes with the commit', async () => {
    const heard: string[] = []
    const unlisten = await harness.deps.dispatchDb.listen(
      'muster_run',
      (payload) => heard.push(payload),
      () => {},
    )
    const row = wholeRow()
    await writeOnce(harness.deps.db, row.projectId, (tx) =>
      spawns.insertAlone(tx, { row, created: created(row) }, ROOM, AGEING_SECONDS, 'run.own', null, { channel: 'muster_run', text: 'a call' }),
    )
    await expect.poll(() => heard).toEqual(['a call'])
    expect((await storedOf(row.id)).audit).toEqual([])
    await unlisten()
  })

  type Limited = { settings?: object; defaults?: Partial<lanes.LaneDefaults>; held?: number; waiting?: number; other?: number }
  it.each<[string, Limited]>([
    ['its agent has as many permits as the server allows', { held: 3 }],
    ['the agent has as many as the project allows each', { settings: { running_per_agent: 1 }, held: 1 }],
    ['the agent has as many as it may', { settings: { agents: { me: { running: 2 } }, running_per_agent: 9 }, held: 2 }],
    [
      'the ceiling of the server is lower than the limit of the agent',
      { settings: { agents: { me: { running: 9 } } }, defaults: { ceilings: { running: 1, pending: 99 } as never }, held: 1 },
    ],
    ['the agent has as many pending as the server allows', { defaults: { running: 9, pending: 2 }, held: 2 }],
    ['the agent has as many pending as the project allows each', { settings: { running_per_agent: 9, pending_per_agent: 2 }, held: 2 }],
    ['the agent has as many pending as it may', { settings: { agents: { me: { running: 9, pending: 1 } } }, held: 1 }],
    ['no permit is allowed at all', { settings: { running_per_agent: 0 } }],
    ['the project has as many permits as it may', { settings: { running: 2 }, other: 2 }],
    ['the project has as many permits as the server allows', { defaults: { projectRunning: 1 }, other: 1 }],
    ['the project has as many pending as it may', { settings: { pending: 2 }, other: 2 }],
    ['the project has as many pending as the server allows', { defaults: { projectPending: 2 }, other: 2 }],
    ['another one of the project waits for a permit', { settings: { running: 9 }, other: 4 }],
    ['the project has a budget', { settings: { budget: { day: { tokens: 10 } } } }],
    ['an agent of the project has a budget', { settings: { agents: { another: { budget: { day: { tokens: 10 } } } } } }],
  ])(
    'is left to the transaction with all rules where %s, and otherwise gets a permit as in a batch',
    async (_, { settings = {}, defaults = {}, held = 0, other = 0 }) => {
      const ctx = await harness.projectCtx()
      const { projectId } = ctx.actor
      await spawnMany(ctx, held, { agentId: 'me' })
      await spawnMany(ctx, other, { agentId: 'another' })
      const limited = { ...ROOM, ...defaults }
      const rowOf = () => wholeRow({ projectId, agentId: 'me' })
      // Without the limit there is room.
      const free = rowOf()
      expect(await insertAlone(free, { ...ROOM, running: 9, pending: 9, projectRunning: null }, null)).toEqual(expect.any(Date))
      await harness.admin`delete from pgboss.job where data ->> 'id' = ${free.id}`
      await harness.admin`delete from subtasks where id = ${free.id}`
      await updateProject(ctx, projectId, { settings: { limits: settings } as never })

      const before = await harness.admin`select count(*) from outbox`
      expect(await insertAlone(rowOf(), limited)).toBeNull()
      expect(await harness.admin`select from subtasks where project_id = ${projectId}`).toHaveLength(held + other)
      expect(await harness.admin`select count(*) from outbox`).toEqual(before)
      const inBatch = await insertInBatch(rowOf(), limited)
      expect(inBatch?.hasPermit ?? false).toBe(false)
      await drain(ctx)
    },
  )

  it('touches no more pages where much is stored', async () => {
    const recording = recordStatements(harness)
    await spawn(recording.ctx, { agentId: 'first' })
    const call = recording.all().find(({ text }) => text.includes('muster_spawn_alone'))
    const agents = (count: number) => harness.admin`
      insert into subtasks (project_id, id, agent_id, task, runner, priority, status, timeout_seconds, max_attempts, budget_max_steps, notify, required_outputs, metadata, rank_at, completed_at, final_outcome)
      select ${DEFAULT_PROJECT_ID}, gen_random_uuid(), 'first', 'x', 'own', 'normal', 'completed', 60, 2, 50, true, '[]', '{}', now(), now(), 'completed' from generate_series(1, ${count})`
    const session = await harness.deps.db.sql.reserve()
    const pages = async () => {
      let hit = Number.NaN
      // The first calls of a session read the catalog as well.
      for (let turn = 0; turn < 3; turn += 1) {
        const row = { ...JSON.parse(call?.parameters[1] as string), id: harness.deps.newId(), job_id: randomUUID(), agent_id: `agent-${randomUUID()}` }
        const parameters = [call?.parameters[0], JSON.stringify(row), ...(call?.parameters.slice(2) ?? [])]
        const [answer] = await session.unsafe<Explained[]>(`explain (analyze, buffers, format json) ${call?.text}`, parameters as never[])
        hit = answer?.['QUERY PLAN'][0]?.Plan['Shared Hit Blocks'] as number
      }
      return hit
    }
    try {
      const few = await pages()
      await agents(30_000)
      await harness.admin`vacuum analyze subtasks`
      expect(await pages()).toBeLessThan(few + 30)
    } finally {
      session.release()
      await recording.close()
    }
  })
})

describe('an end that is stored alone', () => {
  afterEach(async () => {
    await drain(harness.ctx)
    await drainOutbox(harness.deps)
    expect(await invariants(harness.admin, { limitsHaveChanged: true })).toEqual([])
  })

  const ENDS = [
    { ...completed('Done. CRITERION[c1]: MET', { count: 3 }), summary: 'In short.' } as never,
    { kind: 'errored', error: 'broken', retryable: false, partialResult: 'half' } as const,
    { kind: 'cancelled', partialResult: null } as const,
  ]

  /** What is stored of runs that have ended: each by itself, or all at once. */
  async function endedRuns(ctx: Ctx, isAlone: boolean) {
    const made = await Promise.all(ENDS.map((_, place) => spawn(ctx, { agentId: `agent-${randomUUID()}`, parentSessionId: 'parent', task: `Task ${place}.` })))
    const runs = await claimAll(ctx)
    const reports = made.map(({ id }, place) => {
      const run = runs.find((each) => each.id === id)
      return {
        subtaskId: id,
        attempt: run?.attempt as number,
        taskId: null,
        end: ENDS[place] as never,
        usage: { inputTokens: 10, cachedInputTokens: 4, outputTokens: 5, costUsdMicros: 6, toolCalls: 7, model: 'some-model' },
      }
    })
    for (const batch of isAlone ? reports.map((report) => [report]) : [reports]) await settleRuns(ctx, ctx.actor.projectId, batch)
    const stored: unknown[] = []
    for (const { id } of made) stored.push(normal(await storedOf(id)))
    return stored
  }

  it('leaves the rows of one that is stored in a batch', async () => {
    const recording = recordStatements(harness)
    const alone = await endedRuns(recording.ctx, true)
    expect(recording.all().filter(({ text }) => text.includes('muster_end_alone'))).toHaveLength(1)
    expect(recording.all().filter(({ text }) => text.includes('with ended as'))).toHaveLength(0)
    await recording.close()
    const another = recordStatements(harness)
    expect(await endedRuns(another.ctx, false)).toEqual(alone)
    expect(another.all().filter(({ text }) => text.includes('muster_end_alone'))).toHaveLength(0)
    await another.close()
    expect(alone).toMatchObject([
      { subtask: [{ status: 'completed', slot: false, input_tokens: 10 }], attempts: [{ model: 'some-model' }], inbox: [{}], evaluations: [{}], jobs: [] },
      { subtask: [{ status: 'failed', result: 'half' }], evaluations: [] },
      { subtask: [{ status: 'cancelled' }] },
    ])
  })

  it('gives the permit to one that was accepted while it was under way', async () => {
    const ctx = await harness.projectCtx()
    const { projectId } = ctx.actor
    await updateProject(ctx, projectId, { settings: { limits: { running_per_agent: 1 } } })
    await spawn(ctx, { agentId: 'me' })
    const run = await claimOne(ctx)
    const nothing = { parentSessionId: null, taskId: null, taskRevision: null, scheduleId: null, subagentName: null, subagentVersion: null, resumeOf: null }
    const row = wholeRow({ projectId, agentId: 'me', ...nothing, maxRevisions: 0, requiredOutputs: [] })
    const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>()
    const { promise: inserted, resolve: isInserted } = Promise.withResolvers<void>()
    const accepting = transaction(harness.deps.db, projectId, async (tx) => {
      await lanes.lockProjectLanes(tx, projectId, ['me'], ROOM)
      await spawns.insertSubtasks(tx, projectId, [{ row, created: created(row) }], ROOM, AGEING_SECONDS, harness.deps.runJobs.inserting(tx), {
        isReserved: false,
      })
      isInserted()
      await mayCommit
    })
    await inserted
    const ending = settleOne(ctx, run)
    await waitUntilBlocked(harness.admin, 1)
    commit()
    await accepting
    expect(await ending).toBe('settled')
    await expect.poll(async () => (await readSubtaskRow(harness.admin, row.id)).slot).toBe(true)
    await drain(ctx)
  })
})
