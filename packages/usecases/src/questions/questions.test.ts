import { DomainError } from '@muster/domain'
import { allEvents, claimOne, drain, drainOutbox, type Harness, invariants, makeTask, readSubtaskRow, settleOne, spawn, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  answerQuestion,
  askAboutSubtask,
  askAboutTask,
  assignTask,
  authenticate,
  cancelSubtask,
  cancelTask,
  claimInbox,
  createApiKey,
  dispatchTask,
  expireQuestions,
  getQuestion,
  getTask,
  injectSession,
  listQuestions,
  listTaskUpdates,
  listUpdates,
  reviseTask,
  withdrawQuestion,
} from '../index.ts'

let harness: Harness
let agents = 0

beforeAll(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await drain(harness.ctx)
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

async function refusalOf(work: Promise<unknown>): Promise<DomainError> {
  const outcome = await work.catch((error: unknown) => error)
  if (outcome instanceof DomainError) return outcome
  throw new Error('was not refused', { cause: outcome })
}

const ASKED = {
  kind: 'question',
  prompt: 'Which one?',
  options: [
    { id: 'a', label: 'The first', description: null },
    { id: 'b', label: 'The second', description: 'Is larger.' },
  ],
  schema: null,
  arguments: null,
  default: null,
  expiresInSeconds: 3_600,
  onExpiry: 'continue',
} as const satisfies Parameters<typeof askAboutTask>[2]

type Asked = Partial<Parameters<typeof askAboutTask>[2]>

async function running(parentSessionId = 'chat') {
  agents += 1
  await spawn(harness.ctx, { agentId: `asker-${agents}`, parentSessionId })
  return await claimOne(harness.ctx)
}

const ask = (id: string, more: Asked = {}) => askAboutSubtask(harness.ctx, id, { ...ASKED, options: [...ASKED.options], ...more })
const askOfTask = (id: string, more: Asked = {}) => askAboutTask(harness.ctx, id, { ...ASKED, options: [...ASKED.options], ...more })
const notes = async (id: string) => (await listUpdates(harness.ctx, id, { limit: 50 })).items.map(({ content }) => content)
const approval = { kind: 'approval', options: null, arguments: { branch: 'main', force: false } } as const

async function assigned() {
  const made = await makeTask(harness.ctx, { parent_session_id: 'chat' })
  return (await assignTask(harness.ctx, made.id, `holder-of-${made.id}`)).task
}

async function person(name: string) {
  const { secret } = await createApiKey(harness.ctx, { name, scopes: ['tasks:read', 'tasks:write'] })
  return harness.as(await authenticate(harness.ctx, secret))
}

/** As if its time had passed. */
const makeDue = (id: string) => harness.admin`update questions set expires_at = muster_now() - interval '1 second' where id = ${id}`

describe('an answer', () => {
  it('reaches the run as one update, with its receipt', async () => {
    const run = await running()
    const question = await ask(run.id)
    const answered = await answerQuestion(harness.ctx, question.id, { option_id: 'b' })
    expect(answered).toMatchObject({ status: 'answered', answer: { option_id: 'b' }, answeredByKind: 'open' })
    const { items } = await listUpdates(harness.ctx, run.id, { limit: 50 })
    expect(items).toMatchObject([{ updateId: answered.updateId, status: 'queued', content: expect.stringContaining('Option: b (The second)') }])
    await drainOutbox(harness.deps)
    const types = (await allEvents(harness.ctx)).filter(({ subject }) => subject.id === run.id).map(({ type }) => type)
    expect(types).toEqual(expect.arrayContaining(['question.asked', 'question.answered', 'update.queued']))
  })

  it('reaches the assignee of a task as a note', async () => {
    const task = await assigned()
    const question = await askOfTask(task.id)
    await answerQuestion(harness.ctx, question.id, { option_id: 'a' })
    expect((await listTaskUpdates(harness.ctx, task.id, { limit: 50 })).items).toMatchObject([
      { updateType: 'note', content: expect.stringContaining('Option: a') },
    ])
  })

  it('counts once when two people answer at once: the other is refused by the name of who answered', async () => {
    const [one, other] = await Promise.all([person('one'), person('other')])
    for (let repeat = 0; repeat < 5; repeat += 1) {
      const run = await running()
      const { id } = await ask(run.id)
      const outcomes = await Promise.allSettled([answerQuestion(one, id, { option_id: 'a' }), answerQuestion(other, id, { option_id: 'b' })])
      const winner = outcomes[0].status === 'fulfilled' ? one : other
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      const { reason } = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult
      expect(reason).toMatchObject({ code: 'conflict', details: { answered_by: { kind: 'key', id: winner.actor.id } } })
      expect(await notes(run.id)).toHaveLength(1)
    }
  })

  it('may be repeated by its author without effect', async () => {
    const run = await running()
    const { id } = await ask(run.id)
    const first = await answerQuestion(harness.ctx, id, { option_id: 'a' })
    expect(await answerQuestion(harness.ctx, id, { option_id: 'a' })).toEqual(first)
    expect(await notes(run.id)).toHaveLength(1)
    expect((await refusalOf(answerQuestion(harness.ctx, id, { option_id: 'b' }))).code).toBe('conflict')
    expect((await refusalOf(answerQuestion(await person('another'), id, { option_id: 'a' }))).code).toBe('conflict')
  })

  it('to a question of an older revision is refused until it confirms the current one', async () => {
    const task = await assigned()
    const { id } = await askOfTask(task.id)
    await reviseTask(harness.ctx, task.id, { instructions: 'Something else.' }, [task.revision])
    expect(await refusalOf(answerQuestion(harness.ctx, id, { option_id: 'a' }))).toMatchObject({ code: 'revision_stale', details: { revision: 2 } })
    expect(await refusalOf(answerQuestion(harness.ctx, id, { option_id: 'a', revision: 1 }))).toMatchObject({ code: 'revision_stale' })
    expect(await answerQuestion(harness.ctx, id, { option_id: 'a', revision: 2 })).toMatchObject({ status: 'answered' })
  })

  it('must fit what was asked', async () => {
    const run = await running()
    const form = await ask(run.id, { options: null, schema: { type: 'object', required: ['port'], properties: { port: { type: 'integer' } } } })
    expect((await refusalOf(answerQuestion(harness.ctx, form.id, { answer: { port: 'x' } }))).details.errors).toMatchObject([{ pointer: '/answer' }])
    expect(await answerQuestion(harness.ctx, form.id, { answer: { port: 1 } })).toMatchObject({ status: 'answered' })
    const choice = await ask(run.id)
    expect((await refusalOf(answerQuestion(harness.ctx, choice.id, { option_id: 'c' }))).code).toBe('validation_failed')
    expect((await refusalOf(answerQuestion(harness.ctx, choice.id, { decision: 'approve' }))).code).toBe('validation_failed')
  })
})

describe('an approval', () => {
  it('may be for the rest of the run, and a rejection or an answer may not', async () => {
    const run = await running()
    const question = await ask(run.id, approval)
    expect((await refusalOf(answerQuestion(harness.ctx, question.id, { decision: 'reject', always: true }))).code).toBe('validation_failed')
    expect((await answerQuestion(harness.ctx, question.id, { decision: 'approve', always: true })).answer).toMatchObject({ decision: 'approve', always: true })
  })

  it('permits the arguments that were asked about, and no others', async () => {
    const run = await running()
    const question = await ask(run.id, approval)
    expect((await refusalOf(answerQuestion(harness.ctx, question.id, { decision: 'approve', arguments_digest: '0'.repeat(64) }))).code).toBe('conflict')
    const answered = await answerQuestion(harness.ctx, question.id, { decision: 'approve', arguments_digest: question.argumentsDigest as string })
    expect(answered.answer).toEqual({ decision: 'approve', arguments_digest: question.argumentsDigest })
  })

  it('of edited arguments carries their digest', async () => {
    const run = await running()
    const question = await ask(run.id, approval)
    const { answer } = await answerQuestion(harness.ctx, question.id, { decision: 'approve', edited_arguments: { branch: 'next' } })
    const same = await ask(run.id, { ...approval, arguments: { branch: 'next' } })
    expect(answer?.arguments_digest).toBe(same.argumentsDigest)
    expect(answer?.arguments_digest).not.toBe(question.argumentsDigest)
  })

  it('is never given by expiry', async () => {
    const run = await running()
    const refused = refusalOf(ask(run.id, { ...approval, default: { decision: 'approve' }, onExpiry: 'default' }))
    expect((await refused).details.errors).toMatchObject([{ field: 'default/decision' }])
  })
})

describe('an expiry', () => {
  it('happens once when two processes look at once, and delivers the default', async () => {
    const run = await running()
    const { id } = await ask(run.id, { default: { option_id: 'a' }, onExpiry: 'default' })
    expect(await expireQuestions(harness.deps)).toBe(0)
    await makeDue(id)
    const expired = await Promise.all([expireQuestions(harness.deps), expireQuestions(harness.deps)])
    expect(expired[0] + expired[1]).toBe(1)
    expect(await getQuestion(harness.ctx, id)).toMatchObject({ status: 'expired', answer: { option_id: 'a' }, answeredByKind: null })
    expect(await notes(run.id)).toEqual([expect.stringContaining('Option: a')])
    await drainOutbox(harness.deps)
    const events = (await allEvents(harness.ctx)).filter(({ type, subject }) => type === 'question.expired' && subject.id === run.id)
    expect(events).toHaveLength(1)
  })

  it('comes before an answer that is late, even where nothing has looked yet', async () => {
    const run = await running()
    const { id } = await ask(run.id)
    await makeDue(id)
    expect(await refusalOf(answerQuestion(harness.ctx, id, { option_id: 'a' }))).toMatchObject({ code: 'conflict', details: { status_now: 'expired' } })
    expect(await notes(run.id)).toEqual([])
    await expireQuestions(harness.deps)
    expect(await notes(run.id)).toEqual([expect.stringContaining('expired without an answer')])
  })

  it('fails the task, or cancels the run, where that is asked for', async () => {
    const [task, run] = [await assigned(), await running()]
    for (const { id } of [await askOfTask(task.id, { onExpiry: 'fail' }), await ask(run.id, { onExpiry: 'fail' })]) await makeDue(id)
    await expireQuestions(harness.deps)
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'failed', lastError: expect.stringContaining('expired') })
    expect((await readSubtaskRow(harness.admin, run.id)).cancel_requested_at).not.toBeNull()
  })
})

