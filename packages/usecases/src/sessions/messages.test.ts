import { INLINE_BYTES_MAX, type Task } from '@muster/domain'
import { allEvents, drainOutbox, type Harness, invariants, makeTask, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  assignTask,
  authenticate,
  type Ctx,
  completeTask,
  createTsg,
  getEvaluation,
  getTask,
  injectSession,
  listEvaluations,
  listMessages,
  listTaskUpdates,
  noteTask,
  postMessage,
  reviseTask,
  updateProject,
} from '../index.ts'
import type { NewMessage } from './messages.ts'

let harness: Harness
let ctx: Ctx

beforeAll(async () => {
  harness = await startHarness()
  ctx = harness.ctx
})

afterEach(async () => {
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

const say = (sessionId: string, content: string, more: Partial<NewMessage> = {}, as = ctx) =>
  postMessage(as, sessionId, { role: 'assistant', content, ...more })
const inject = (sessionId: string) => injectSession(ctx, sessionId, { ack: 'auto', messages: [] })
const list = async (sessionId: string, as = ctx) => (await listMessages(as, sessionId, { limit: 50 })).items
const notFound = { code: 'not_found' }

describe('a message', () => {
  it('is stored with everything that was said of it', async () => {
    const task = await makeTask(ctx)
    const given = { role: 'tool' as const, model: 'm', taskId: task.id.toUpperCase(), agentName: 'writer', usage: { tokens: 3 }, metadata: { own: ['data'] } }
    const stored = await say('talk', 'Größe\n', given)
    expect(stored).toEqual({
      ...given,
      id: expect.any(String),
      sessionId: 'talk',
      content: 'Größe\n',
      contentBytes: 8,
      taskId: task.id,
      evalScore: null,
      evalSummary: null,
      qualityFlag: null,
      trainingCandidate: false,
      createdAt: expect.any(Date),
    })
    expect(await list('talk')).toEqual([stored])
  })

  it('that is long is kept whole, apart from what lists read', async () => {
    const longest = 'x'.repeat(INLINE_BYTES_MAX)
    const long = `${longest.slice(1)}ä`
    expect(await say('long', long)).toMatchObject({ content: null, contentBytes: INLINE_BYTES_MAX + 1 })
    expect(await say('long', longest)).toMatchObject({ content: longest, contentBytes: INLINE_BYTES_MAX })
    expect((await list('long')).map(({ content, contentBytes }) => [content?.length, contentBytes])).toEqual([
      [INLINE_BYTES_MAX, INLINE_BYTES_MAX],
      [undefined, INLINE_BYTES_MAX + 1],
    ])
    const stored = await harness.admin`
      select convert_from(b.bytes, 'UTF8') as text from session_messages m join bodies b on b.id = m.body_id where m.session_id = 'long'`
    expect(stored).toEqual([{ text: long }])
  })

  it('belongs to its session and its project', async () => {
    const other = await harness.projectCtx('other')
    await say('same', 'ours')
    await say('same', 'theirs', {}, other)
    expect((await list('same')).map(({ content }) => content)).toEqual(['ours'])
    expect((await list('same', other)).map(({ content }) => content)).toEqual(['theirs'])
    expect(await list('another')).toEqual([])
    const { id } = await makeTask(other)
    await expect(say('same', 'about theirs', { taskId: id })).rejects.toMatchObject(notFound)
    await expect(say('same', 'about nothing', { taskId: ctx.newId() })).rejects.toMatchObject(notFound)
    expect(await list('same')).toHaveLength(1)
  })

  it('needs the scope for sessions', async () => {
    const reader = harness.as({ ...ctx.actor, scopes: ['tasks:write', 'subtasks:read'] })
    await expect(say('talk', 'x', {}, reader)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(list('talk', reader)).rejects.toMatchObject({ code: 'forbidden' })
  })
})

describe('a list of messages', () => {
  it('shows the newest first, page by page', async () => {
    for (let place = 1; place <= 5; place += 1) await say('paged', String(place))
    const first = await listMessages(ctx, 'paged', { limit: 3 })
    expect(first.items.map(({ content }) => content)).toEqual(['5', '4', '3'])
    const second = await listMessages(ctx, 'paged', { limit: 3, cursor: first.nextCursor ?? '' })
    expect(second).toMatchObject({ items: [{ content: '2' }, { content: '1' }], nextCursor: null })
    await expect(listMessages(ctx, 'paged', { limit: 3, cursor: 'x' })).rejects.toMatchObject({ code: 'cursor_invalid' })
  })
})

describe('a failure in a message', () => {
  it('is told of by the next injection of its session, once', async () => {
    await createTsg(ctx, { tsgId: 'ports', title: 'Port in use', content: 'x', patterns: ['EADDRINUSE'] })
    await say('failing', 'Error: listen EADDRINUSE', { role: 'tool' })
    await say('failing', 'eaddrinuse again')
    expect(await inject('elsewhere')).toMatchObject({ items: [] })
    expect((await inject('failing')).items).toMatchObject([{ kind: 'tsg_notice', id: 'ports' }])
    await say('failing', 'EADDRINUSE')
    expect((await inject('failing')).items).toEqual([])
  })
})

const CRITERIA = ['Links work', 'Pictures load']
const block = (task: Task, lines: string[], revision = 1) =>
  `Half way.\n<npl-block type="check-in" task-id="${task.id}" revision="${revision}">\n${lines.join('\n')}\n</npl-block>\nMore.`

async function assigned(sessionId: string): Promise<{ task: Task; own: Ctx }> {
  const made = await makeTask(ctx, { acceptance_criteria: CRITERIA })
  const { task, credential } = await assignTask(ctx, made.id, sessionId)
  return { task, own: harness.as(await authenticate(harness.deps, credential)) }
}

const states = async (task: Task) => (await getTask(ctx, task.id)).criteria.map(({ state }) => state)
const checkIns = (task: Task) => harness.admin`select session_id, content, author_kind from check_ins where task_id = ${task.id}`

describe('a check-in in a message', () => {
  it('counts where the session holds the task that it is about', async () => {
    const { task } = await assigned('holder-1')
    const content = block(task, ['- ✅ Links work'])
    await say('holder-1', content, { taskId: task.id })
    expect(await getTask(ctx, task.id)).toMatchObject({ status: 'in_progress' })
    expect(await states(task)).toEqual(['met', 'open'])
    expect(await checkIns(task)).toEqual([{ session_id: 'holder-1', content: expect.stringContaining('- ✅ Links work'), author_kind: 'open' }])
    expect(await list('holder-1')).toMatchObject([{ content, taskId: task.id }])
  })

  it('acknowledges what was handed over up to the revision that it names', async () => {
    const { task } = await assigned('holder-2')
    await inject('holder-2')
    await noteTask(ctx, task.id, 'One more thing.')
    await reviseTask(ctx, task.id, { title: 'Other' }, 'any')
    await inject('holder-2')
    await say('holder-2', block(task, ['- ✅ Links work'], 2), { taskId: task.id })
    expect((await listTaskUpdates(ctx, task.id, { limit: 5 })).items.map(({ status }) => status)).toEqual(['acknowledged', 'acknowledged'])
    await drainOutbox(harness.deps)
    expect((await allEvents(ctx, task.id)).filter(({ type }) => type === 'update.acknowledged')).toHaveLength(2)
  })

  it('is text where it is about another task, in another session, said by nobody who works on it, or too late', async () => {
    const [{ task }, { task: other }] = [await assigned('holder-3'), await assigned('holder-3')]
    const content = block(task, ['- ✅ Links work'])
    await say('holder-3', content)
    await say('holder-3', content, { taskId: other.id })
    await say('watcher', content, { taskId: task.id })
    for (const role of ['user', 'system', 'tool'] as const) await say('holder-3', content, { taskId: task.id, role })
    await say('holder-3', `\`\`\`\n${content}\n\`\`\``, { taskId: task.id })
    await say('holder-3', block(task, [`- ✅ ${'x'.repeat(100_000)}`]), { taskId: task.id })
    await say('holder-3', content, { taskId: task.id }, harness.as({ ...ctx.actor, scopes: ['sessions:write'] }))
    await completeTask(ctx, task.id, { outputs: {} })
    await say('holder-3', content, { taskId: task.id })
    expect([await checkIns(task), await checkIns(other)]).toEqual([[], []])
    expect(await states(task)).toEqual(['open', 'open'])
    expect(await list('holder-3')).toHaveLength(9)
  })
})

const SCORED = '<npl-reflection>\n✅ Parses\n🐛 Slow\n</npl-reflection>'

describe('a message with blocks', () => {
  const evaluationsOf = async (messageId: string) =>
    (await listEvaluations(ctx, { limit: 200 })).items.filter((evaluation) => evaluation.messageId === messageId)

  it('is evaluated with it, whoever said it, and announced', async () => {
    for (const role of ['assistant', 'user', 'system', 'tool'] as const) {
      const said = await say('scored', `Done.\n${SCORED}`, { role })
      expect(said).toMatchObject({ evalScore: 0.55, evalSummary: expect.stringContaining('🐛 bug: Slow') })
      expect(await evaluationsOf(said.id)).toMatchObject([
        {
          origin: 'message',
          sessionId: 'scored',
          taskId: null,
          subtaskId: null,
          score: 0.55,
          recommendation: 'request_revision',
          criteriaRevision: null,
          judgement: null,
        },
      ])
      expect((await list('scored'))[0]).toEqual(said)
      await drainOutbox(harness.deps)
      const [{ id = '' } = {}] = await evaluationsOf(said.id)
      expect(await allEvents(ctx, id)).toMatchObject([{ type: 'evaluation.created', data: { message_id: said.id, score: 0.55 } }])
    }
  })

  it('has a score and no summary where it is good, neither where nothing in it counts, and none is made without blocks', async () => {
    expect(await say('kinds', '<npl-ref>\n✅ x\n</npl-ref>')).toMatchObject({ evalScore: 1, evalSummary: null })
    const nothing = await say('kinds', '<npl-ref>\n📚 x\n</npl-ref>')
    expect(nothing).toMatchObject({ evalScore: null, evalSummary: null })
    expect(await evaluationsOf(nothing.id)).toMatchObject([{ score: null, recommendation: 'review' }])
    for (const content of ['✅ x', `\`\`\`\n${SCORED}\n\`\`\``]) expect(await evaluationsOf((await say('kinds', content)).id)).toEqual([])
  })

  it('is held against the revision that it names, else the one that its session was told, else the one there is', async () => {
    const { task } = await assigned('revisions')
    await inject('revisions')
    await reviseTask(ctx, task.id, { acceptance_criteria: ['Links work', 'It is short'] }, 'any')
    const revisionOf = async (sessionId: string, content: string) => {
      const [evaluation] = await evaluationsOf((await say(sessionId, content, { taskId: task.id })).id)
      const { detail } = await getEvaluation(ctx, evaluation?.id ?? '')
      return [evaluation?.criteriaRevision, ...detail.criteria.map(({ text }) => text)]
    }
    const [before, now] = [
      [1, ...CRITERIA],
      [2, 'Links work', 'It is short'],
    ]
    expect(await revisionOf('revisions', SCORED)).toEqual(before)
    expect(await revisionOf('elsewhere', SCORED)).toEqual(now)
    expect(await revisionOf('elsewhere', block(task, ['- ✅ Links work'], 1))).toEqual(before)
    expect(await revisionOf('revisions', `${block(task, ['- ✅ Links work'], 1)}\n${block(task, ['- ✅ Links work'], 2)}`)).toEqual(now)
    expect(await revisionOf('revisions', block(task, ['- ✅ Links work'], 99))).toEqual(now)
    const other = block({ ...task, id: ctx.newId() }, ['- ✅ Links work'], 1)
    expect(await revisionOf('elsewhere', other)).toEqual(now)
    await inject('revisions')
    expect(await revisionOf('revisions', SCORED)).toEqual(now)
  })

  it('goes to the judge of the project, if it has one, where there are criteria to ask it about', async () => {
    const own = await harness.projectCtx('judged')
    await updateProject(own, own.actor.projectId, { settings: { evaluation: { judge: { model: 'm' } } } })
    const task = await makeTask(own, { acceptance_criteria: CRITERIA })
    await say('scored', SCORED, { taskId: task.id }, own)
    await say('scored', SCORED, {}, own)
    await say('scored', 'No blocks.', { taskId: task.id }, own)
    expect((await listEvaluations(own, { limit: 5 })).items).toMatchObject([
      { taskId: null, judgement: null },
      { taskId: task.id, judgement: { status: 'pending', model: 'm', evaluationId: null } },
    ])
  })

  it('is stored with its evaluation or not at all', async () => {
    const before = (await listEvaluations(ctx, { limit: 200 })).items.length
    await expect(say('unknown-task', SCORED, { taskId: ctx.newId() })).rejects.toMatchObject(notFound)
    expect((await listEvaluations(ctx, { limit: 200 })).items).toHaveLength(before)
    expect(await list('unknown-task')).toEqual([])
  })
})

describe("a sub-agent's own credential", () => {
  it('writes and reads what is said in its own session, and reports on its own task', async () => {
    const { task, own } = await assigned('own-session')
    await say('own-session', block(task, ['- ✅ Links work']), { taskId: task.id }, own)
    expect(await states(task)).toEqual(['met', 'open'])
    expect(await list('own-session', own)).toHaveLength(1)
  })

  it('finds no other session, and no other task', async () => {
    const [{ own }, { task: other }] = [await assigned('mine'), await assigned('mine')]
    const { task: foreign } = await assigned('of-somebody-else')
    await expect(say('of-somebody-else', 'x', {}, own)).rejects.toMatchObject(notFound)
    await expect(list('of-somebody-else', own)).rejects.toMatchObject(notFound)
    for (const { id } of [other, foreign, { id: ctx.newId() }]) {
      await expect(say('mine', 'x', { taskId: id }, own)).rejects.toMatchObject(notFound)
    }
    expect(await list('mine', own)).toEqual([])
  })
})
