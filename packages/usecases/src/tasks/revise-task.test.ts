import { type BriefFields, DomainError, type Task } from '@muster/domain'
import { allEvents, drainOutbox, type Harness, holdRow, invariants, makeTask, startHarness, waitUntilBlocked } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  assignTask,
  cancelTask,
  completeTask,
  getTask,
  linkTsgToTask,
  listTaskRevisions,
  listTaskUpdates,
  noteTask,
  type RevisedTask,
  reviseTask,
  unlinkTsgFromTask,
} from '../index.ts'
import type { BriefPatch } from './revise-task.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

const revise = (task: { id: string; revision: number }, patch: BriefPatch): Promise<RevisedTask> => reviseTask(harness.ctx, task.id, patch, [task.revision])

async function refusalOf(work: Promise<unknown>): Promise<DomainError> {
  const outcome = await work.catch((error: unknown) => error)
  if (outcome instanceof DomainError) return outcome
  throw new Error('was not refused', { cause: outcome })
}

const assigned = async (fields: BriefFields = {}): Promise<Task> => {
  const made = await makeTask(harness.ctx, fields)
  return (await assignTask(harness.ctx, made.id, `holder-of-${made.id}`)).task
}

async function updatesOf(task: { id: string }) {
  return (await listTaskUpdates(harness.ctx, task.id, { limit: 100 })).items
}

async function guide(tsgId: string): Promise<void> {
  await harness.admin`
    insert into tsgs (project_id, tsg_id, title, content, patterns) values (${harness.ctx.actor.projectId}, ${tsgId}, ${`About ${tsgId}`}, 'x', '{x}')`
}

describe('a change of a brief', () => {
  it('makes the next revision with a diff by clauses, and one update for the holder', async () => {
    const task = await assigned({ instructions: 'Read the guide. Fix the links.', acceptance_criteria: ['Links work', 'No typing errors'] })
    const {
      task: after,
      update,
      diff,
    } = await revise(task, {
      instructions: 'Read the guide. Fix the pictures.',
      acceptance_criteria: ['No typing errors', 'Pictures load'],
      priority: 'p0',
    })
    expect(after).toMatchObject({ revision: 2, instructions: 'Read the guide. Fix the pictures.', priority: 'urgent', status: 'assigned' })
    expect(diff.instructions).toEqual([
      { op: 'keep', text: 'Read the guide.' },
      { op: 'remove', text: ' Fix the links.' },
      { op: 'add', text: ' Fix the pictures.' },
    ])
    const idOf = (of: Task, text: string) => of.criteria.find((criterion) => criterion.text === text)?.id
    expect(idOf(after, 'No typing errors')).toBe(idOf(task, 'No typing errors'))
    expect(await updatesOf(task)).toMatchObject([
      {
        updateId: update?.updateId,
        seq: 1,
        updateType: 'instructions',
        status: 'queued',
        revision: 2,
        fields: ['instructions', 'acceptance_criteria'],
      },
    ])
    expect((await listTaskRevisions(harness.ctx, task.id, { limit: 5 })).items).toMatchObject([
      { revision: 2, diff, criteria: after.criteria, author: { kind: 'open', id: 'open' } },
      { revision: 1, criteria: task.criteria },
    ])
    await drainOutbox(harness.deps)
    expect((await allEvents(harness.ctx, task.id)).map((event) => event.type)).toEqual(['task.created', 'task.assigned', 'task.revised', 'update.queued'])
  })

  it('is part of what is handed over first where nobody holds the task yet, and has its own update all the same', async () => {
    const task = await makeTask(harness.ctx)
    const { update } = await revise(task, { title: 'Count all files' })
    expect(update).toMatchObject({ status: 'superseded', revision: 2 })
    expect(await noteTask(harness.ctx, task.id, 'Before anybody holds it.')).toMatchObject({ seq: 2, status: 'queued', revision: 2 })
  })

  it('that changes nothing makes no revision', async () => {
    const task = await assigned({ metadata: { a: 1 } })
    const same = { title: task.title, priority: 'normal', metadata: { a: 1 }, depends_on: [] }
    expect(await revise(task, same)).toMatchObject({ task: { revision: 1 }, update: null, diff: {} })
    expect(await updatesOf(task)).toEqual([])
  })

  it('takes away what is null, and leaves alone what is not named', async () => {
    const task = await assigned({ background_context: 'x'.repeat(60), constraints: ['Do not touch the tests'], metadata: { a: 1 } })
    const { task: after } = await revise(task, { background_context: null, metadata: null })
    expect(after).toMatchObject({ metadata: {}, context: { constraints: { rules: ['Do not touch the tests'] } } })
    expect(after.context).not.toHaveProperty('background_context')
    expect((await revise(after, { constraints: [] })).task).toMatchObject({ context: null, criteria: [] })
  })

  it('is judged by the same rules, all of it at once, and refused as a whole', async () => {
    const task = await assigned()
    const error = await refusalOf(revise(task, { title: '', priority: 'P7', success_criteria: ['x'.repeat(201)], depends_on: ['x'] }))
    expect(error.details.errors?.map(({ pointer }) => pointer).sort()).toEqual(['/depends_on/0', '/priority', '/success_criteria/0', '/title'])
    expect((await getTask(harness.ctx, task.id)).revision).toBe(1)
  })

  it('keeps to the one that is current: none, stale and any are told apart', async () => {
    const task = await makeTask(harness.ctx)
    expect(await refusalOf(reviseTask(harness.ctx, task.id, { title: 'x' }, undefined))).toMatchObject({ code: 'revision_required', details: { revision: 1 } })
    await revise(task, { title: 'Second' })
    expect(await refusalOf(revise(task, { title: 'x' }))).toMatchObject({ code: 'revision_stale', details: { revision: 2 } })
    expect((await reviseTask(harness.ctx, task.id, { title: 'Third' }, [1, 2])).task.revision).toBe(3)
    expect((await reviseTask(harness.ctx, task.id, { title: 'Fourth' }, 'any')).task.revision).toBe(4)
  })

  it('is refused once the task has ended, like everything else that writes', async () => {
    await guide('ended')
    const task = await makeTask(harness.ctx, { tsgs: ['ended'] })
    await cancelTask(harness.ctx, task.id, 'enough')
    for (const work of [
      () => revise(task, { title: 'x' }),
      () => reviseTask(harness.ctx, task.id, { title: 'x' }, undefined),
      () => noteTask(harness.ctx, task.id, 'x'),
      () => assignTask(harness.ctx, task.id, 's'),
      () => completeTask(harness.ctx, task.id, { outputs: {} }),
      () => cancelTask(harness.ctx, task.id, 'again'),
      () => linkTsgToTask(harness.ctx, task.id, 'ended'),
      () => unlinkTsgFromTask(harness.ctx, task.id, 'ended'),
    ])
      expect(await refusalOf(work())).toMatchObject({ code: 'invalid_transition', details: { status_now: 'cancelled' } })
  })
})

