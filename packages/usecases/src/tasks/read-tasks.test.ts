import { createHash } from 'node:crypto'
import { type Task, unstorableReason } from '@muster/domain'
import { drainOutbox, type Harness, invariants, makeTask, startHarness } from '@muster/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  assignTask,
  type Ctx,
  cancelTask,
  checkIn,
  completeTask,
  confirmUpdate,
  failTask,
  getTask,
  getTaskContext,
  getTaskStats,
  type Idempotency,
  linkTsgToTask,
  listTaskRevisions,
  listTasks,
  listTaskUpdates,
  noteTask,
  Replay,
  reviewTask,
  reviseTask,
  unlinkTsgFromTask,
} from '../index.ts'
import type { TaskQuery } from './read-tasks.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterAll(async () => {
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
  await harness.close()
})

async function idsOf(ctx: Ctx, query: Omit<TaskQuery, 'limit'>): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await listTasks(ctx, { ...query, limit: 2, cursor })
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return ids
}

describe('the list of tasks', () => {
  let ctx: Ctx
  let made: Task[]

  beforeAll(async () => {
    ctx = await harness.projectCtx('listed')
    made = []
    for (let nth = 0; nth < 6; nth += 1) {
      made.unshift(
        await makeTask(ctx, {
          title: `Repair the ${nth % 2 === 0 ? 'roof' : 'cellar'} ${nth}`,
          instructions: nth === 3 ? 'Mind the wild geese.' : 'Be quick.',
          priority: nth < 3 ? 'urgent' : 'low',
          parent_session_id: nth % 3 === 0 ? 'parent' : null,
          ...(nth === 5 ? { expected_deliverables: ['A dry cellar wall', 'A second wall'], success_criteria: ['All walls pass the test'] } : {}),
        }),
      )
    }
  })

  const ids = (...nths: number[]) => made.filter((_, place) => nths.includes(5 - place)).map(({ id }) => id)

  it('is newest first, in pages', async () => {
    expect(await idsOf(ctx, {})).toEqual(ids(0, 1, 2, 3, 4, 5))
    expect((await listTasks(ctx, { limit: 1 })).items).toMatchObject([
      { title: 'Repair the cellar 5', hasEnhancedContext: true, deliverablesCount: 2, successCriteriaCount: 1, priority: 'low', parentSessionId: null },
    ])
    await expect(listTasks(ctx, { limit: 5, cursor: 'x' })).rejects.toMatchObject({ code: 'cursor_invalid' })
  })

  it('is narrowed by each filter and by several, with words or without', async () => {
    const [task] = made
    await assignTask(ctx, task?.id as string, 'holder')
    expect(await idsOf(ctx, { status: 'assigned' })).toEqual(ids(5))
    expect(await idsOf(ctx, { status: 'pending' })).toEqual(ids(0, 1, 2, 3, 4))
    expect(await idsOf(ctx, { subagentSession: 'holder' })).toEqual(ids(5))
    expect(await idsOf(ctx, { parentSession: 'parent' })).toEqual(ids(0, 3))
    expect(await idsOf(ctx, { priority: 'urgent' })).toEqual(ids(0, 1, 2))
    expect(await idsOf(ctx, { text: 'roof' })).toEqual(ids(0, 2, 4))
    expect(await idsOf(ctx, { text: '"wild geese" or 5' })).toEqual(ids(3, 5))
    expect(await idsOf(ctx, { text: 'repair -roof', priority: 'urgent' })).toEqual(ids(1))
    expect(await idsOf(ctx, { text: 'repair', parentSession: 'parent', status: 'pending' })).toEqual(ids(0, 3))
    expect(await idsOf(ctx, { text: 'repair', subagentSession: 'holder' })).toEqual(ids(5))
    for (const text of ['nowhere', "'", '"', '\\', '(', '%', ':*', '!']) expect(await idsOf(ctx, { text })).toEqual([])
  })

  it('is counted by status', async () => {
    const other = await harness.projectCtx('counted')
    expect(await getTaskStats(other)).toMatchObject({ total: 0, active: 0, byStatus: { pending: 0, cancelled: 0 } })
    const tasks = [await makeTask(other), await makeTask(other), await makeTask(other)]
    await cancelTask(other, tasks[0]?.id as string, 'x')
    expect(await getTaskStats(other)).toMatchObject({ total: 3, active: 2, byStatus: { pending: 2, cancelled: 1 } })
  })
})

