import {
  advanceClock,
  claimOne,
  completed,
  drainOutbox,
  type Harness,
  makeTask,
  resetClock,
  scriptedJudge,
  settleOne,
  spawn,
  startHarness,
} from '@muster/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  announceRetention,
  applyRetention,
  type Ctx,
  cancelTask,
  completeTask,
  createEvaluation,
  createSchedule,
  deactivateSchedule,
  dispatchTask,
  flagQuality,
  judgeEvaluation,
  listSteps,
  postMessage,
  previewRetention,
  rememberEpisodes,
  updateProject,
} from '../index.ts'

/*
 * What something that goes on still needs stays, and goes once nothing needs it any more.
 */
let harness: Harness

beforeEach(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await resetClock(harness.admin)
  await harness.close()
})

const apply = () => applyRetention(harness.deps, 60_000)

/** A subtask, run to its end. */
async function ended(ctx: Ctx, input: Parameters<typeof spawn>[1] = {}): Promise<string> {
  await spawn(ctx, input)
  const run = await claimOne(ctx)
  await settleOne(ctx, run, completed('Done.'))
  await drainOutbox(harness.deps)
  return run.id
}

const idsOf = async (table: 'subtasks' | 'session_messages' | 'evaluations'): Promise<string[]> =>
  (await harness.admin<{ id: string }[]>`select id from ${harness.admin(table)} order by id`).map(({ id }) => id)

const say = async (content: string, more: object = {}): Promise<string> =>
  (await postMessage(harness.ctx, 's', { role: 'assistant', content, ...more } as never)).id

const evaluate = async (output: string): Promise<string> => (await createEvaluation(harness.ctx, { output })).evaluation.id

/** A judge has not answered about an evaluation, and then it has. */
const awaitJudge = async (evaluationId: string) => {
  const { projectId } = harness.ctx.actor
  await harness.admin`insert into judgements (project_id, evaluation_id) values (${projectId}, ${evaluationId}) on conflict do nothing`
}
/** A transcript of one step for each. */
const addSteps = (...ids: string[]) =>
  harness.admin`insert into steps (project_id, subtask_id, seq, attempt, kind, content) select project_id, id, 1, 1, 'message', '"work"' from subtasks where id = any(${ids})`

/** A task with a criterion: the result of its run, and a message about it, each too long for a row; then the task ends. */
async function judgeable(ctx: Ctx, text: string): Promise<{ run: string; message: string }> {
  const task = await makeTask(ctx, { acceptance_criteria: ['It compiles'] })
  await dispatchTask(ctx, task.id, () => ({ runner: 'own' }))
  const run = await claimOne(ctx)
  const content = `${text}\n<npl-reflection>\n✅ It compiles\n</npl-reflection>`
  const message = await postMessage(ctx, 's', { role: 'assistant', content, taskId: task.id } as never)
  await cancelTask(ctx, task.id, 'Enough.')
  await settleOne(ctx, run, completed(text))
  await drainOutbox(harness.deps)
  return { run: run.id, message: message.id }
}

const answerAll = () => harness.admin`update judgements set status = 'done', ended_at = muster_now()`

