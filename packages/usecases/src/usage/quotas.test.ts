import { randomBytes, randomUUID } from 'node:crypto'
import { storedBytes, transaction } from '@muster/db'
import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { advanceClock, claimOne, completed, drainOutbox, type Harness, makeTask, resetClock, settleOne, spawn, startHarness } from '@muster/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  addUpBytes,
  applyRetention,
  askAboutTask,
  completeTask,
  createEvaluation,
  createTsg,
  createWebhook,
  eraseData,
  learnFact,
  postMessage,
  putSubagent,
  rememberEpisodes,
  takeRoom,
} from '../index.ts'

const COUNTED = ['subtasks', 'bodies', 'steps', 'session_messages', 'evaluations', 'updates', 'check_ins', 'facts', 'questions', 'schedules'].concat([
  'deliveries',
  'subagent_versions',
  'task_revisions',
  'tasks',
  'tsgs',
])

let harness: Harness

beforeEach(async () => {
  harness = await startHarness({
    settings: { SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}`, PROJECT_STORED_BYTES_CEILING: '1000000', RUN_STORED_BYTES_CEILING: '50000' },
  })
})

afterEach(async () => {
  await resetClock(harness.admin)
  await harness.close()
})

/** What the project stores, as the counters say. */
async function counted(): Promise<number> {
  const found = await transaction(harness.ctx.db, DEFAULT_PROJECT_ID, (tx) => storedBytes.readStoredBytes(tx, DEFAULT_PROJECT_ID, null))
  return found.project
}

/** Changes that are not added up yet. */
async function waiting(): Promise<number | undefined> {
  return (await harness.admin<{ count: number }[]>`select count(*)::int as count from muster_system.byte_changes`)[0]?.count
}

/** What the project stores, counted anew from every row. */
async function recounted(): Promise<number> {
  let sum = 0
  for (const table of COUNTED) {
    const [measure] = await harness.admin<{ bytes: string }[]>`select muster_system.bytes_of(${table}) as bytes`
    const [row] = await harness.admin.unsafe<{ bytes: number }[]>(`select coalesce(sum(${measure?.bytes}), 0)::int as bytes from ${table} x`)
    sum += row?.bytes ?? 0
  }
  return sum
}

/** Something of each kind. */
async function work(): Promise<void> {
  const { ctx, admin } = harness
  await createWebhook(ctx, { url: 'https://example.com', events: ['*'], description: null, subject: null, agentId: null, sessionId: null, isOrdered: false })
  await spawn(ctx, { parentSessionId: 'boss' })
  const run = await claimOne(ctx)
  await admin`insert into steps (project_id, subtask_id, seq, attempt, kind, content) values (${run.projectId}, ${run.id}, 1, 1, 'message', to_jsonb(repeat('work ', 5000)))`
  await settleOne(ctx, run, completed('x'.repeat(70_000)))
  const task = await makeTask(ctx, { parent_session_id: 'boss' })
  const question = { kind: 'question', options: null, schema: null, arguments: null, default: null, onExpiry: 'continue' } as const
  await askAboutTask(ctx, task.id, { ...question, prompt: 'Which?', expiresInSeconds: 60 })
  await completeTask(ctx, task.id, { outputs: {}, summary: 'Done.' })
  await postMessage(ctx, 'boss', { role: 'user', content: 'y'.repeat(3_000) } as never)
  await learnFact(ctx, { content: 'A fact.' })
  await createEvaluation(ctx, { output: 'evaluated' })
  await putSubagent(ctx, 'one', '---\ndescription: x\n---\n\nx')
  await createTsg(ctx, { title: 'Guide', content: 'Text.', patterns: ['boom'] } as never)
  await drainOutbox(harness.deps)
  await rememberEpisodes(harness.deps)
}

describe('the count of stored bytes', () => {
  it('is what all rows together count as, before and after it is added up, and when work goes on', async () => {
    await work()
    const first = await counted()
    expect(first).toBe(await recounted())
    expect(first).toBeGreaterThan(100_000)
    expect((await harness.admin`select from deliveries`).length).toBeGreaterThan(3)
    await Promise.all([addUpBytes(harness.deps), addUpBytes(harness.deps), work()])
    await addUpBytes(harness.deps)
    expect(await counted()).toBe(await recounted())
  })

  it('goes down with what retention drops, in partitions and row by row', async () => {
    await work()
    const before = await counted()
    await advanceClock(harness.admin, '60 days')
    await applyRetention(harness.deps, 60_000)
    const withoutSteps = await counted()
    expect(withoutSteps).toBe(await recounted())
    expect(before - withoutSteps).toBeGreaterThan(25_000)
    await advanceClock(harness.admin, '400 days')
    await applyRetention(harness.deps, 60_000)
    expect(await counted()).toBe(await recounted())
  })

  it('is read without more than a few thousand changes waiting, however many were written', async () => {
    const { ctx, admin } = harness
    const before = await counted()
    await admin`insert into muster_system.byte_changes (project_id, run_id, bytes) select ${DEFAULT_PROJECT_ID}, null, 10 from generate_series(1, 20000)`
    ;(await takeRoom(ctx, 1))()
    await expect.poll(waiting, { timeout: 10_000 }).toBe(0)
    expect(await counted()).toBe(before + 200_000)
  })

  it('is added up by one look at a time, however many find that too many changes wait', async () => {
    const { ctx, admin } = harness
    await admin`insert into muster_system.byte_changes (project_id, run_id, bytes) select ${DEFAULT_PROJECT_ID}, null, 10 from generate_series(1, 6000)`
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
    const sql = vi.fn(async (parts: TemplateStringsArray) => {
      await held
      return await ctx.dispatchDb.sql(parts)
    })
    const observed = { ...ctx, dispatchDb: { ...ctx.dispatchDb, sql: sql as never } }
    const lookOfAnotherRun = async () => (await takeRoom(observed, 1, randomUUID()))()
    for (let nth = 0; nth < 3; nth += 1) await lookOfAnotherRun()
    expect(sql).toHaveBeenCalledTimes(1)
    letGo()
    await expect.poll(waiting, { timeout: 10_000 }).toBe(0)
  })

  it('goes down with what is erased', async () => {
    await work()
    await eraseData(harness.ctx, { kind: 'project' })
    expect(await counted()).toBe(await recounted())
    expect(await counted()).toBe(0)
  })
})

describe('room for what is to be stored', () => {
  it('is given to no two callers at once, and freed when their writes have ended', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => takeRoom(harness.ctx, 100_000)))
    const taken = outcomes.filter((outcome) => outcome.status === 'fulfilled')
    expect(taken).toHaveLength(10)
    expect(outcomes.find((outcome) => outcome.status === 'rejected')?.reason).toMatchObject({
      code: 'quota_exceeded',
      details: { limited_by: 'project', limit: 1_000_000, requested: 100_000 },
    })
    for (const { value } of taken) value()
    // They have stored nothing, which the next look finds.
    await expect.poll(() => takeRoom(harness.ctx, 100_000).then(() => 'taken', String), { timeout: 5_000 }).toBe('taken')
  })
})