describe('expiries', () => {
  it('go on after one that cannot be stored, which is tried again', async () => {
    const asked: string[] = []
    for (let made = 0; made < 3; made += 1) asked.push((await ask((await running()).id)).id)
    const [first, bad, last] = asked as [string, string, string]
    for (const [place, id] of asked.entries())
      await harness.admin`update questions set expires_at = muster_now() - ${3 - place} * interval '1 minute' where id = ${id}`
    await harness.admin.unsafe(`
      create function refuse_expiry() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
      create trigger refuse_expiry before update on questions for each row when (new.id = '${bad}' and new.status = 'expired') execute function refuse_expiry()`)
    expect(await expireQuestions(harness.deps)).toBe(2)
    const statuses = async () => await Promise.all([first, bad, last].map(async (id) => (await getQuestion(harness.ctx, id)).status))
    expect(await statuses()).toEqual(['expired', 'open', 'expired'])
    expect(harness.log.takeErrors()).toMatchObject([{ fields: { question_id: bad } }])
    await harness.admin.unsafe('drop trigger refuse_expiry on questions; drop function refuse_expiry()')
    expect(await expireQuestions(harness.deps)).toBe(1)
    expect(await statuses()).toEqual(['expired', 'expired', 'expired'])
  })
})

describe('an expiry that fails the work', () => {
  async function dispatched() {
    const task = await makeTask(harness.ctx, { parent_session_id: 'chat' })
    const subtask = await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own' }))
    const run = await claimOne(harness.ctx)
    expect(run.id).toBe(subtask.id)
    return { task, run }
  }

  it('returns the task of a run that waits for its next attempt', async () => {
    const { task, run } = await dispatched()
    const { id } = await ask(run.id, { onExpiry: 'fail' })
    await settleOne(harness.ctx, run, { kind: 'released' })
    await makeDue(id)
    await expireQuestions(harness.deps)
    expect(await readSubtaskRow(harness.admin, run.id)).toMatchObject({ status: 'cancelled' })
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'pending', subagentSessionId: null })
  })
})