describe('what retention keeps', () => {
  it('the last subtask of a schedule that still fires', async () => {
    const schedule = await createSchedule(harness.ctx, { task: 'Look.', phrase: { kind: 'every', text: '1 day' }, runner: 'own' })
    const [earlier, last] = [await ended(harness.ctx), await ended(harness.ctx)]
    await harness.admin`update subtasks set schedule_id = ${schedule.id}`
    const other = await ended(harness.ctx)
    await advanceClock(harness.admin, '400 days')
    await apply()
    expect(await idsOf('subtasks')).toEqual([last])
    expect([earlier, other]).toHaveLength(2)
    await deactivateSchedule(harness.ctx, schedule.id)
    await apply()
    expect(await idsOf('subtasks')).toEqual([])
  })

  it('the rounds before one that is kept', async () => {
    const rounds = [await ended(harness.ctx), await ended(harness.ctx), await ended(harness.ctx)]
    await harness.admin`update subtasks set revision_of = ${rounds[0] as string} where id = ${rounds[1] as string}`
    await harness.admin`update subtasks set revision_of = ${rounds[1] as string} where id = ${rounds[2] as string}`
    await advanceClock(harness.admin, '400 days')
    await harness.admin`update subtasks set completed_at = muster_now() where id = ${rounds[2] as string}`
    await apply()
    expect(await idsOf('subtasks')).toEqual(rounds)
    await advanceClock(harness.admin, '366 days')
    // Each goes when the one after it has gone.
    for (let call = 0; call < 3; call += 1) await apply()
    expect(await idsOf('subtasks')).toEqual([])
  })

  it('messages of a task that has not ended', async () => {
    const task = await makeTask(harness.ctx)
    const ofTask = await say('Of the task.', { task_id: task.id })
    await harness.admin`update session_messages set task_id = ${task.id} where id = ${ofTask}`
    await say('Of none.')
    await advanceClock(harness.admin, '100 days')
    await apply()
    expect(await idsOf('session_messages')).toEqual([ofTask])
    await completeTask(harness.ctx, task.id, { outputs: {}, summary: 'Done.' })
    await apply()
    expect(await idsOf('session_messages')).toEqual([])
  })

  it('the rounds before one that has not ended, with the transcript that it goes on from', async () => {
    const earlier = await ended(harness.ctx)
    const other = await ended(harness.ctx)
    await addSteps(earlier, other)
    const live = await spawn(harness.ctx)
    await harness.admin`update subtasks set revision_of = ${earlier} where id = ${live.id}`
    await advanceClock(harness.admin, '400 days')
    await apply()
    expect(await idsOf('subtasks')).toEqual([earlier, live.id])
    expect((await listSteps(harness.ctx, earlier, { limit: 10 })).items).toHaveLength(1)
    expect(await harness.admin`select from steps`).toHaveLength(1)
  })

  it('a training example and its transcript, and no subtask beside it', async () => {
    const [example, other] = [await ended(harness.ctx), await ended(harness.ctx)]
    await addSteps(example, other)
    expect(await flagQuality(harness.ctx, { kind: 'subtask', id: example }, { quality: 'excellent', tags: [] })).toMatchObject({ trainingCandidate: true })
    await advanceClock(harness.admin, '400 days')
    await apply()
    expect(await idsOf('subtasks')).toEqual([example])
    expect((await listSteps(harness.ctx, example, { limit: 10 })).items).toHaveLength(1)
    expect(await harness.admin`select from steps`).toHaveLength(1)
  })

  it('all that a judge is asked about: it judges results and messages that are older than they are kept', async () => {
    const judged = await harness.projectCtx()
    await updateProject(judged, judged.actor.projectId, { settings: { evaluation: { judge: true } } })
    const text = `It compiles. ${'ä'.repeat(70_000)}`
    const waiting = await judgeable(judged, text)
    await judgeable(harness.ctx, text)
    expect(await harness.admin`select from judgements where status = 'pending'`).toHaveLength(2)
    await advanceClock(harness.admin, '400 days')
    await apply()
    expect([await idsOf('subtasks'), await idsOf('session_messages')]).toEqual([[waiting.run], [waiting.message]])
    const asked: string[] = []
    const judge = scriptedJudge(async ({ output }) => {
      asked.push(output)
      return { kind: 'judged', verdicts: [], model: 'test', usage: { inputTokens: 1, outputTokens: 1, costUsdMicros: 0 } }
    })
    for (const job of await harness.deps.judgeJobs.take(10))
      expect(await judgeEvaluation(harness.deps, judge, job, new AbortController().signal)).toBe('judged')
    expect(asked.map((output) => output.startsWith(text))).toEqual([true, true])
    await apply()
    expect([await idsOf('subtasks'), await idsOf('session_messages')]).toEqual([[], []])
  })

  it('what a judge has not answered about: a subtask, a message, and a text alone', async () => {
    const run = await ended(harness.ctx)
    const message = await say('Judge this.')
    const alone = await evaluate('A text.')
    await evaluate('Another text.')
    const [about] = [await ended(harness.ctx), await say('This is not judged.')]
    const { projectId } = harness.ctx.actor
    await harness.admin`delete from evaluations where subtask_id is not null or message_id is not null`
    for (const [column, id] of [
      ['subtask_id', run],
      ['message_id', message],
    ] as const) {
      const evaluationId = await evaluate('x')
      await harness.admin`update evaluations set ${harness.admin({ [column]: id })} where id = ${evaluationId} and project_id = ${projectId}`
      await awaitJudge(evaluationId)
    }
    await awaitJudge(alone)
    await advanceClock(harness.admin, '400 days')
    await apply()
    expect([await idsOf('subtasks'), await idsOf('session_messages')]).toEqual([[run], [message]])
    expect(await idsOf('evaluations')).toHaveLength(3)
    expect(await idsOf('subtasks')).not.toContain(about)
    await answerAll()
    await apply()
    expect([await idsOf('subtasks'), await idsOf('session_messages'), await idsOf('evaluations')]).toEqual([[], [], []])
  })
})