describe('a task', () => {
  it('keeps any text that can be kept, to the letter, through storage and change', async () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }).filter((value) => value.trim() !== '' && unstorableReason(value) === null)
    await fc.assert(
      fc.asyncProperty(text, text, text, async (title, instructions, criterion) => {
        const task = await makeTask(harness.ctx, { title, instructions, acceptance_criteria: [criterion], metadata: { [title]: instructions } })
        const read = await getTask(harness.ctx, task.id)
        expect(read).toMatchObject({ title: title.trim(), instructions: instructions.trim(), criteria: [{ text: criterion.trim() }] })
        expect(read.metadata).toEqual({ [title]: instructions })
        const { task: changed } = await reviseTask(harness.ctx, task.id, { instructions: `${instructions.trim()}\n${criterion.trim()}` }, [1])
        expect(changed.instructions).toBe(`${instructions.trim()}\n${criterion.trim()}`)
      }),
      { numRuns: 40, examples: [['ä \u{1F469}\u200D\u{1F680} \uFEFF‏مرحبا\u0301 \u0001 \\ \' " $1', '{{x}}\n\ttwo', '__proto__']] },
    )
  })

  it('shows its context as a section of a prompt, and none where there is none', async () => {
    const task = await makeTask(harness.ctx, { background_context: 'Users cannot log in, since the tokens changed last week.' })
    expect(await getTaskContext(harness.ctx, task.id)).toContain('📋 BACKGROUND CONTEXT:\nUsers cannot log in')
    expect(await getTaskContext(harness.ctx, (await makeTask(harness.ctx)).id)).toBe('')
  })

  it('lists its revisions newest first and its updates oldest first, in pages', async () => {
    const task = await makeTask(harness.ctx)
    for (let nth = 2; nth <= 4; nth += 1) await reviseTask(harness.ctx, task.id, { title: `Title ${nth}` }, 'any')
    const first = await listTaskRevisions(harness.ctx, task.id, { limit: 3 })
    const rest = await listTaskRevisions(harness.ctx, task.id, { limit: 3, cursor: first.nextCursor ?? '' })
    expect([...first.items, ...rest.items].map(({ revision }) => revision)).toEqual([4, 3, 2, 1])
    const updates = await listTaskUpdates(harness.ctx, task.id, { limit: 2 })
    const more = await listTaskUpdates(harness.ctx, task.id, { limit: 2, cursor: updates.nextCursor ?? '' })
    expect([...updates.items, ...more.items].map(({ seq }) => seq)).toEqual([1, 2, 3])
    for (const cursor of ['x', '-1', '99999999999', '1e3'])
      await expect(listTaskUpdates(harness.ctx, task.id, { limit: 2, cursor })).rejects.toMatchObject({ code: 'cursor_invalid' })
  })

  it('belongs to its project, and so does everything about it', async () => {
    const other = await harness.projectCtx('other')
    const task = await makeTask(harness.ctx, { depends_on: [], parent_session_id: 'same' })
    await assignTask(harness.ctx, task.id, 'same')
    const note = await noteTask(harness.ctx, task.id, 'x')
    await harness.admin`insert into tsgs (project_id, tsg_id, title, content, patterns) values (${other.actor.projectId}, 'theirs', 't', 'x', '{x}')`
    for (const work of [
      () => getTask(other, task.id),
      () => getTaskContext(other, task.id),
      () => listTaskRevisions(other, task.id, { limit: 5 }),
      () => listTaskUpdates(other, task.id, { limit: 5 }),
      () => confirmUpdate(other, note.updateId),
      () => reviseTask(other, task.id, { title: 'x' }, 'any'),
      () => noteTask(other, task.id, 'x'),
      () => assignTask(other, task.id, 'same'),
      () => completeTask(other, task.id, { outputs: {} }),
      () => reviewTask(other, task.id, { decision: 'approve' }),
      () => failTask(other, task.id, 'x'),
      () => cancelTask(other, task.id, 'x'),
      () => checkIn(other, task.id, { content: 'x' }),
      () => linkTsgToTask(other, task.id, 'theirs'),
      () => unlinkTsgFromTask(other, task.id, 'theirs'),
      () => linkTsgToTask(harness.ctx, task.id, 'theirs'),
    ])
      await expect(work()).rejects.toMatchObject({ code: 'not_found' })
    await expect(makeTask(other, { depends_on: [task.id] })).rejects.toMatchObject({ code: 'validation_failed' })
    expect(await idsOf(other, {})).toEqual([])
    expect(await idsOf(other, { parentSession: 'same' })).toEqual([])
    expect(await idsOf(other, { text: 'count' })).toEqual([])
  })
})

describe('the same request with the same key', () => {
  it('makes one task, and one folder', async () => {
    const idempotency: Idempotency = {
      key: 'once',
      requestHash: createHash('sha256').update('x').digest(),
      toAnswer: (result) => ({ status: 201, headers: {}, body: { id: (result as Task).id } }),
    }
    const ctx = { ...harness.ctx, idempotency }
    const task = await makeTask(ctx)
    const replay = await makeTask(ctx).catch((error: unknown) => error)
    expect(replay).toBeInstanceOf(Replay)
    expect((replay as Replay).answer.body).toEqual({ id: task.id })
  })
})