describe('two changes at once', () => {
  it('from the same revision: one is made, the other is told the current revision', async () => {
    for (let time = 0; time < 5; time += 1) {
      const task = await assigned()
      const outcomes = await Promise.allSettled(['one', 'two'].map((title) => revise(task, { title })))
      expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(outcomes.find((outcome) => outcome.status === 'rejected')).toMatchObject({ reason: { code: 'revision_stale', details: { revision: 2 } } })
      expect((await updatesOf(task)).length).toBe(1)
    }
  })

  it('that do not mind the revision are both made, one upon the other', async () => {
    const task = await assigned()
    await Promise.all(Array.from({ length: 8 }, (_, nth) => reviseTask(harness.ctx, task.id, { title: `Title ${nth}` }, 'any')))
    const updates = await updatesOf(task)
    expect(updates.map((update) => [update.seq, update.revision])).toEqual(Array.from({ length: 8 }, (_, nth) => [nth + 1, nth + 2]))
  })
})

describe('a required output that is added at the moment of completion', () => {
  const outputs = { report: 'There.' }

  it('is required where the change was first', async () => {
    const task = await assigned({ required_outputs: ['report'] })
    const letGo = await holdRow(harness.admin, task.id, 'tasks')
    const changing = revise(task, { required_outputs: ['report', 'figures'] })
    await waitUntilBlocked(harness.admin, 1)
    const completing = refusalOf(completeTask(harness.ctx, task.id, { outputs }))
    await waitUntilBlocked(harness.admin, 2)
    await letGo()
    await changing
    expect(await completing).toMatchObject({ code: 'outputs_missing', details: { errors: [{ pointer: '/outputs/figures' }] } })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'assigned', completionOutputs: null })
  })

  it('is not where the completion was first: the change is refused', async () => {
    const task = await assigned({ required_outputs: ['report'] })
    const letGo = await holdRow(harness.admin, task.id, 'tasks')
    const completing = completeTask(harness.ctx, task.id, { outputs })
    await waitUntilBlocked(harness.admin, 1)
    const changing = refusalOf(revise(task, { required_outputs: ['report', 'figures'] }))
    await waitUntilBlocked(harness.admin, 2)
    await letGo()
    expect(await completing).toMatchObject({ status: 'completed' })
    expect(await changing).toMatchObject({ code: 'invalid_transition' })
  })

  it('is one or the other, however they meet', async () => {
    for (let time = 0; time < 10; time += 1) {
      const task = await assigned({ required_outputs: ['report'] })
      const [changed, completed] = await Promise.allSettled([
        revise(task, { required_outputs: ['report', 'figures'] }),
        completeTask(harness.ctx, task.id, { outputs }),
      ])
      expect([changed.status, completed.status].sort()).toEqual(['fulfilled', 'rejected'])
    }
  })
})

describe('a guide', () => {
  it('is linked as a change of the brief, once, and unlinked likewise', async () => {
    await guide('ports')
    const task = await assigned()
    expect(await linkTsgToTask(harness.ctx, task.id, 'ports')).toMatchObject({ revision: 2, tsgs: [{ tsgId: 'ports', title: 'About ports' }] })
    expect(await linkTsgToTask(harness.ctx, task.id, 'ports')).toMatchObject({ revision: 2 })
    expect(await unlinkTsgFromTask(harness.ctx, task.id, 'ports')).toMatchObject({ revision: 3, tsgs: [] })
    expect(await unlinkTsgFromTask(harness.ctx, task.id, 'ports')).toMatchObject({ revision: 3 })
    expect(await refusalOf(linkTsgToTask(harness.ctx, task.id, 'none'))).toMatchObject({ code: 'not_found' })
    expect(await updatesOf(task)).toMatchObject([
      { updateType: 'context', fields: ['tsgs'], revision: 2, status: 'queued', content: expect.stringContaining('About ports') },
      { updateType: 'context', fields: ['tsgs'], revision: 3 },
    ])
  })
})