describe('open questions', () => {
  it('are withdrawn in the commit that cancels their subtask or task', async () => {
    const [task, run] = [await assigned(), await running()]
    const asked = [await askOfTask(task.id), await ask(run.id)]
    await cancelTask(harness.ctx, task.id, null)
    await cancelSubtask(harness.ctx, run.id)
    for (const { id } of asked) {
      expect(await getQuestion(harness.ctx, id)).toMatchObject({ status: 'withdrawn' })
      expect((await refusalOf(answerQuestion(harness.ctx, id, { option_id: 'a' }))).details).toMatchObject({ status_now: 'withdrawn' })
    }
    expect((await refusalOf(ask(run.id))).code).toBe('invalid_transition')
  })

  it('are withdrawn where the run ends while they are asked', async () => {
    for (let repeat = 0; repeat < 10; repeat += 1) {
      const run = await running()
      const waiters = async () => {
        const [row] = await harness.admin`select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        return row?.count as number
      }
      const work: Promise<unknown>[] = []
      // Each waits for the row of the subtask, in turn the one or the other first.
      await harness.admin.begin(async (sql) => {
        await sql`select from subtasks where id = ${run.id} for update`
        const both = [() => ask(run.id), () => settleOne(harness.ctx, run)]
        for (const each of repeat % 2 === 0 ? both : both.toReversed()) {
          work.push(each().catch((error: unknown) => error))
          await vi.waitFor(async () => expect(await waiters()).toBe(work.length), { timeout: 10_000, interval: 5 })
        }
      })
      const outcomes = await Promise.all(work)
      const asked = outcomes.find((outcome): outcome is { id: string } => typeof outcome === 'object' && outcome !== null && 'prompt' in outcome)
      expect(outcomes).toContain('settled')
      if (asked !== undefined) expect(await getQuestion(harness.ctx, asked.id)).toMatchObject({ status: 'withdrawn' })
      else expect(outcomes).toContainEqual(expect.objectContaining({ code: 'invalid_transition' }))
    }
  })

  it('are withdrawn by who asked, and take no answer then', async () => {
    const run = await running()
    const { id } = await ask(run.id)
    expect(await withdrawQuestion(harness.ctx, id)).toMatchObject({ status: 'withdrawn' })
    expect(await withdrawQuestion(harness.ctx, id)).toMatchObject({ status: 'withdrawn' })
    expect((await refusalOf(answerQuestion(harness.ctx, id, { option_id: 'a' }))).code).toBe('conflict')
  })

  it('wait in the inbox of the parent session, with their options', async () => {
    const run = await running('asked-here')
    const question = await ask(run.id)
    const { items } = await claimInbox(harness.ctx, 'asked-here', { limit: 10, ack: 'auto' })
    expect(items).toMatchObject([
      { questionId: question.id, subtaskId: run.id, task: 'Which one?', status: 'open', result: 'Options:\na: The first\nb: The second (Is larger.)' },
    ])
  })

  it('say in an injection what an approval permits, and how to decide, also for the run of a task', async () => {
    const task = await makeTask(harness.ctx, { parent_session_id: 'decides' })
    const { id: runId } = await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own', agentId: `decides-${task.id}` }))
    await claimOne(harness.ctx)
    const { id, argumentsDigest } = await ask(runId, approval)
    const { text } = await injectSession(harness.ctx, 'decides', { ack: 'auto', messages: [] })
    expect(text).toContain(`[Inbox: question ${id} of subtask ${runId} of task ${task.id} waits for an answer]`)
    expect(text).toContain(`Answer it with answer_question, question_id "${id}", or POST /questions/${id}/answer.`)
    expect(text).toContain(`To approve, exactly these arguments (arguments_digest ${argumentsDigest}):\n{`)
    expect(text).toContain('"branch": "main"')
  })

  it('are listed by their task, also those that its runs ask, newest first and in pages', async () => {
    const task = await makeTask(harness.ctx, { parent_session_id: 'chat' })
    const ofTask = await askOfTask(task.id)
    await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own', agentId: `of-task-${task.id}` }))
    const ofRun = await ask((await claimOne(harness.ctx)).id)
    await askOfTask((await assigned()).id)
    const list = (query: object) => listQuestions(harness.ctx, { taskId: task.id, limit: 50, ...query })
    expect((await list({})).items.map(({ id }) => id)).toEqual([ofRun.id, ofTask.id])
    const first = await list({ status: 'open', session: 'chat', limit: 1 })
    expect(first.items.map(({ id }) => id)).toEqual([ofRun.id])
    expect((await list({ cursor: first.nextCursor })).items.map(({ id }) => id)).toEqual([ofTask.id])
    expect((await list({ session: 'another' })).items).toEqual([])
    expect((await list({ status: 'answered' })).items).toEqual([])
  })

  it('are seen by nothing of another project', async () => {
    const other = await harness.projectCtx()
    const run = await running()
    const { id } = await ask(run.id)
    for (const call of [() => getQuestion(other, id), () => answerQuestion(other, id, { option_id: 'a' }), () => withdrawQuestion(other, id)])
      expect((await refusalOf(call())).code).toBe('not_found')
    expect((await refusalOf(askAboutSubtask(other, run.id, { ...ASKED, options: null }))).code).toBe('not_found')
    expect((await listQuestions(other, { limit: 50 })).items).toEqual([])
    expect((await listQuestions(harness.ctx, { status: 'open', session: 'chat', limit: 200 })).items.map((item) => item.id)).toContain(id)
  })
})
