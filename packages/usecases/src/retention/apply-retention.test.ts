import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createArchive, folderStore } from '@muster/archive'
import { maintenance, retention, sending, transaction } from '@muster/db'
import type { Archive } from '@muster/domain'
import { advanceClock, claimOne, completed, drainOutbox, type Harness, makeTask, resetClock, settleOne, spawn, startHarness } from '@muster/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  applyRetention,
  type Ctx,
  completeTask,
  createWebhook,
  flagQuality,
  listSteps,
  postMessage,
  previewRetention,
  readEvents,
  updateProject,
} from '../index.ts'
import { rememberEpisodes } from '../memory/change-memory.ts'

let harness: Harness
let folder: string
let archive: Archive

beforeEach(async () => {
  harness = await startHarness({ settings: { SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}` } })
  folder = await mkdtemp(join(tmpdir(), 'muster-archive-'))
  archive = createArchive(folderStore(folder))
})

afterEach(async () => {
  await resetClock(harness.admin)
  await harness.close()
  await rm(folder, { recursive: true, force: true })
})

const WEBHOOK = { url: 'https://example.com/hook', description: null, subject: null, agentId: null, sessionId: null, isOrdered: false }
const apply = (deps: Partial<Harness['deps']> = {}) => applyRetention({ ...harness.deps, ...deps }, 60_000)

/** A subtask with one step, run to its end. */
async function ended(ctx: Ctx, input: Parameters<typeof spawn>[1] = {}): Promise<string> {
  await spawn(ctx, input)
  const run = await claimOne(ctx)
  await harness.admin`insert into steps (project_id, subtask_id, seq, attempt, kind, content) values (${run.projectId}, ${run.id}, 1, 1, 'message', '"work"')`
  await settleOne(ctx, run, completed('Done.'))
  await drainOutbox(harness.deps)
  return run.id
}

/** The log goes on in the next partition, and memory has read it: the partitions before are full. */
async function nextPartition(): Promise<void> {
  await rememberEpisodes(harness.deps)
  await harness.admin`select setval('muster_system.event_seq', (select to_key from muster_system.partitions where parent = 'events' and from_key <= (select last_value from muster_system.event_seq) order by from_key desc limit 1))`
  await harness.admin`update muster_system.memory set read_seq = (select last_value from muster_system.event_seq)`
  await maintenance.ensurePartitions(harness.deps.dispatchDb, 30)
}

const countOf = async (table: string) => (await harness.admin.unsafe<{ count: number }[]>(`select count(*) as count from ${table}`))[0]?.count
const archived = async () => {
  const tables: Record<string, number> = {}
  for await (const entry of archive.entries()) for (const { table } of await archive.read(entry)) tables[table] = (tables[table] ?? 0) + 1
  return tables
}

describe('retention', () => {
  it('holds up no delivery while it works', async () => {
    const { dispatchDb } = harness.deps
    const limits = { limit: 1, leaseSeconds: 10, perDestination: 1, breakerFailures: 1 }
    const claimed = await retention.alone(dispatchDb, () => transaction(dispatchDb, null, (tx) => sending.claimDeliveries(tx, limits)))
    expect(claimed).toEqual([])
  })

  it('drops nothing that is younger than it is kept', async () => {
    await ended(harness.ctx)
    await nextPartition()
    await advanceClock(harness.admin, '29 days')
    expect(await apply()).toEqual({ partitions: 0, rows: {}, isUnfinished: false })
  })

  it('drops old partitions whole, archived first, and tells a reader with an old cursor', async () => {
    await ended(harness.ctx)
    const seen = await readEvents(harness.ctx, { afterSeq: 0, limit: 100 })
    const [events, steps] = [await countOf('events'), await countOf('steps')]
    await nextPartition()
    await advanceClock(harness.admin, '32 days')
    const report = await apply({ archive })
    expect(report?.partitions).toBeGreaterThanOrEqual(2)
    expect([await countOf('events'), await countOf('steps')]).toEqual([0, 0])
    expect(await archived()).toMatchObject({ events, steps })
    await expect(readEvents(harness.ctx, { afterSeq: seen[0]?.id ?? 0, limit: 10 })).rejects.toMatchObject({ code: 'cursor_pruned' })
    expect(await readEvents(harness.ctx, { afterSeq: 0, limit: 10 })).toEqual([])
    expect(await readEvents(harness.ctx, { afterSeq: seen.at(-1)?.id ?? 0, limit: 10 })).toEqual([])
  })

  it('keeps the rows of a project that keeps them for longer, and of that project alone', async () => {
    const other = await harness.projectCtx()
    await updateProject(other, other.actor.projectId, { settings: { retention_days: { events: 100, steps: 100 } } })
    await ended(harness.ctx)
    const kept = await ended(other)
    const before = await readEvents(other, { afterSeq: 0, limit: 100 })
    await nextPartition()
    await advanceClock(harness.admin, '40 days')
    await apply({ archive })
    expect(await readEvents(other, { afterSeq: 0, limit: 100 })).toEqual(before)
    expect((await listSteps(other, kept, { limit: 10 })).items).toHaveLength(1)
    expect(await readEvents(harness.ctx, { afterSeq: 0, limit: 100 })).toEqual([])
    expect(await countOf('steps')).toBe(1)
    // A second look changes nothing, and the end of the longer time ends it.
    await advanceClock(harness.admin, '2 days')
    expect((await apply({ archive }))?.partitions).toBe(0)
    await advanceClock(harness.admin, '70 days')
    await apply({ archive })
    expect([await countOf('events'), await countOf('steps')]).toEqual([0, 0])
  })

  it('deletes the rows of a project that keeps them for less time before their partition goes', async () => {
    const other = await harness.projectCtx()
    await updateProject(other, other.actor.projectId, { settings: { retention_days: { events: 5, steps: 5, inbox: 5 } } })
    await ended(other)
    const mine = await ended(harness.ctx)
    const cursor = (await readEvents(other, { afterSeq: 0, limit: 1 }))[0]?.id ?? 0
    await rememberEpisodes(harness.deps)
    await advanceClock(harness.admin, '7 days')
    const report = await apply({ archive })
    expect(report?.rows).toMatchObject({ steps: 1 })
    expect(report?.rows.events).toBeGreaterThan(2)
    await expect(readEvents(other, { afterSeq: cursor, limit: 10 })).rejects.toMatchObject({ code: 'cursor_pruned' })
    expect((await listSteps(harness.ctx, mine, { limit: 10 })).items).toHaveLength(1)
    expect((await readEvents(harness.ctx, { afterSeq: 0, limit: 10 })).length).toBeGreaterThan(2)
  })

  it('drops an ended subtask with all that belongs to it', async () => {
    await ended(harness.ctx, { parentSessionId: 'boss' })
    await rememberEpisodes(harness.deps)
    await advanceClock(harness.admin, '366 days')
    await apply({ archive })
    for (const table of ['subtasks', 'attempts', 'evaluations', 'episode_words', 'inbox', 'steps', 'updates'])
      expect([table, await countOf(table)]).toEqual([table, 0])
    expect(await archived()).toMatchObject({ subtasks: 1, attempts: 1, evaluations: 1, inbox: 1 })
  })

  it('keeps what is flagged, what has not ended, the subtasks of a task that has not, and what another one goes on from', async () => {
    const flagged = await ended(harness.ctx)
    await flagQuality(harness.ctx, { kind: 'subtask', id: flagged }, { quality: 'good', tags: [] })
    const task = await makeTask(harness.ctx)
    const ofTask = await ended(harness.ctx, { taskId: task.id })
    const earlier = await ended(harness.ctx)
    const later = await ended(harness.ctx)
    await harness.admin`update subtasks set resume_of = ${earlier} where id = ${later}`
    const gone = await ended(harness.ctx)
    const live = await spawn(harness.ctx)
    await nextPartition()
    await advanceClock(harness.admin, '400 days')
    await harness.admin`update subtasks set completed_at = muster_now() where id = ${later}`
    await apply()
    const left = (await harness.admin<{ id: string }[]>`select id from subtasks`).map(({ id }) => id)
    expect(new Set(left)).toEqual(new Set([flagged, ofTask, earlier, later, live.id]))
    expect(left).not.toContain(gone)
    expect((await listSteps(harness.ctx, flagged, { limit: 10 })).items).toHaveLength(1)
    await completeTask(harness.ctx, task.id, { outputs: {}, summary: 'Done.' })
    await apply()
    expect(await harness.admin`select from subtasks where id = ${ofTask}`).toHaveLength(0)
    expect(await countOf('tasks')).toBe(1)
  })

  it('drops messages with their evaluations, except flagged ones', async () => {
    const [gone, kept] = await Promise.all(['a', 'b'].map((content) => postMessage(harness.ctx, 's', { role: 'user', content } as never)))
    await harness.admin`update session_messages set training_candidate = true where content = 'b'`
    await advanceClock(harness.admin, '91 days')
    await apply({ archive })
    expect((await harness.admin<{ content: string }[]>`select content from session_messages`).map(({ content }) => content)).toEqual(['b'])
    expect([gone, kept]).toHaveLength(2)
  })

  it('drops nothing while the archive fails, and goes on when it works', async () => {
    await ended(harness.ctx)
    await nextPartition()
    await advanceClock(harness.admin, '32 days')
    const before = await countOf('events')
    const broken: Archive = { ...archive, write: () => Promise.reject(new Error('The disk is full.')) }
    await expect(apply({ archive: broken })).rejects.toThrow('The disk is full.')
    expect(await countOf('events')).toBe(before)
    await apply({ archive })
    expect(await countOf('events')).toBe(0)
    expect((await archived()).events).toBe(before)
  })

  it('goes on after a death between the archive and the drop, and the archive has each row under one name', async () => {
    await ended(harness.ctx)
    await nextPartition()
    await advanceClock(harness.admin, '400 days')
    const [events, subtasks] = [await countOf('events'), await countOf('subtasks')]
    for (const survives of [0, 1, 2, 3, 4]) {
      let written = 0
      const dying: Archive = {
        ...archive,
        async write(name, rows) {
          const entry = await archive.write(name, rows)
          if (written++ === survives) throw new Error('killed')
          return entry
        },
      }
      await apply({ archive: dying }).catch(() => undefined)
    }
    await apply({ archive })
    expect([await countOf('events'), await countOf('subtasks')]).toEqual([0, 0])
    expect(await archived()).toMatchObject({ events, subtasks })
  })

  it('is done by one process at a time', async () => {
    await retention.alone(harness.deps.dispatchDb, async () => expect(await apply()).toBeNull())
    expect(await apply()).not.toBeNull()
  })

  it('leaves a partition for later while a dump reads the table, without holding anybody up for long', async () => {
    await ended(harness.ctx)
    await nextPartition()
    await advanceClock(harness.admin, '32 days')
    await harness.admin.begin(async (dump) => {
      await dump`lock table events, steps in access share mode`
      expect((await apply())?.partitions).toBe(0)
      await spawn(harness.ctx)
    })
    expect((await apply())?.partitions).toBeGreaterThan(0)
  })

  it.each([
    ['inbox', 30],
    ['deliveries', 90],
    ['session_messages', 90],
    ['subtasks', 365],
  ])('keeps %s for %i days, as shipped', async (table, days) => {
    await createWebhook(harness.ctx, { ...WEBHOOK, events: ['subtask.completed'] })
    await ended(harness.ctx, { parentSessionId: 'boss' })
    await postMessage(harness.ctx, 'boss', { role: 'user', content: 'Hello.' } as never)
    await harness.admin`update inbox set delivered_at = muster_now()`
    await harness.admin`update deliveries set status = 'delivered', ended_at = muster_now()`
    await advanceClock(harness.admin, `${days - 1} days`)
    await apply()
    expect(await countOf(table)).toBe(1)
    await advanceClock(harness.admin, '2 days')
    await apply()
    expect(await countOf(table)).toBe(0)
  })

  it('says in a dry run what it then does, and changes nothing', async () => {
    await createWebhook(harness.ctx, { ...WEBHOOK, events: ['*'] })
    for (const parentSessionId of ['boss', 'other']) await ended(harness.ctx, { parentSessionId })
    await postMessage(harness.ctx, 'boss', { role: 'user', content: 'Hello.' } as never)
    await harness.admin`update inbox set delivered_at = muster_now()`
    await harness.admin`update deliveries set status = 'delivered', ended_at = muster_now()`
    await nextPartition()
    await advanceClock(harness.admin, '400 days')
    await spawn(harness.ctx)
    const tables = ['events', 'steps', 'subtasks', 'inbox', 'deliveries', 'session_messages', 'evaluations', 'muster_system.partitions']
    const before = await Promise.all(tables.map(countOf))
    const preview = await previewRetention(harness.deps)
    expect(await Promise.all(tables.map(countOf))).toEqual(before)
    const report = await apply()
    expect(preview.partitions).toHaveLength(report?.partitions ?? -1)
    const expected = preview.rows.filter(({ count }) => count > 0)
    expect(expected.map(({ table }) => table).sort()).toEqual(['deliveries', 'inbox', 'session_messages', 'subtasks'])
    for (const { table, count } of expected) expect([table, report?.rows[table]]).toEqual([table, count])
    const { rows, partitions } = await previewRetention(harness.deps)
    expect([rows.filter(({ count }) => count > 0), partitions]).toEqual([[], []])
  })

  it('drops nothing where it is switched off', async () => {
    expect(await apply({ settings: { ...harness.deps.settings, RETENTION_ENABLED: false } })).toBeNull()
  })
})
