import { type Quality, subtaskSessionId, type TrainingMessage } from '@muster/domain'
import { claimOne, completed, type Harness, makeTask, settleOne, spawn, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Ctx, exportTraining, flagQuality, listMessages, postMessage } from '../index.ts'
import type { TrainingQuery } from './export-training.ts'

let harness: Harness
let ctx: Ctx

beforeAll(async () => {
  harness = await startHarness()
  ctx = harness.ctx
})
afterAll(() => harness.close())

async function read(as: Ctx, query: Partial<TrainingQuery> = {}): Promise<{ messages: TrainingMessage[]; quality: string }[]> {
  const lines: string[] = []
  for await (const line of exportTraining(as, { format: 'jsonl', tags: [], ...query })) lines.push(line)
  expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true)
  return lines.map((line) => JSON.parse(line))
}

describe('the export of examples', () => {
  it('brings each one once, over as many pages as there are', async () => {
    const own = await harness.projectCtx()
    await spawn(own, { task: 'Count them.' })
    const run = await claimOne(own)
    await settleOne(own, run, completed('There are 3.'))
    await flagQuality(own, { kind: 'subtask', id: run.id }, { quality: 'good', tags: [] })
    await harness.admin`
      insert into subtasks (project_id, id, agent_id, task, priority, runner, timeout_seconds, max_attempts, budget_max_steps, notify, status, final_outcome,
        completed_at, rank_at, attempt, result)
      select project_id, gen_random_uuid(), 'copied', 'Count ' || n, priority, runner, timeout_seconds, max_attempts, budget_max_steps, notify, status, final_outcome,
        completed_at, rank_at, attempt, result from subtasks cross join generate_series(1, 250) as n where id = ${run.id}`
    await harness.admin`
      insert into quality_flags (project_id, subject_kind, subject_id, quality, tags, training_candidate, author_kind, author_id)
      select project_id, 'subtask', id, 'good', '{}', true, 'key', 'k' from subtasks where agent_id = 'copied'`
    const asked = (await read(own)).map(({ messages }) => messages[0]?.content)
    expect(new Set(asked)).toEqual(new Set(['Count them.', ...Array.from({ length: 250 }, (_, place) => `Count ${place + 1}`)]))
    expect(asked).toHaveLength(251)
    expect(await read(ctx)).toEqual([])
  })

  it('has the last that was said about a task, and no more than a process should hold', async () => {
    const { id } = await makeTask(ctx)
    for (let place = 1; place <= 4; place += 1)
      await postMessage(ctx, 'talk', { role: 'assistant', content: `${place}${'x'.repeat(6 * 1_048_576)}`, taskId: id })
    await flagQuality(ctx, { kind: 'task', id }, { quality: 'good', tags: [] })
    const [example] = await read(ctx)
    expect(example?.messages.map(({ role, content }) => [role, content.charAt(0)])).toEqual([
      ['user', 'C'],
      ['assistant', '3'],
      ['assistant', '4'],
    ])
  })

  it('has what the runs of a task said in their own sessions, and the flag of the task reaches it', async () => {
    const own = await harness.projectCtx()
    const { id } = await makeTask(own)
    const other = await makeTask(own)
    const [run, stranger] = [await spawn(own, { taskId: id }), await spawn(own)]
    const ofRun = subtaskSessionId(run.id)
    await postMessage(own, ofRun, { role: 'user', content: 'Count them.' })
    await postMessage(own, ofRun, { role: 'assistant', content: 'There are 3.' })
    await postMessage(own, ofRun, { role: 'assistant', content: 'About another task.', taskId: other.id })
    await postMessage(own, subtaskSessionId(stranger.id), { role: 'assistant', content: 'About none.' })
    const flags = async (session: string) =>
      (await listMessages(own, session, { limit: 10 })).items.map(({ content, qualityFlag, trainingCandidate }) => [content, qualityFlag, trainingCandidate])
    const flag = (quality: Quality) => flagQuality(own, { kind: 'task', id }, { quality, tags: [] })
    for (const quality of ['good', 'good', 'needs_work', 'bad'] as const) {
      await flag(quality)
      expect(await flags(ofRun)).toEqual([
        ['About another task.', null, false],
        ['There are 3.', quality, quality === 'good'],
        ['Count them.', null, false],
      ])
      expect((await read(own)).map(({ messages }) => messages.map(({ content }) => content))).toEqual(
        quality === 'good' ? [['Count them.', 'There are 3.']] : [],
      )
    }
    expect(await flags(subtaskSessionId(stranger.id))).toEqual([['About none.', null, false]])
  })

  it('needs the scope', async () => {
    const reader = harness.as({ ...ctx.actor, scopes: ['tasks:read', 'subtasks:read', 'evaluations:write'] })
    await expect(read(reader)).rejects.toMatchObject({ code: 'forbidden' })
  })
})