describe('a dry run', () => {
  const keepEvents = (ctx: Ctx, days: number) => updateProject(ctx, ctx.actor.projectId, { settings: { retention_days: { events: days } } })

  it('names projects that have events older than they keep them, in a partition that stays', async () => {
    const [brief, long] = [await harness.projectCtx(), await harness.projectCtx()]
    await keepEvents(brief, 3)
    await keepEvents(long, 100)
    for (const ctx of [harness.ctx, brief, long]) await ended(ctx)
    await rememberEpisodes(harness.deps)
    const early = async () => (await previewRetention(harness.deps)).earlyProjects
    expect(await early()).toEqual([])
    await advanceClock(harness.admin, '5 days')
    expect(await early()).toEqual([{ kind: 'events', projectId: brief.actor.projectId, days: 3 }])
    // The log is so slow that its only partition has events that the server does not keep.
    await advanceClock(harness.admin, '35 days')
    const named = await early()
    expect(named.map(({ projectId }) => projectId).toSorted()).toEqual([harness.ctx.actor.projectId, brief.actor.projectId].toSorted())
    const eventsOf = async () =>
      new Map(
        (await harness.admin<{ id: string; count: number }[]>`select project_id as id, count(*) as count from events group by 1`).map(({ id, count }) => [
          id,
          count,
        ]),
      )
    const before = await eventsOf()
    await apply()
    expect([...(await eventsOf())]).toEqual([[long.actor.projectId, before.get(long.actor.projectId)]])
    expect(await early()).toEqual([])
  })

  it('says what would be dropped, and that nothing is, where retention is switched off', async () => {
    await say('Of none.')
    await advanceClock(harness.admin, '100 days')
    const off = { ...harness.deps, settings: { ...harness.deps.settings, RETENTION_ENABLED: false } }
    const preview = await previewRetention(off)
    expect(preview.isEnabled).toBe(false)
    expect(await applyRetention(off, 60_000)).toBeNull()
    expect(await idsOf('session_messages')).toHaveLength(1)
    expect({ ...(await previewRetention(harness.deps)), isEnabled: false }).toEqual(preview)
    expect((await apply())?.rows).toMatchObject({ session_messages: preview.rows.find(({ table }) => table === 'session_messages')?.count })
  })
})

describe('the start of a process', () => {
  const said = (settings: object, archive: object | null = null) => {
    const lines: string[] = []
    const log = { debug() {}, warn() {}, error() {}, info: (_: object, message: string) => void lines.push(message) }
    announceRetention({ settings: { ...harness.deps.settings, ...settings }, archive: archive as never, log })
    return lines
  }

  it('says what is dropped for good, and after how long', () => {
    expect(said({ RETENTION_DAYS: { events: 7 } })).toEqual([
      'what is older than this is dropped for good, because ARCHIVE_URL is not set: events 7 days, steps 30 days, inbox 30 days, deliveries 90 days, messages 90 days, subtasks 365 days, folders 90 days; projects may set other days, see docs/storage.md',
    ])
  })

  it('says where it is archived before, and that folders are not', () => {
    expect(said({}, { place: '/archive' })).toEqual([
      expect.stringMatching(
        /^what is older than this is dropped after it was written to \/archive, but folders without a copy: .*subtasks 365 days, folders 90 days;/,
      ),
    ])
  })

  it('says that nothing is dropped where that is switched off, but for what AUDIT_DAYS ends', () => {
    expect(said({ RETENTION_ENABLED: false, AUDIT_DAYS: 400 })).toEqual([
      'this process drops nothing by RETENTION_DAYS, however old: RETENTION_ENABLED=false; entries of the audit log go after AUDIT_DAYS, 400 days',
    ])
  })
})
