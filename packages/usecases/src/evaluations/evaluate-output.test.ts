import { checkIns, transaction } from '@muster/db'
import { type AttemptEnd, type EvaluationDetail, type EvaluationSettings, subtaskSessionId, type Task, type Verdict } from '@muster/domain'
import {
  allEvents,
  claimOne,
  completed,
  drain,
  drainOutbox,
  type Harness,
  holdRow,
  invariants,
  makeTask,
  settleOne,
  spawn,
  startHarness,
  waitUntilBlocked,
} from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  authenticate,
  buildPrompt,
  cancelTask,
  checkIn,
  checkpointRun,
  dispatchTask,
  getTask,
  listTaskUpdates,
  reviseTask,
  settleRuns,
  updateProject,
} from '../index.ts'

let harness: Harness
let agents = 0

beforeAll(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await setRules({})
  await drain(harness.ctx)
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

const setRules = (evaluation: EvaluationSettings) => updateProject(harness.ctx, harness.ctx.actor.projectId, { settings: { evaluation } })
const reflection = (...lines: string[]) => `Here it is.\n<npl-block type="reflection">\n${lines.join('\n')}\n</npl-block>`
const checkInOf = (task: Task, lines: string[], more = '') => `<npl-block type="check-in" task-id="${task.id}"${more}>\n${lines.join('\n')}\n</npl-block>`

interface StoredEvaluation {
  id: string
  origin: string
  task_id: string | null
  session_id: string
  score: number | null
  recommendation: string
  criteria_revision: number | null
  detail: EvaluationDetail
  summary: string | null
  output: string | null
}

function evaluationsOf(subtaskId: string): Promise<StoredEvaluation[]> {
  return harness.admin<StoredEvaluation[]>`select * from evaluations where subtask_id = ${subtaskId}`
}

async function evaluationOf(subtaskId: string): Promise<StoredEvaluation> {
  const [stored] = await evaluationsOf(subtaskId)
  if (stored === undefined) throw new Error('it was not evaluated')
  return stored
}

const verdictsOf = ({ detail }: StoredEvaluation): Record<string, Verdict> => Object.fromEntries(detail.criteria.map(({ text, verdict }) => [text, verdict]))

async function running(input: Parameters<typeof spawn>[1] = {}) {
  agents += 1
  await spawn(harness.ctx, { agentId: `agent-${agents}`, ...input })
  return await claimOne(harness.ctx)
}

async function runningBrief(fields: Parameters<typeof makeTask>[1]) {
  const task = await makeTask(harness.ctx, fields)
  await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own' }))
  const run = await claimOne(harness.ctx)
  await buildPrompt(harness.deps, run)
  const lookForUpdates = () =>
    checkpointRun(harness.deps, run.projectId, {
      ...run,
      subtaskId: run.id,
      workerId: 'worker-1',
      steps: [],
      usage: {},
      acknowledgedIds: [],
      takesUpdates: true,
      afterStepSeq: null,
      renewsLease: false,
      repeatUnacknowledged: false,
    })
  return { task, run, lookForUpdates, own: harness.as(await authenticate(harness.deps, run.credential)) }
}

describe('a completed subtask', () => {
  it('is evaluated in its own commit, whether it says anything or not', async () => {
    const run = await running()
    await settleOne(harness.ctx, run)
    expect(await evaluationsOf(run.id)).toMatchObject([
      {
        origin: 'subtask',
        task_id: null,
        session_id: subtaskSessionId(run.id),
        score: null,
        recommendation: 'review',
        criteria_revision: null,
        summary: null,
        output: null,
        detail: { criteria: [], warnings: [], threshold: 0.6, approveAt: 0.8 },
      },
    ])
    await drainOutbox(harness.deps)
    const { id } = await evaluationOf(run.id)
    expect((await allEvents(harness.ctx, run.id)).at(-1)).toMatchObject({ data: { evaluation: { id, score: null, recommendation: 'review' } } })
    expect(await allEvents(harness.ctx, id)).toMatchObject([{ type: 'evaluation.created', data: { evaluation_id: id, origin: 'subtask', subtask_id: run.id } }])
  })

  it('that is poor has a summary in its place', async () => {
    const run = await running()
    await settleOne(harness.ctx, run, completed(reflection('🐛 It does not compile.')))
    const { score, recommendation, summary } = await evaluationOf(run.id)
    expect([score?.toFixed(4), recommendation]).toEqual(['0.1000', 'request_revision'])
    expect(summary).toMatch(/Its score is 0.1\.\nFailing items:\n- 🐛 bug: It does not compile\.\nOutput:\nHere it is\./)
  })

  it('is judged by the rules of its project', async () => {
    await setRules({ threshold: 0.05, approve_at: 0.09 })
    const run = await running()
    await settleOne(harness.ctx, run, completed(reflection('🐛 It does not compile.')))
    expect(await evaluationOf(run.id)).toMatchObject({ recommendation: 'approve', detail: { threshold: 0.05, approveAt: 0.09 } })
  })

  it('rests on the outputs that were accepted, and on what it says of itself apart from these', async () => {
    const run = await running({ requiredOutputs: [{ name: 'count', description: null, schema: { type: 'integer' } }] })
    await settleOne(harness.ctx, run, completed('<npl-block type="check-in">\n✅ Counted.\n🐛 Not sorted.\n</npl-block>', { count: 3 }))
    const { score, detail } = await evaluationOf(run.id)
    expect(detail.criteria).toMatchObject([{ id: 'output:count', verdict: 'met', method: 'schema', evidence: 'It is delivered, and fits its JSON Schema.' }])
    expect(score).toBeCloseTo(0.55, 10)
  })

  it('is evaluated once, however often its end is told', async () => {
    const run = await running()
    const letGo = await holdRow(harness.admin, run.id)
    const both = [settleOne(harness.ctx, run, completed('one')), settleOne(harness.ctx, run, completed('two'))]
    await waitUntilBlocked(harness.admin, 2)
    await letGo()
    expect(await Promise.all(both)).toEqual(['settled', 'settled'])
    await settleOne(harness.ctx, run, completed('three'))
    expect(await evaluationsOf(run.id)).toHaveLength(1)
  })

  it.each([1, 2])('is evaluated in a commit that fails as a whole, and then as if nothing had been, with %d at once', async (count) => {
    const runs = [await running(), await running()].slice(0, count)
    const ends = runs.map((run) => ({ subtaskId: run.id, attempt: run.attempt, end: completed() }))
    const evaluated = async () => (await Promise.all(runs.map(({ id }) => evaluationsOf(id)))).flat()
    await harness.admin.unsafe(`
      create function fail_to_publish() returns trigger language plpgsql as $$ begin raise 'the outbox is gone'; end $$;
      create trigger fail_to_publish before insert on outbox for each row execute function fail_to_publish()`)
    try {
      await expect(settleRuns(harness.ctx, runs[0]?.projectId as string, ends)).rejects.toThrow('the outbox is gone')
    } finally {
      await harness.admin`drop function fail_to_publish() cascade`
    }
    expect(await evaluated()).toEqual([])
    await settleRuns(harness.ctx, runs[0]?.projectId as string, ends)
    expect(await evaluated()).toHaveLength(count)
  })
})

it.each<[string, AttemptEnd]>([
  ['failed', { kind: 'errored', error: 'No disk.', retryable: false, partialResult: reflection('🐛 Half.') }],
  ['was cancelled', { kind: 'cancelled', partialResult: reflection('🐛 Half.') }],
  ['ran out of time', { kind: 'timed_out', partialResult: reflection('🐛 Half.') }],
  ['was given back', { kind: 'released' }],
  ['announced only what it would do', completed('I will count the files.')],
])('a subtask that %s has no evaluation', async (_, end) => {
  const run = await running()
  await settleOne(harness.ctx, run, end)
  expect(await evaluationsOf(run.id)).toEqual([])
})

describe('the result of a dispatched brief', () => {
  it('is held against its criteria: one that is quietly not addressed is not met', async () => {
    const { task, run } = await runningBrief({ acceptance_criteria: ['It compiles', 'It is documented', 'It is tested'] })
    const [compiles, documented] = task.criteria as [Task['criteria'][0], Task['criteria'][0]]
    await settleOne(harness.ctx, run, completed(checkInOf(task, [`- ✅ ${compiles.text} (${compiles.id})`, `- 🐛 ${documented.text} (${documented.id})`])))
    const stored = await evaluationOf(run.id)
    expect(verdictsOf(stored)).toEqual({ 'It compiles': 'met', 'It is documented': 'unmet', 'It is tested': 'not_addressed' })
    expect(stored).toMatchObject({ task_id: task.id, criteria_revision: 1 })
  })

  it('counts as a check-in: the task knows what is met, and the holder what it has read', async () => {
    const { task, run, lookForUpdates } = await runningBrief({ acceptance_criteria: ['It compiles', 'It is documented'] })
    await reviseTask(harness.ctx, task.id, { instructions: 'Count all files.' }, [1])
    await lookForUpdates()
    await settleOne(harness.ctx, run, completed(checkInOf(task, ['- ✅ It compiles'], ' revision="2"')))
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'completed', criteria: [{ state: 'met' }, { state: 'open' }] })
    expect((await listTaskUpdates(harness.ctx, task.id, { limit: 10 })).items).toMatchObject([{ status: 'acknowledged' }])
    expect(await harness.admin`select revision, session_id from check_ins where task_id = ${task.id}`).toEqual([
      { revision: 2, session_id: subtaskSessionId(run.id) },
    ])
  })

  it('changes nothing of a task that has ended', async () => {
    const { task, run } = await runningBrief({ acceptance_criteria: ['It compiles'] })
    await cancelTask(harness.ctx, task.id, 'enough')
    await settleOne(harness.ctx, run, completed(checkInOf(task, ['- ✅ It compiles'])))
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ criteria: [{ state: 'open' }] })
    expect(await evaluationOf(run.id)).toMatchObject({ task_id: task.id, criteria_revision: 1, detail: { criteria: [{ verdict: 'met' }] } })
  })

  it('is held against what its run was told, not against what was changed and never reached it', async () => {
    const { task, run } = await runningBrief({ acceptance_criteria: ['It compiles'] })
    await reviseTask(harness.ctx, task.id, { acceptance_criteria: ['It compiles', 'It is documented'] }, [1])
    await settleOne(harness.ctx, run, completed('Done: it compiles.'))
    const stored = await evaluationOf(run.id)
    expect(stored.criteria_revision).toBe(1)
    expect(verdictsOf(stored)).toEqual({ 'It compiles': 'not_addressed' })
  })

  it('is held against a change that its run was told between two steps', async () => {
    const { task, run, lookForUpdates } = await runningBrief({ acceptance_criteria: ['It compiles'] })
    await reviseTask(harness.ctx, task.id, { acceptance_criteria: ['It compiles', 'It is documented'] }, [1])
    await lookForUpdates()
    await settleOne(harness.ctx, run, completed('Done: it compiles.'))
    const stored = await evaluationOf(run.id)
    expect(stored.criteria_revision).toBe(2)
    expect(Object.keys(verdictsOf(stored))).toEqual(['It compiles', 'It is documented'])
  })

  it('keeps its verdict when the criteria change afterwards', async () => {
    const { task, run } = await runningBrief({ acceptance_criteria: ['It compiles'], review: 'manual' })
    await settleOne(harness.ctx, run, completed('Done.'))
    const before = await evaluationOf(run.id)
    await reviseTask(harness.ctx, task.id, { acceptance_criteria: ['It is documented'] }, [1])
    expect(await evaluationOf(run.id)).toEqual(before)
  })

  it('is read together with what the run has said of its task before, of criteria that still say the same', async () => {
    const { task, run, own, lookForUpdates } = await runningBrief({ acceptance_criteria: ['It compiles', 'It is documented', 'It is tested'] })
    const [compiles, documented, tested] = task.criteria as [Task['criteria'][0], Task['criteria'][0], Task['criteria'][0]]
    const lines = ['- ✅ It compiles', '- ✅ It is documented', '- 🐛 It is tested', '- 🔒 The key is in the log']
    await checkIn(own, task.id, { content: checkInOf(task, lines) })
    const reworded = [compiles.text, { id: documented.id, text: 'It is documented in three languages' }, tested.text]
    await reviseTask(harness.ctx, task.id, { acceptance_criteria: reworded }, [1])
    await lookForUpdates()
    // The newest line counts.
    await settleOne(harness.ctx, run, completed(checkInOf(task, ['- ✅ It is tested'])))
    const stored = await evaluationOf(run.id)
    expect(verdictsOf(stored)).toEqual({ 'It compiles': 'met', 'It is documented in three languages': 'not_addressed', 'It is tested': 'met' })
    // What was about no criterion keeps the result from being approved all the same.
    expect(stored).toMatchObject({ score: 0.783333333, recommendation: 'review' })
    expect(stored.detail.closedGates).toEqual(['security', 'required_criteria'])
  })

  it('is read together with the newest of what the run has said, however much that is', async () => {
    const { task, run } = await runningBrief({ acceptance_criteria: ['It compiles'] })
    const sessionId = `subtask-${run.id}`
    await harness.admin`
      insert into check_ins (project_id, id, task_id, session_id, revision, content, verdicts, unmatched, next_steps, author_kind, author_id)
      select ${task.projectId}, lpad(n::text, 32, '0')::uuid, ${task.id}, ${sessionId}, 1, 'x', '[]', jsonb_build_array(n::text), '{}', 'worker', 'w'
      from generate_series(1, 1002) as n`
    const list = () =>
      transaction(harness.deps.db, task.projectId, (tx) => checkIns.listCheckIns(tx, task.projectId, { taskIds: [task.id], sessionIds: [sessionId] }))
    const listed = await list()
    expect([listed.length, listed[0]?.unmatched[0]?.text, listed.at(-1)?.unmatched[0]?.text]).toEqual([1_000, '3', '1002'])
    expect(listed.every(({ criteria }) => criteria[0]?.text === 'It compiles')).toBe(true)
    await harness.admin`update check_ins set content = repeat('x', 1048576) where task_id = ${task.id}`
    expect(await list()).toHaveLength(4)
    await settleOne(harness.ctx, run, completed('Done.'))
  })

  it('is read together with check-ins from before their lines were kept whole', async () => {
    const { task, run, own } = await runningBrief({ acceptance_criteria: ['It compiles'] })
    await checkIn(own, task.id, { content: checkInOf(task, ['- ✅ The moon is full']) })
    await harness.admin`update check_ins set unmatched = '["The moon is full"]' where task_id = ${task.id}`
    await settleOne(harness.ctx, run, completed('Done.'))
    expect(verdictsOf(await evaluationOf(run.id))).toEqual({ 'It compiles': 'not_addressed' })
  })

  it('has no criteria where the task was only mentioned', async () => {
    const task = await makeTask(harness.ctx, { acceptance_criteria: ['It compiles'] })
    const run = await running({ taskId: task.id })
    await settleOne(harness.ctx, run, completed(checkInOf(task, ['- ✅ It compiles'])))
    expect(await evaluationOf(run.id)).toMatchObject({ task_id: task.id, criteria_revision: null, detail: { criteria: [] } })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ criteria: [{ state: 'open' }] })
  })
})

describe('a judge', () => {
  const judgementsOf = (subtaskId: string) =>
    harness.admin`select j.status, j.model from judgements j join evaluations e on e.id = j.evaluation_id where e.subtask_id = ${subtaskId}`

  it.each<[EvaluationSettings['judge'], string | null]>([
    [true, null],
    [{ model: 'anthropic/judge' }, 'anthropic/judge'],
  ])('is asked in the same commit where the project has one (%j)', async (judge, model) => {
    await setRules({ judge })
    const { run } = await runningBrief({ acceptance_criteria: ['It compiles'] })
    await settleOne(harness.ctx, run)
    expect(await judgementsOf(run.id)).toEqual([{ status: 'pending', model }])
  })

  it('is not asked where there is nothing to ask about', async () => {
    await setRules({ judge: true })
    const run = await running({ requiredOutputs: [{ name: 'count', description: null, schema: null }] })
    await settleOne(harness.ctx, run, completed('Done.', { count: 3 }))
    expect(await judgementsOf(run.id)).toEqual([])
  })
})
