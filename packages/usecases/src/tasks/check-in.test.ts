import { DomainError, type Task } from '@muster/domain'
import { allEvents, drainOutbox, type Harness, invariants, makeTask, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { assignTask, checkIn, completeTask, getTask, injectSession, listTaskCheckIns, listTaskUpdates, noteTask, reviseTask } from '../index.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

const block = (task: Task, lines: string[], revision?: number) =>
  [`<npl-block type="check-in" task-id="${task.id}"${revision === undefined ? '' : ` revision="${revision}"`}>`, ...lines, '</npl-block>'].join('\n')

async function assigned(...criteria: string[]): Promise<Task> {
  const made = await makeTask(harness.ctx, { acceptance_criteria: criteria })
  return (await assignTask(harness.ctx, made.id, 'holder')).task
}

async function refusalOf(work: Promise<unknown>): Promise<DomainError> {
  const outcome = await work.catch((error: unknown) => error)
  if (outcome instanceof DomainError) return outcome
  throw new Error('was not refused', { cause: outcome })
}

const idOf = (task: Task, text: string) => task.criteria.find((criterion) => criterion.text === text)?.id as string

describe('a check-in', () => {
  it('says how the criteria stand, by id or by text, and moves the task on', async () => {
    const task = await assigned('Links work', 'Pictures load', 'Text is short')
    const content = block(task, [
      'acceptance_criteria:',
      `  - ✅ all of them (${idOf(task, 'Links work')})`,
      '  - 🐛 pictures load',
      '  - ✅ The moon is full',
      'status: in_progress',
      'next_steps:',
      '  - Fix the pictures',
    ])
    expect(await checkIn(harness.ctx, task.id, { content })).toMatchObject({
      revision: 1,
      criteria: [
        { criterionId: idOf(task, 'Links work'), text: 'Links work', state: 'met' },
        { criterionId: idOf(task, 'Pictures load'), state: 'unmet' },
      ],
      unmatched: ['The moon is full'],
      nextSteps: ['Fix the pictures'],
      acknowledgedUpdateIds: [],
    })
    const after = await getTask(harness.ctx, task.id)
    expect(after).toMatchObject({ status: 'in_progress', revision: 1 })
    expect(after.criteria.map(({ state }) => state)).toEqual(['met', 'unmet', 'open'])
  })

  it('is listed with the revision that it speaks of, newest first, and announced', async () => {
    const task = await assigned('Links work')
    const say = (line: string) => checkIn(harness.ctx, task.id, { content: block(task, [`- ${line}`]) })
    await say('🐛 Links work')
    await reviseTask(harness.ctx, task.id, { title: 'Second' }, 'any')
    const { checkInId } = await say('✅ Links work')
    const { items, nextCursor } = await listTaskCheckIns(harness.ctx, task.id, { limit: 1 })
    expect(items).toMatchObject([{ id: checkInId, revision: 2, sessionId: 'holder', verdicts: [{ criterionId: idOf(task, 'Links work'), state: 'met' }] }])
    const older = await listTaskCheckIns(harness.ctx, task.id, { limit: 5, cursor: nextCursor as string })
    expect(older.items).toMatchObject([{ revision: 1, verdicts: [{ state: 'unmet' }] }])
    await drainOutbox(harness.deps)
    expect((await allEvents(harness.ctx, task.id)).filter(({ type }) => type === 'task.checked_in').map(({ data }) => data.check_in_id)).toEqual([
      older.items[0]?.id,
      checkInId,
    ])
  })

  it('leaves with the task what comes next, until another one says so', async () => {
    const task = await assigned('Links work')
    const says = async (...steps: string[]) => {
      await checkIn(harness.ctx, task.id, { content: block(task, ['- ❓ Links work', ...(steps.length > 0 ? ['next_steps:', ...steps] : [])]) })
      return (await getTask(harness.ctx, task.id)).nextSteps
    }
    expect(await says('- Fix the links', '- Rest')).toEqual(['Fix the links', 'Rest'])
    expect(await says()).toEqual(['Fix the links', 'Rest'])
    expect(await says('- Rest')).toEqual(['Rest'])
  })

  it('acknowledges what was handed over up to the revision that it names', async () => {
    const task = await assigned('Links work')
    const inject = () => injectSession(harness.ctx, 'holder', { ack: 'auto', messages: [] })
    await inject()
    const note = await noteTask(harness.ctx, task.id, 'one')
    const { update } = await reviseTask(harness.ctx, task.id, { title: 'Second' }, 'any')
    await inject()
    await reviseTask(harness.ctx, task.id, { title: 'Third' }, 'any')
    const delivered = [note.updateId, update?.updateId]
    const ask = (revision: number) => checkIn(harness.ctx, task.id, { content: block(task, [], revision) })
    expect((await ask(3)).acknowledgedUpdateIds).toEqual(delivered)
    expect((await ask(3)).acknowledgedUpdateIds).toEqual([])
    expect((await listTaskUpdates(harness.ctx, task.id, { limit: 5 })).items.map((update) => update.status)).toEqual(['acknowledged', 'acknowledged', 'queued'])
    await drainOutbox(harness.deps)
    expect((await allEvents(harness.ctx, task.id)).filter((event) => event.type === 'update.acknowledged').map((event) => event.data.update_id)).toEqual(
      delivered,
    )
  })

  it('of an earlier revision speaks of the criteria of that one', async () => {
    const task = await assigned('Links work', 'Pictures load')
    const links = idOf(task, 'Links work')
    await reviseTask(harness.ctx, task.id, { acceptance_criteria: [{ id: links, text: 'Links work everywhere' }, 'Pictures load'] }, 'any')
    const content = block(task, ['- ✅ Links work', '- ✅ Pictures load'], 1)
    expect(await checkIn(harness.ctx, task.id, { content })).toMatchObject({
      revision: 1,
      unmatched: [],
      criteria: [{ criterionId: links, text: 'Links work' }, {}],
    })
    // The first was reworded since, and is not known to be met.
    expect((await getTask(harness.ctx, task.id)).criteria.map(({ state }) => state)).toEqual(['open', 'met'])
  })

  it('is refused without a block of this task, and once it has ended', async () => {
    const [task, other] = [await assigned('Links work'), await assigned('Links work')]
    for (const content of ['All is well.', block(other, ['- ✅ Links work'])]) {
      expect(await refusalOf(checkIn(harness.ctx, task.id, { content }))).toMatchObject({
        code: 'validation_failed',
        details: { errors: [{ pointer: '/content' }] },
      })
    }
    expect(await refusalOf(checkIn(harness.ctx, harness.deps.newId(), { content: 'x' }))).toMatchObject({ code: 'not_found' })
    await completeTask(harness.ctx, task.id, { outputs: {} })
    expect(await refusalOf(checkIn(harness.ctx, task.id, { content: block(task, []) }))).toMatchObject({ code: 'invalid_transition' })
  })

  it('takes several blocks as one, the newest line about a criterion counting', async () => {
    const task = await assigned('Links work')
    const content = `${block(task, ['- 🐛 Links work'], 1)}\nand later\n${block(task, ['- ✅ Links work', 'next_steps:', '  - none'])}`
    expect(await checkIn(harness.ctx, task.id, { content })).toMatchObject({ criteria: [{ state: 'met' }], nextSteps: ['none'] })
    const stored = await harness.admin`select task_id, session_id, revision, content, author_kind from check_ins where task_id = ${task.id}`
    expect(stored).toEqual([{ task_id: task.id, session_id: 'holder', revision: 1, content, author_kind: 'open' }])
  })

  it('is of the sub-agent that holds the task when it names the session of Claude Code around it', async () => {
    const made = await makeTask(harness.ctx, { acceptance_criteria: ['Links work'] })
    const { task } = await assignTask(harness.ctx, made.id, 'chat:a1')
    for (const sessionId of ['chat', 'cha', 'chat:a1', undefined]) await checkIn(harness.ctx, task.id, { content: block(task, ['- ✅ Links work']), sessionId })
    const stored = await harness.admin`select session_id from check_ins where task_id = ${task.id} order by id`
    expect(stored.map(({ session_id }) => session_id)).toEqual(['chat:a1', 'cha', 'chat:a1', 'chat:a1'])
  })
})
