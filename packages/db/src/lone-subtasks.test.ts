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
  holdRow,
  invariants,
  readSubtaskRow,
  settleOne,
  spawn,
  spawnMany,
  startHarness,
  waitUntilBlocked,
} from '@muster/testing'
import { recordStatements } from '@muster/testing/statements'
import { askAboutSubtask, type Ctx, cancelSubtask, type NewSubtask, settleRuns, updateProject } from '@muster/usecases'
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
    const createdAt = await insertAlone(alone)
    expect(await harness.admin`select created_at from subtasks where id = ${alone.id}`).toEqual([{ created_at: createdAt }])
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

  type Limited = { settings?: object; defaults?: Partial<lanes.LaneDefaults>; held?: number; other?: number }
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

  it('gets the last permit once, however many ask for it at the same time', async () => {
    const rows = Array.from({ length: 12 }, () => wholeRow({ agentId: 'contested' }))
    const accepted = (await Promise.all(rows.map((row) => insertAlone(row, ROOM, null)))).filter((createdAt) => createdAt !== null)
    expect(accepted).toHaveLength(ROOM.running)
    const stored = await harness.admin<{ created_at: Date }[]>`select created_at from subtasks where agent_id = 'contested' and slot order by created_at`
    expect(stored.map((row) => row.created_at)).toEqual(accepted.sort((one, other) => one.getTime() - other.getTime()))
  })
})

describe('an end that is stored alone', () => {
  afterEach(async () => {
    await drain(harness.ctx)
    await drainOutbox(harness.deps)
    expect(await invariants(harness.admin, { limitsHaveChanged: true })).toEqual([])
  })

  interface Ending {
    input?: Partial<NewSubtask>
    end: ReturnType<typeof completed>
    isCancelled?: boolean
  }
  const refused = { requiredOutputs: [{ name: 'count', description: null, schema: { type: 'integer' } }], maxAttempts: 1 }
  const ENDINGS: Ending[] = [
    { end: { ...completed('Done.', { count: 3 }), summary: 'In short.' } as never },
    { input: { parentSessionId: 'parent' }, end: completed('Nothing was found.') },
    { input: { parentSessionId: 'parent', notify: false }, end: { ...completed(`I have counted.${' And again.'.repeat(2_000)}`), truncated: true } as never },
    { input: { ...refused, parentSessionId: 'parent' }, end: completed('Done.') },
    { input: { maxAttempts: 1 }, end: completed('I will count the files.') },
    { end: completed('Done.'), isCancelled: true },
    { input: refused, end: completed('Done.'), isCancelled: true },
  ]

  /** What is stored of runs that have ended: each by itself, or all at once. */
  async function endedRuns(ctx: Ctx, isAlone: boolean) {
    const made = await Promise.all(ENDINGS.map(({ input }, place) => spawn(ctx, { agentId: `agent-${randomUUID()}`, task: `Task ${place}.`, ...input })))
    const runs = await claimAll(ctx)
    for (const [place, { isCancelled = false }] of ENDINGS.entries()) if (isCancelled) await cancelSubtask(ctx, made[place]?.id as string)
    const reports = made.map(({ id }, place) => ({
      subtaskId: id,
      attempt: runs.find((each) => each.id === id)?.attempt as number,
      taskId: null,
      end: (ENDINGS[place] as Ending).end,
      usage: { inputTokens: 10, cachedInputTokens: 4, outputTokens: 5, costUsdMicros: 6, toolCalls: 7, model: 'some-model' },
    }))
    for (const batch of isAlone ? reports.map((report) => [report]) : [reports]) {
      const settled = new Map(batch.map(({ subtaskId }) => [subtaskId, 'settled']))
      expect(await settleRuns(ctx, ctx.actor.projectId, batch)).toEqual(settled)
      // The answer may be lost, and the same is reported again.
      expect(await settleRuns(ctx, ctx.actor.projectId, batch)).toEqual(settled)
    }
    const stored: unknown[] = []
    for (const { id } of made) stored.push(normal(await storedOf(id)))
    return stored
  }

  it('leaves the rows of one that is stored in a batch', async () => {
    const [one, other] = [recordStatements(harness), recordStatements(harness)]
    const alone = await endedRuns(one.ctx, true)
    expect(await endedRuns(other.ctx, false)).toEqual(alone)
    const waysOf = (recording: typeof one) => recording.all().flatMap(({ text }) => /muster_end_alone|with ended as/.exec(text)?.[0] ?? [])
    expect([one, other].map(waysOf)).toEqual([['muster_end_alone'], ['with ended as']])
    expect(alone).toMatchObject([
      { subtask: [{ status: 'completed', outputs: { count: 3 }, slot: false, input_tokens: 10 }], attempts: [{ model: 'some-model' }], inbox: [], jobs: [] },
      { subtask: [{ result: 'Nothing was found.' }], inbox: [{}], evaluations: [{}] },
      { subtask: [{ result_truncated: true }], evaluations: [{}] },
      { subtask: [{ status: 'failed', final_outcome: 'validation_failed', failures: 1, error: expect.any(String) }], inbox: [{}] },
      { evaluations: [] },
      { subtask: [{ cancel_requested_at: expect.any(String) }] },
      { subtask: [{ cancel_requested_at: expect.any(String) }] },
    ])
    await Promise.all([one.close(), other.close()])
  })

  /** A run whose end has been decided, and waits for its row behind something else. */
  async function settledBehind(other: (id: string) => Promise<unknown>) {
    await spawn(harness.ctx, { agentId: `agent-${randomUUID()}` })
    const run = await claimOne(harness.ctx)
    const release = await holdRow(harness.admin, run.id)
    const both = [other(run.id)]
    await waitUntilBlocked(harness.admin, 1)
    both.push(settleRuns(harness.ctx, run.projectId, [{ subtaskId: run.id, attempt: run.attempt, end: completed(), usage: { inputTokens: 10 } }]))
    await waitUntilBlocked(harness.admin, 2)
    await release()
    expect((await Promise.all(both))[1]).toEqual(new Map([[run.id, 'settled']]))
    return run.id
  }

  it('is decided again where the row has changed since it was decided', async () => {
    const id = await settledBehind((id) =>
      harness.admin`
      with used as (update subtasks set input_tokens = input_tokens + 5 where id = ${id} returning id)
      update attempts set input_tokens = input_tokens + 5 where subtask_id in (select id from used)`.execute(),
    )
    const [row] = await harness.admin`select status, input_tokens::int from subtasks where id = ${id}`
    expect(row).toEqual({ status: 'completed', input_tokens: 15 })
  })

  const ASKED = {
    kind: 'question',
    prompt: 'Which one?',
    options: [
      { id: 'a', label: 'The first', description: null },
      { id: 'b', label: 'The second', description: null },
    ],
    schema: null,
    arguments: null,
    default: null,
    onExpiry: 'continue',
    expiresInSeconds: 3_600,
  } as const

  it('is decided again where the run has asked something since', async () => {
    const id = await settledBehind((id) => askAboutSubtask(harness.ctx, id, { ...ASKED, options: [...ASKED.options] }))
    expect(await harness.admin`select status from questions where subtask_id = ${id}`).toEqual([{ status: 'withdrawn' }])
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
    // Granted with the end, not later.
    expect((await readSubtaskRow(harness.admin, row.id)).slot).toBe(true)
    await drain(ctx)
  })
})
