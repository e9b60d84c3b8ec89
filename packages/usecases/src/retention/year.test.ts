import { randomBytes } from 'node:crypto'
import { advanceClock, claimAll, completed, drainOutbox, type Harness, makeTask, resetClock, settleOne, spawn, startHarness } from '@muster/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addUpBytes, applyRetention, completeTask, createWebhook, postMessage, rememberEpisodes } from '../index.ts'

const MONTHS = 30
/** From here on as much is dropped as comes, and pages of indexes that held what was dropped have been used again. */
const STEADY_FROM = 17
const PAGE = 8_192
const SUBTASKS_A_MONTH = 9

const BOUNDED = ['subtasks', 'attempts', 'inbox', 'session_messages', 'episode_words', 'events', 'steps', 'deliveries', 'outbox', 'muster_system.byte_changes']
/** Those of completed tasks stay with their tasks. */
const EVALUATIONS = '(select from evaluations where subtask_id is not null) as e'

let harness: Harness

beforeAll(async () => {
  const secretsKeys = `one:${randomBytes(32).toString('base64')}`
  harness = await startHarness({ settings: { SUBTASK_MAX_PENDING: '100', SUBTASK_MAX_CONCURRENT: '100', SECRETS_KEYS: secretsKeys } })
  const rest = { description: null, subject: null, agentId: null, sessionId: null, isOrdered: false }
  await createWebhook(harness.ctx, { url: 'https://example.com/hook', events: ['subtask.completed', 'task.completed'], ...rest })
})

afterAll(async () => {
  await resetClock(harness.admin)
  await harness.close()
})

/** A month of work, scaled down: subtasks with transcripts and an inbox item, some for a task that ends, messages, and what a webhook is sent of it. */
async function month(): Promise<void> {
  const { ctx, admin } = harness
  const task = await makeTask(ctx, { parent_session_id: 'boss' })
  for (let nth = 0; nth < SUBTASKS_A_MONTH; nth += 1)
    await spawn(ctx, { parentSessionId: 'boss', agentId: `agent-${nth}`, ...(nth % 3 === 0 ? { taskId: task.id } : {}) })
  for (const run of await claimAll(ctx, { limit: 100 })) {
    await admin`insert into steps (project_id, subtask_id, seq, attempt, kind, content) select ${run.projectId}, ${run.id}, n, 1, 'message', to_jsonb(repeat('work ', 20)) from generate_series(1, 5) n`
    await settleOne(ctx, run, completed('x'.repeat(500)))
  }
  await completeTask(ctx, task.id, { outputs: {}, summary: 'Done.' })
  await postMessage(ctx, 'boss', { role: 'user', content: 'Hello.' } as never)
  await admin`update inbox set delivered_at = muster_now() where delivered_at is null`
  await drainOutbox(harness.deps)
  await admin`update deliveries set status = 'delivered', ended_at = muster_now() where status = 'pending'`
  await rememberEpisodes(harness.deps)
}

/** Rows of the tables that retention bounds. */
async function rows(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of [
    'subtasks',
    'attempts',
    EVALUATIONS,
    'events',
    'steps',
    'deliveries',
    'inbox',
    'session_messages',
    'episode_words',
    'updates',
    'muster_system.partitions',
  ]) {
    const [row] = await harness.admin.unsafe<{ count: number }[]>(`select count(*) as count from ${table}`)
    counts[table] = row?.count ?? 0
  }
  return counts
}

/**
 * Does what autovacuum does with tables above its thresholds. Another snapshot of this database, such as that of an ANALYZE of autovacuum, would keep
 * it from removing rows: then it is done again.
 */
async function vacuum(): Promise<void> {
  for (let before = true, after = true; before || after; ) {
    before = await hasOtherSnapshot()
    await harness.admin.unsafe(`vacuum ${BOUNDED.filter((table) => table !== 'steps').join(', ')}`)
    after = await hasOtherSnapshot()
  }
}

async function hasOtherSnapshot(): Promise<boolean> {
  const found = await harness.admin`
    select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and (backend_xmin is not null or backend_xid is not null)`
  return found.length > 0
}

/** Bytes of those tables, and of their indexes, with all partitions. */
async function sizes(): Promise<Record<string, number>> {
  const found = await harness.admin<{ name: string; table: number; indexes: number }[]>`
    select name, sum(pg_table_size(relid)) as table, sum(pg_indexes_size(relid)) as indexes
    from unnest(${BOUNDED}::text[]) as name, lateral (select relid from pg_partition_tree(name::regclass) union select name::regclass) as parts group by name`
  return Object.fromEntries(found.flatMap(({ name, table, indexes }) => [[name, table] as const, [`indexes of ${name}`, indexes] as const]))
}

it('keeps as much after two and a half years as a year before, in rows and in bytes, while the work goes on', async () => {
  const history: Record<string, number>[] = []
  const bytes: Record<string, number>[] = []
  for (let nth = 0; nth < MONTHS; nth += 1) {
    await month()
    await advanceClock(harness.admin, '30 days')
    await applyRetention(harness.deps, 60_000)
    await addUpBytes(harness.deps)
    await vacuum()
    history.push(await rows())
    bytes.push(await sizes())
  }
  const [first, last] = [history[STEADY_FROM], history.at(-1)] as [Record<string, number>, Record<string, number>]
  expect(last).toEqual(first)
  expect(first.subtasks).toBeLessThanOrEqual(13 * SUBTASKS_A_MONTH)
  expect(first.steps).toBeLessThanOrEqual(2 * SUBTASKS_A_MONTH * 5)
  expect(first.deliveries).toBeLessThanOrEqual(4 * (SUBTASKS_A_MONTH + 1))
  expect(last['muster_system.partitions']).toBeLessThanOrEqual(60)
  // Of each, at most: within a month, a page more or less is in use.
  const most = (months: typeof bytes) =>
    Object.fromEntries(Object.keys(months[0] ?? {}).map((name) => [name, Math.max(...months.map((month) => month[name] ?? 0))]))
  const [before, after] = [most(bytes.slice(STEADY_FROM, -6)), most(bytes.slice(-6))]
  expect(
    Object.keys(after)
      .filter((name) => (after[name] ?? 0) > (before[name] ?? 0) + PAGE)
      .map((name) => `${name}: ${before[name]} → ${after[name]}`),
  ).toEqual([])
  const total = (sizes: typeof before) => Object.values(sizes).reduce((sum, each) => sum + each, 0)
  expect(total(after)).toBeLessThanOrEqual(total(before) + 2 * PAGE)
}, 120_000)
