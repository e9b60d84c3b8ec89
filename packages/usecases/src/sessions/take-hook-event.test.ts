import type { Actor, HookCall } from '@muster/domain'
import {
  advanceClock,
  allEvents,
  claimOne,
  completed,
  drain,
  drainOutbox,
  type Harness,
  makeTask,
  resetClock,
  settleOne,
  spawn,
  startHarness,
} from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  assignTask,
  authenticate,
  buildPrompt,
  type Ctx,
  cancelTask,
  checkpointRun,
  claimInbox,
  createTsg,
  dispatchTask,
  getTask,
  injectSession,
  listEvaluations,
  listMessages,
  listTaskUpdates,
  noteTask,
  putSubagent,
  takeHookEvent,
} from '../index.ts'

let harness: Harness
let sessions = 0

beforeAll(async () => {
  harness = await startHarness()
})
afterAll(async () => {
  await drain(harness.ctx)
  await harness.close()
})

const newSession = () => `claude-${++sessions}`
const yes = () => true
/** Makes an event, and sends its answer. */
const take = async (event: string, call: Partial<HookCall>, ctx: Ctx = harness.ctx, isAwaited: () => boolean = yes) => {
  const answer = await takeAndLose(event, call, ctx, isAwaited)
  await answer?.onSent?.()
  return answer
}
/** Makes an event whose answer is lost on the way. */
const takeAndLose = (event: string, call: Partial<HookCall>, ctx: Ctx = harness.ctx, isAwaited: () => boolean = yes) =>
  takeHookEvent(
    ctx,
    { event, sessionId: 'none', agentId: null, agentType: null, toolName: null, toolInput: undefined, error: null, lastAssistantMessage: null, ...call },
    isAwaited,
  )
/** Calls the Agent tool with a line that names a task. */
const callAgent = (sessionId: string, taskId: string | null, type = 'writer', ctx = harness.ctx, toolUseId: string | null = null) =>
  take('PreToolUse', { sessionId, toolName: 'Agent', toolUseId, toolInput: inputOf(taskId, type) }, ctx)
const inputOf = (taskId: string | null, type = 'writer') => ({ subagent_type: type, prompt: taskId === null ? 'Do it.' : `Do it.\nmuster-task: ${taskId}` })
/** The Agent tool answers. */
const answerAgent = (sessionId: string, toolUseId: string, toolResponse: unknown) =>
  take('PostToolUse', { sessionId, toolName: 'Agent', toolUseId, toolInput: inputOf(null), toolResponse })
const begin = (sessionId: string, agentId: string, agentType = 'writer', ctx = harness.ctx) => take('SubagentStart', { sessionId, agentId, agentType }, ctx)
const holderOf = async (taskId: string) => (await getTask(harness.ctx, taskId)).subagentSessionId
const assigned = async (sessionId: string) => (await assignTask(harness.ctx, (await makeTask(harness.ctx)).id, sessionId)).task
const waiting = (sessionId: string) => harness.admin`select from hook_reservations where session_id = ${sessionId} and bound_session_id is null`

/** A subtask that runs, and a context with its own credential. */
async function running(input: Parameters<typeof spawn>[1] = {}, taskId?: string) {
  if (taskId === undefined) await spawn(harness.ctx, { agentId: newSession(), ...input })
  else await dispatchTask(harness.ctx, taskId, () => ({ agentId: newSession(), runner: 'own' }))
  const run = await claimOne(harness.ctx)
  return { run, own: harness.as(await authenticate(harness.deps, run.credential)) }
}

describe('what was kept for a sub-agent', () => {
  it('is removed after a day, taken or not, when the next is kept', async () => {
    const { projectId } = harness.ctx.actor
    const sessionId = newSession()
    const { id } = await makeTask(harness.ctx)
    const ages = { old: '01800000-0000-7000-8000-000000000001', taken: '01800000-0000-7000-8000-000000000002' }
    for (const [name, old] of Object.entries(ages)) {
      const bound = name === 'taken' ? 'another' : null
      await harness.admin`
        insert into hook_reservations (project_id, id, session_id, subagent_type, task_id, bound_session_id) values (${projectId}, ${old}, ${sessionId}, 'writer', ${id}, ${bound})`
    }
    await callAgent(sessionId, id)
    await begin(sessionId, 'a1')
    await callAgent(sessionId, (await makeTask(harness.ctx)).id)
    const left = await harness.admin<
      { bound_session_id: string | null }[]
    >`select bound_session_id from hook_reservations where session_id = ${sessionId} order by id`
    expect(left.map((row) => row.bound_session_id)).toEqual([`${sessionId}:a1`, null])
  })
})

describe('what is new for a session', () => {
  it.each(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'SubagentStart'])('is told at %s, once', async (event) => {
    const sessionId = newSession()
    const task = await assigned(sessionId)
    const told = await take(event, { sessionId, toolName: 'Read' })
    expect(told).toMatchObject({ event, denied: null, context: expect.stringContaining(`[Task Assignment: ${task.title}]`) })
    expect(await take(event, { sessionId, toolName: 'Read' })).toBeNull()
  })

  it('is told to a sub-agent by its own name, and not to the session around it', async () => {
    const sessionId = newSession()
    await assigned(`${sessionId}:a1`)
    expect(await take('PreToolUse', { sessionId, toolName: 'Read' })).toBeNull()
    expect(await take('PreToolUse', { sessionId, agentId: 'a2', toolName: 'Read' })).toBeNull()
    expect((await take('PreToolUse', { sessionId, agentId: 'a1', toolName: 'Read' }))?.context).toContain('[Task Assignment:')
  })

  it('is left for the next event where a sub-agent is resumed, and binds no call that waits for another', async () => {
    const sessionId = newSession()
    await begin(sessionId, 'a1')
    await take('SubagentStop', { sessionId, agentId: 'a1', agentType: 'writer', lastAssistantMessage: 'Done.' })
    const other = await makeTask(harness.ctx)
    await callAgent(sessionId, other.id)
    const task = await assigned(`${sessionId}:a1`)
    expect(await begin(sessionId, 'a1')).toBeNull()
    expect(await holderOf(other.id)).toBeNull()
    const told = await take('PreToolUse', { sessionId, agentId: 'a1', toolName: 'Read' })
    expect(told).toMatchObject({ context: expect.stringContaining(`[Task Assignment: ${task.title}]`) })
  })

  it('says how to hand in a task, by the tool or by a block in the final message', async () => {
    const sessionId = newSession()
    const task = await assigned(sessionId)
    const block = `<npl-block type="result" task-id="${task.id}">\n{"result": …}\n</npl-block>`
    expect((await take('UserPromptSubmit', { sessionId }))?.context).toMatch(new RegExp(`mark_task_complete\\(task_id="${task.id}"[\\s\\S]*${block}$`))
    const called = await makeTask(harness.ctx)
    expect((await callAgent(sessionId, called.id))?.updatedInput?.prompt).toContain(`<npl-block type="result" task-id="${called.id}">`)
  })

  it.each(['Stop', 'SubagentStop'])('is worth one more turn at %s, and not a second', async (event) => {
    const sessionId = newSession()
    const task = await assigned(sessionId)
    expect(await take(event, { sessionId })).toMatchObject({ event, context: expect.stringContaining(`[Task Assignment: ${task.title}]`) })
    await noteTask(harness.ctx, task.id, 'Too late for this turn.')
    expect(await take(event, { sessionId, isStopHookActive: true })).toBeNull()
    expect((await take('UserPromptSubmit', { sessionId }))?.context).toContain('Too late for this turn.')
  })

  it('is worth no further turn where it is a guide alone', async () => {
    await createTsg(harness.ctx, { tsgId: 'hook-stop', title: 'Stopped', content: 'x', patterns: ['ESTOPPED-HOOK'] })
    const sessionId = newSession()
    expect(await take('Stop', { sessionId, lastAssistantMessage: 'It says ESTOPPED-HOOK.' })).toBeNull()
    expect((await take('UserPromptSubmit', { sessionId }))?.context).toContain('hook-stop')
  })

  it.each(['SessionEnd', 'Notification', 'SomethingNew'])('is not told at %s', async (event) => {
    const sessionId = newSession()
    await assigned(sessionId)
    expect(await take(event, { sessionId })).toBeNull()
    expect(await take('PostToolUse', { sessionId })).not.toBeNull()
  })

  it('is as new as before where nobody waits for the answer any more', async () => {
    const sessionId = newSession()
    const task = await assigned(sessionId)
    await expect(take('PostToolUse', { sessionId }, harness.ctx, () => false)).rejects.toMatchObject({ code: 'unavailable' })
    expect((await getTask(harness.ctx, task.id)).status).toBe('assigned')
    expect((await take('PostToolUse', { sessionId }))?.context).toContain('[Task Assignment:')
  })

  it('comes again where the answer was lost, and counts as delivered only once it was sent', async () => {
    const sessionId = newSession()
    const task = await assigned(sessionId)
    expect((await takeAndLose('PostToolUse', { sessionId }))?.context).toContain('[Task Assignment:')
    expect((await getTask(harness.ctx, task.id)).status).toBe('assigned')
    // The answer may be on its way.
    expect(await take('PostToolUse', { sessionId })).toBeNull()
    await advanceClock(harness.admin, '6 seconds')
    expect((await take('PreToolUse', { sessionId, toolName: 'Read' }))?.context).toContain('[Task Assignment:')
    await resetClock(harness.admin)
    expect((await getTask(harness.ctx, task.id)).status).toBe('in_progress')
    expect(await take('PostToolUse', { sessionId })).toBeNull()
  })

  it('comes once to calls of tools that are made at once', async () => {
    const sessionId = newSession()
    await assigned(sessionId)
    const answers = await Promise.all(Array.from({ length: 6 }, () => take('PreToolUse', { sessionId, toolName: 'Read' })))
    expect(answers.filter((answer) => answer !== null)).toHaveLength(1)
  })
})

describe('a call of a Muster tool', () => {
  const spawn = { toolName: 'mcp__muster__spawn_task', toolInput: { task: 'Count.' } }

  it('names the session of Claude Code, also from a sub-agent, and brings what is new', async () => {
    const sessionId = newSession()
    expect(await take('PreToolUse', { sessionId, ...spawn })).toMatchObject({ context: '', updatedInput: { task: 'Count.', _session: sessionId } })
    const task = await assigned(`${sessionId}:a1`)
    expect(await take('PreToolUse', { sessionId, agentId: 'a1', ...spawn })).toMatchObject({
      context: expect.stringContaining(`[Task Assignment: ${task.title}]`),
      updatedInput: { task: 'Count.', _session: sessionId },
    })
    expect(await take('PreToolUse', { sessionId, toolName: 'Read', toolInput: {} })).toBeNull()
  })

  it('names none with a sub-agent’s own credential, which stands for its session', async () => {
    const { own } = await running()
    expect(await take('PreToolUse', { sessionId: 'anything', toolName: 'mcp__muster__get_task', toolInput: {} }, own)).toBeNull()
  })
})

describe('a long delivery', () => {
  const long = (title: string, length: number) =>
    makeTask(harness.ctx, { title, instructions: `Begin with ${title}. ${'x'.repeat(length)}`, acceptance_criteria: ['All is counted'] })
  const hold = async (sessionId: string, task: { id: string }) => await assignTask(harness.ctx, task.id, sessionId)
  const titlesIn = (context = '') => [...context.matchAll(/^\[Task (?:Assignment|Update): (.*)\]$/gm)].map(([, title]) => title)

  it('has the ids, the forms and the hand-in of a long brief first, and says where the rest is', async () => {
    const sessionId = newSession()
    const task = await long('Count', 30_000)
    await hold(sessionId, task)
    const context = (await take('UserPromptSubmit', { sessionId }))?.context ?? ''
    expect(context.length).toBeLessThanOrEqual(8_000)
    const places = [
      task.id,
      `All is counted (${task.criteria[0]?.id})`,
      'mark_task_complete(',
      'type="result"',
      'Begin with Count.',
      `get_task(task_id="${task.id}")`,
    ]
    expect(places.map((place) => context.indexOf(place))).toEqual(places.map((place) => context.indexOf(place)).toSorted((a, b) => a - b))
    expect(context.indexOf('Begin with Count.')).toBeGreaterThan(0)
    expect(await take('PostToolUse', { sessionId })).toBeNull()
    // Over REST, and in the prompt of a sub-agent, nothing has to be cut.
    await assignTask(harness.ctx, task.id, sessionId, { resend: true })
    expect((await injectSession(harness.ctx, sessionId, { ack: 'auto', messages: [] })).text.length).toBeGreaterThan(30_000)
    const called = await long('Measure', 30_000)
    expect(String((await callAgent(sessionId, called.id))?.updatedInput?.prompt).length).toBeGreaterThan(30_000)
  })

  it('comes with several events, in order, each below what is shown of an answer', async () => {
    const sessionId = newSession()
    const made = [await long('One', 5_000), await long('Two', 20_000), await long('Three', 4_000), await long('Four', 1_000)]
    for (const task of made) await hold(sessionId, task)
    const answers: string[] = []
    for (let event = await take('PostToolUse', { sessionId }); event !== null; event = await take('PostToolUse', { sessionId })) answers.push(event.context)
    expect(answers.map(titlesIn)).toEqual([['One'], ['Two'], ['Three', 'Four']])
    for (const answer of answers) expect(answer.length).toBeLessThan(10_000)
    expect(answers.map((answer) => answer.endsWith('More waits for this session. It comes with your next tool call or prompt.'))).toEqual([true, true, false])
    for (const { id } of made) expect((await getTask(harness.ctx, id)).status).toBe('in_progress')
  })

  it('leaves updates that do not fit for the next event, and cuts one that fits in none', async () => {
    const sessionId = newSession()
    const task = await assigned(sessionId)
    await take('PostToolUse', { sessionId })
    for (const content of ['a'.repeat(4_000), 'b'.repeat(4_000), 'c'.repeat(15_000), 'd']) await noteTask(harness.ctx, task.id, content)
    const receipts = async () => (await listTaskUpdates(harness.ctx, task.id, { limit: 9 })).items.map(({ status }) => status)
    const first = await take('PostToolUse', { sessionId })
    expect(first?.context).toContain('b'.repeat(4_000))
    expect(first?.context).not.toContain('c'.repeat(100))
    expect((await receipts()).toSorted()).toEqual(['delivered', 'delivered', 'queued', 'queued'])
    const second = await take('PostToolUse', { sessionId })
    expect(second?.context.length).toBeLessThan(10_000)
    expect(second?.context).toContain('has its content in full.')
    expect((await take('PostToolUse', { sessionId }))?.context).toContain('\nd\n')
    expect(await receipts()).toEqual(['delivered', 'delivered', 'delivered', 'delivered'])
    expect(await take('PostToolUse', { sessionId })).toBeNull()
  })

  it('has results and guides where there is room, and the others later', async () => {
    const sessionId = newSession()
    for (let nth = 1; nth <= 4; nth += 1) {
      await spawn(harness.ctx, { agentId: newSession(), parentSessionId: sessionId, task: `Result ${nth}` })
      await settleOne(harness.deps, await claimOne(harness.ctx), completed(`${nth} is ${'y'.repeat(6_000)}`))
    }
    await createTsg(harness.ctx, { tsgId: 'hook-long', title: 'Long', content: 'x', patterns: ['ELONG-HOOK'] })
    await hold(sessionId, await long('Five', 20_000))
    const answers: string[] = []
    let event = await take('PostToolUseFailure', { sessionId, error: 'ELONG-HOOK' })
    for (; event !== null; event = await take('PostToolUse', { sessionId })) answers.push(event.context)
    for (const answer of answers) expect(answer.length).toBeLessThan(10_000)
    const all = answers.join('\n')
    for (const shown of ['[Task Assignment: Five]', 'read_tsg("hook-long")', 'Task: Result 1', 'Task: Result 2', 'Task: Result 3', 'Task: Result 4'])
      expect(all.split(shown)).toHaveLength(2)
    expect(answers[0]).toContain('read_tsg("hook-long")')
  })

  it('leaves room for a refused hand-in', async () => {
    const sessionId = newSession()
    const task = await makeTask(harness.ctx, { required_outputs: Array.from({ length: 50 }, (_, index) => `${index}${'n'.repeat(120)}`) })
    await hold(sessionId, task)
    await take('PostToolUse', { sessionId })
    await hold(sessionId, await long('Six', 30_000))
    const context = (await take('Stop', { sessionId, lastAssistantMessage: `<npl-block type="result" task-id="${task.id}">\n{}\n</npl-block>` }))?.context
    expect(context?.length).toBeLessThan(10_000)
    expect(context).toContain('[Hand-in Refused:')
    expect(titlesIn(context)).toEqual(['Six'])
  })

  it('has as many refused hand-ins as fit', async () => {
    const sessionId = newSession()
    const required_outputs = Array.from({ length: 50 }, (_, index) => `${index}${'n'.repeat(120)}`)
    const made = [1, 2, 3, 4, 5].map((nth) => makeTask(harness.ctx, { title: `Nth ${nth}`, required_outputs }))
    const ids = (await Promise.all(made)).map(({ id }) => id)
    for (const id of ids) await hold(sessionId, { id })
    while ((await take('PostToolUse', { sessionId })) !== null);
    const lastAssistantMessage = ids.map((id) => `<npl-block type="result" task-id="${id}">\n{}\n</npl-block>`).join('\n')
    const context = (await take('Stop', { sessionId, lastAssistantMessage }))?.context
    expect(context?.length).toBeLessThan(10_000)
    expect(context?.split('[Hand-in Refused:').length).toBeGreaterThan(2)
  })

  it('brings what is new in the room that a refused hand-in does not fit into', async () => {
    const sessionId = newSession()
    const required_outputs = Array.from({ length: 6 }, (_, index) => `${index}${'n'.repeat(115)}`)
    const ids = (await Promise.all([1, 2, 3, 4, 5].map((nth) => makeTask(harness.ctx, { title: `Nth ${nth}`, required_outputs })))).map(({ id }) => id)
    for (const id of ids) await hold(sessionId, { id })
    while ((await take('PostToolUse', { sessionId })) !== null);
    const waiting = await makeTask(harness.ctx, { title: 'Short' })
    await hold(sessionId, waiting)
    const lastAssistantMessage = ids.map((id) => `<npl-block type="result" task-id="${id}">\n{}\n</npl-block>`).join('\n')
    const context = (await take('Stop', { sessionId, lastAssistantMessage }))?.context
    expect(titlesIn(context)).toEqual(['Short'])
  })
})

describe('a tool that fails', () => {
  it('brings up the guide that knows why, once in a session', async () => {
    await createTsg(harness.ctx, { tsgId: 'hook-port', title: 'Taken', content: 'x', patterns: ['EADDRINUSE-HOOK'] })
    const sessionId = newSession()
    const fail = (isAwaited?: () => boolean) =>
      take('PostToolUseFailure', { sessionId, toolName: 'Bash', error: 'listen EADDRINUSE-HOOK :::3000' }, harness.ctx, isAwaited)
    // Too late to be told: kept for the next event, which does not say again what went wrong.
    await expect(fail(() => false)).rejects.toMatchObject({ code: 'unavailable' })
    expect((await take('PostToolUse', { sessionId }))?.context).toContain('Use read_tsg("hook-port") for resolution steps.')
    expect(await fail()).toBeNull()
  })
})

describe('a task that a call of the Agent tool names', () => {
  it('stands in the prompt of that call, with the rest of its input as it was', async () => {
    const [sessionId, task] = [newSession(), await makeTask(harness.ctx)]
    const answer = await callAgent(sessionId, task.id)
    expect(answer).toMatchObject({ event: 'PreToolUse', context: '', updatedInput: { subagent_type: 'writer' } })
    expect(answer?.updatedInput?.prompt).toMatch(new RegExp(`^Do it\\.\nmuster-task: ${task.id}\n\n\\[Task Assignment: ${task.title}\\]`))
    expect(await holderOf(task.id)).toBeNull()
  })

  it('goes to the sub-agent that begins where no other of its type can be meant, and is not told again', async () => {
    const [sessionId, task] = [newSession(), await makeTask(harness.ctx)]
    await callAgent(sessionId, task.id)
    for (const [session, type] of [
      [newSession(), 'writer'],
      [sessionId, 'reader'],
    ] as const)
      expect(await begin(session, 'a1', type)).toBeNull()
    expect(await holderOf(task.id)).toBeNull()
    expect(await begin(sessionId, 'a2')).toBeNull()
    expect(await holderOf(task.id)).toBe(`${sessionId}:a2`)
    expect(await begin(sessionId, 'a3')).toBeNull()
    await noteTask(harness.ctx, task.id, 'Mind the gap.')
    expect((await take('PostToolUse', { sessionId, agentId: 'a2' }))?.context).toContain('Mind the gap.')
    await drainOutbox(harness.deps)
    expect((await allEvents(harness.ctx, task.id)).map(({ type }) => type)).toEqual(['task.created', 'task.assigned', 'update.queued', 'update.delivered'])
    expect((await getTask(harness.ctx, task.id)).status).toBe('in_progress')
  })

  it('is told to its sub-agent where the answer that puts it into the prompt was lost', async () => {
    const [sessionId, task] = [newSession(), await makeTask(harness.ctx)]
    await takeAndLose('PreToolUse', { sessionId, toolName: 'Agent', toolUseId: 'toolu_1', toolInput: inputOf(task.id) })
    expect((await begin(sessionId, 'a'))?.context).toContain(`[Task Assignment: ${task.title}]`)
    expect(await begin(sessionId, 'a')).toBeNull()
  })

  it('goes to one of several that begin at once', async () => {
    const [sessionId, task] = [newSession(), await makeTask(harness.ctx)]
    await callAgent(sessionId, task.id)
    await Promise.all(['a', 'b', 'c', 'd'].map((agentId) => begin(sessionId, agentId)))
    expect(await holderOf(task.id)).toMatch(new RegExp(`^${sessionId}:[abcd]$`))
    expect(await harness.admin`select from hook_reservations where session_id = ${sessionId} and bound_session_id is not null`).toHaveLength(1)
  })

  it.each(['with tasks', 'one without a task'])('goes to none by order where several calls are open: %s', async (kind) => {
    const sessionId = newSession()
    const [first, second] = [await makeTask(harness.ctx), await makeTask(harness.ctx)]
    await callAgent(sessionId, first.id, 'writer', harness.ctx, 'toolu_1')
    await callAgent(sessionId, kind === 'with tasks' ? second.id : null, 'writer', harness.ctx, 'toolu_2')
    for (const agentId of ['a', 'b']) expect(await begin(sessionId, agentId)).toBeNull()
    expect([await holderOf(first.id), await holderOf(second.id)]).toEqual([null, null])
    // The answers of the tool say which is which.
    await answerAgent(sessionId, 'toolu_2', { status: 'completed', agentId: 'a' })
    await answerAgent(sessionId, 'toolu_1', { status: 'completed', agentId: 'b' })
    expect([await holderOf(first.id), await holderOf(second.id)]).toEqual([`${sessionId}:b`, kind === 'with tasks' ? `${sessionId}:a` : null])
    expect(await waiting(sessionId)).toHaveLength(0)
  })

  it('goes to the sub-agent that names it in a call of a tool, or in a block of what it says last', async () => {
    const sessionId = newSession()
    const [first, second, third] = [await makeTask(harness.ctx), await makeTask(harness.ctx), await makeTask(harness.ctx)]
    for (const task of [first, second, third]) await callAgent(sessionId, task.id)
    const call = { toolName: 'mcp__muster__get_task', toolInput: { task_id: second.id } }
    await take('PreToolUse', { sessionId, agentId: 'a', agentType: 'writer', ...call })
    expect(await holderOf(second.id)).toBe(`${sessionId}:a`)
    // One sub-agent has one call.
    await take('PreToolUse', { sessionId, agentId: 'a', agentType: 'writer', ...call, toolInput: { task_id: third.id } })
    expect(await holderOf(third.id)).toBeNull()
    const lastAssistantMessage = `<npl-block type="check-in" task-id="${first.id}">\nstatus: in_progress\n</npl-block>`
    await take('SubagentStop', { sessionId, agentId: 'b', agentType: 'writer', lastAssistantMessage })
    expect(await holderOf(first.id)).toBe(`${sessionId}:b`)
    // The session around them may speak of any task.
    await take('PreToolUse', { sessionId, ...call, toolInput: { task_id: third.id } })
    expect(await holderOf(third.id)).toBeNull()
  })

  it('gets what was said before it was certain, and the check-ins in it', async () => {
    const sessionId = newSession()
    const [task, other] = [await makeTask(harness.ctx, { acceptance_criteria: ['All is counted'] }), await makeTask(harness.ctx)]
    await callAgent(sessionId, task.id, 'writer', harness.ctx, 'toolu_1')
    await callAgent(sessionId, other.id, 'writer', harness.ctx, 'toolu_2')
    // The block names no task.
    const lastAssistantMessage = 'Done.\n<npl-block type="check-in">\n- ✅ All is counted\n</npl-block>'
    await take('SubagentStop', { sessionId, agentId: 'a', agentType: 'writer', lastAssistantMessage })
    expect((await listMessages(harness.ctx, `${sessionId}:a`, { limit: 5 })).items).toMatchObject([{ taskId: null }])
    await answerAgent(sessionId, 'toolu_1', { agentId: 'a' })
    expect((await listMessages(harness.ctx, `${sessionId}:a`, { limit: 5 })).items).toMatchObject([{ taskId: task.id }])
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'in_progress', criteria: [{ state: 'met' }] })
  })

  it.each([
    ['a failure', 'PostToolUseFailure', undefined],
    ['an answer that names no sub-agent', 'PostToolUse', 'No.'],
  ])('is released by %s', async (_, event, toolResponse) => {
    const [sessionId, task] = [newSession(), await makeTask(harness.ctx)]
    await callAgent(sessionId, task.id, 'writer', harness.ctx, 'toolu_1')
    await take(event, { sessionId, toolName: 'Agent', toolUseId: 'toolu_1', toolInput: inputOf(task.id), toolResponse })
    expect(await waiting(sessionId)).toHaveLength(0)
    await begin(sessionId, 'a')
    expect(await holderOf(task.id)).toBeNull()
  })

  it('counts once where its call is reported twice', async () => {
    const [sessionId, task] = [newSession(), await makeTask(harness.ctx)]
    for (let time = 0; time < 2; time += 1) expect(await callAgent(sessionId, task.id, 'writer', harness.ctx, 'toolu_1')).not.toBeNull()
    await begin(sessionId, 'a')
    expect(await holderOf(task.id)).toBe(`${sessionId}:a`)
  })

  it('goes to no sub-agent once it has ended', async () => {
    const [sessionId, task] = [newSession(), await makeTask(harness.ctx)]
    await callAgent(sessionId, task.id)
    await cancelTask(harness.ctx, task.id, 'not needed')
    expect(await begin(sessionId, 'a')).toBeNull()
    expect(await holderOf(task.id)).toBeNull()
  })

  it('stands in no prompt when there is no such task, when it has ended, or when it belongs to others', async () => {
    const sessionId = newSession()
    const ended = await makeTask(harness.ctx)
    await cancelTask(harness.ctx, ended.id, 'not needed')
    const theirs = await makeTask(await harness.projectCtx('theirs'))
    for (const id of [ended.id, theirs.id, '01990000-0000-7000-8000-000000000000']) expect(await callAgent(sessionId, id)).toBeNull()
    // The calls count, so that no other task goes to the sub-agents that they start.
    const open = await makeTask(harness.ctx)
    await callAgent(sessionId, open.id)
    await begin(sessionId, 'a')
    expect(await holderOf(open.id)).toBeNull()
  })

  it('is released with the turn of its session that has ended, and after an hour', async () => {
    const [sessionId, task] = [newSession(), await makeTask(harness.ctx)]
    await callAgent(sessionId, task.id)
    await take('SubagentStop', { sessionId, agentId: 'other' })
    expect(await waiting(sessionId)).toHaveLength(1)
    // The answer of the tool may still be on its way.
    await take('Stop', { sessionId })
    expect(await waiting(sessionId)).toHaveLength(1)
    await advanceClock(harness.admin, '11 seconds')
    await take('Stop', { sessionId })
    expect(await waiting(sessionId)).toHaveLength(0)
    await resetClock(harness.admin)
    await callAgent(sessionId, task.id)
    await advanceClock(harness.admin, '61 minutes')
    await begin(sessionId, 'a')
    expect(await holderOf(task.id)).toBeNull()
    await resetClock(harness.admin)
    await begin(sessionId, 'b')
    expect(await holderOf(task.id)).toBe(`${sessionId}:b`)
  })

  it('is seen in its own project alone', async () => {
    const [sessionId, task] = [newSession(), await makeTask(harness.ctx)]
    const other = await harness.projectCtx('same session')
    await callAgent(sessionId, task.id)
    await begin(sessionId, 'a', 'writer', other)
    expect(await holderOf(task.id)).toBeNull()
    await begin(sessionId, 'a')
    expect(await holderOf(task.id)).toBe(`${sessionId}:a`)
  })

  it('is left alone by a key that may not assign tasks, and by a sub-agent', async () => {
    const [sessionId, task] = [newSession(), await makeTask(harness.ctx)]
    const limited = harness.as({ ...harness.ctx.actor, kind: 'key', scopes: ['sessions:write'] } as Actor)
    const { run, own } = await running()
    for (const ctx of [limited, own]) expect(await callAgent(sessionId, task.id, 'writer', ctx)).toBeNull()
    expect(await waiting(sessionId)).toHaveLength(0)
    await callAgent(sessionId, task.id)
    for (const ctx of [limited, own]) expect(await begin(sessionId, 'a', 'writer', ctx)).toBeNull()
    for (const ctx of [limited, own]) await take('Stop', { sessionId }, ctx)
    expect(await waiting(sessionId)).toHaveLength(1)
    await settleOne(harness.deps, run)
  })
})

describe("a subtask's own credential", () => {
  it('is told nothing of its task, whose changes come through its runner, once', async () => {
    const task = await makeTask(harness.ctx)
    const { run, own } = await running({}, task.id)
    await buildPrompt(harness.deps, run)
    const note = await noteTask(harness.ctx, task.id, 'Mind the gap.')
    for (const event of ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'SubagentStart']) {
      expect(await take(event, { sessionId: 'whatever', agentId: 'a', agentType: 'writer', toolName: 'Read' }, own)).toBeNull()
    }
    const answer = await checkpointRun(harness.deps, run.projectId, {
      subtaskId: run.id,
      attempt: run.attempt,
      agentId: run.agentId,
      task: run.task,
      taskId: task.id,
      parentSessionId: null,
      workerId: 'worker-1',
      steps: [],
      usage: {},
      acknowledgedIds: [],
      takesUpdates: true,
      afterStepSeq: null,
      renewsLease: false,
      repeatUnacknowledged: false,
    })
    expect(answer?.updates.map(({ updateId }) => updateId)).toEqual([note.updateId])
    expect((await listTaskUpdates(harness.ctx, task.id, { limit: 5 })).items).toMatchObject([{ status: 'delivered' }])
    await settleOne(harness.deps, run)
  })

  it('is told of the guide for what has failed, whatever its program calls its session', async () => {
    await createTsg(harness.ctx, { tsgId: 'hook-disk', title: 'Full', content: 'x', patterns: ['ENOSPC-HOOK'] })
    const { run, own } = await running()
    expect((await take('PostToolUseFailure', { sessionId: 'claimed', error: 'ENOSPC-HOOK' }, own))?.context).toContain('read_tsg("hook-disk")')
    const notices = await harness.admin`select session_id from tsg_notices where tsg_id = 'hook-disk'`
    expect(notices).toEqual([{ session_id: `subtask-${run.id}` }])
    await settleOne(harness.deps, run)
  })

  it('may use the tools of the definition that it is a run of, as it was then', async () => {
    const definition = (tools: string) => `---\nname: hook-reader\ndescription: Reads.\ntools: ${tools}\n---\nRead.`
    await putSubagent(harness.ctx, 'hook-reader', definition('Read, Bash(git log:*)'))
    const { run, own } = await running({ subagent: 'hook-reader' })
    await putSubagent(harness.ctx, 'hook-reader', definition('Write'))
    const use = async (toolName: string, toolInput: unknown = {}) => (await take('PreToolUse', { toolName, toolInput }, own))?.denied ?? null
    for (const [tool, input] of [['Read'], ['Bash', { command: 'git log -3' }], ['mcp__muster__check_in']] as const) expect(await use(tool, input)).toBeNull()
    expect(await use('Write')).toBe('hook-reader lists Read, Bash(git log:*).')
    expect(await use('Bash', { command: 'git log; rm -rf .' })).toContain('hook-reader lists')
    expect(await use('Agent', { prompt: 'x' })).toContain('A sub-agent cannot start further work')
    expect(await use('mcp__other__query')).toContain('No MCP tool works in the background')
    await settleOne(harness.deps, run)
  })

  it('may not use what its definition denies, however a command or a path is spelt', async () => {
    const text = '---\nname: hook-writer\ndescription: Writes.\ndisallowedTools: Bash(git push:*), Write(secrets/**)\n---\nWrite.'
    await putSubagent(harness.ctx, 'hook-writer', text)
    const { run, own } = await running({ subagent: 'hook-writer' })
    const use = async (toolName: string, toolInput: unknown) => (await take('PreToolUse', { toolName, toolInput, cwd: '/work/src' }, own))?.denied ?? null
    for (const command of ['git status', 'npm test']) expect(await use('Bash', { command })).toBeNull()
    for (const command of ['git  push', 'git -C . push', 'x=push; git $x', undefined]) expect(await use('Bash', { command })).toContain('is denied')
    expect(await use('Write', { file_path: '/work/src/out/../x' })).toBeNull()
    for (const path of ['secrets/x', 'out/../secrets/x', '/work/secrets/x', '/work/src/secrets/x'])
      expect(await use('Edit', { file_path: path })).toContain('is denied')
    await settleOne(harness.deps, run)
  })

  it('is denied nothing where it is no sub-agent’s, nor is anybody else', async () => {
    const { run, own } = await running()
    for (const ctx of [own, harness.ctx]) expect(await take('PreToolUse', { sessionId: newSession(), toolName: 'Write' }, ctx)).toBeNull()
    await settleOne(harness.deps, run)
  })
})

describe('a sub-agent of Claude Code itself', () => {
  const inside = { agentId: 'a1', agentType: 'hook-gardener' }
  const use = async (toolName: string, fields: Partial<HookCall>) =>
    (await take('PreToolUse', { sessionId: newSession(), toolName, toolInput: {}, ...fields }))?.denied ?? null

  it('may use the tools of the definition of its name, and starts no further work', async () => {
    await putSubagent(
      harness.ctx,
      'hook-gardener',
      '---\nname: hook-gardener\ndescription: Gardens.\ntools: Read, Bash(git log:*), mcp__garden__water\n---\nGarden.',
    )
    for (const tool of ['Read', 'mcp__garden__water', 'mcp__muster__mark_task_complete']) expect(await use(tool, inside)).toBeNull()
    expect(await use('Write', inside)).toContain('hook-gardener lists')
    expect(await use('Bash', { ...inside, toolInput: { command: 'git log; rm -rf .' } })).toContain('hook-gardener lists')
    for (const tool of ['Agent', 'Task', 'mcp__muster__spawn_task']) expect(await use(tool, inside)).toContain('A sub-agent cannot start further work')
  })

  it('has its tools, too, where it is a session of its own', async () => {
    expect(await use('Write', { agentType: 'hook-gardener' })).toContain('hook-gardener lists')
    expect(await use('Agent', { agentType: 'hook-gardener', toolInput: { prompt: 'x' } })).toContain('hook-gardener lists')
  })

  it('is not started in the background with tools of MCP servers, unless the project strips them', async () => {
    const start = (more: object) => use('Agent', { toolInput: { subagent_type: 'hook-gardener', prompt: 'x', ...more } })
    expect(await start({})).toBeNull()
    expect(await start({ run_in_background: true })).toContain('no MCP tool works in the background')
    await harness.admin`update projects set settings = settings || '{"background_mcp": "strip"}' where id = ${harness.ctx.actor.projectId}`
    expect(await start({ run_in_background: true })).toBeNull()
    await harness.admin`update projects set settings = settings - 'background_mcp' where id = ${harness.ctx.actor.projectId}`
  })

  it('is denied nothing where Muster has no definition of its name, or only one of its own', async () => {
    for (const agentType of ['hook-unknown', 'Explore', 'general-purpose', 'No such name!'])
      for (const tool of ['Write', 'Agent']) expect(await use(tool, { agentId: 'a1', agentType })).toBeNull()
  })
})

describe('what was said last', () => {
  it.each(['Stop', 'SubagentStop'])('is stored at %s as a message of its session', async (event) => {
    const sessionId = newSession()
    const agent = event === 'Stop' ? {} : { agentId: 'a1', agentType: 'writer' }
    await take(event, { sessionId, ...agent, lastAssistantMessage: 'All\u0000 done.' })
    const key = event === 'Stop' ? sessionId : `${sessionId}:a1`
    expect((await listMessages(harness.ctx, key, { limit: 5 })).items).toMatchObject([
      {
        role: 'assistant',
        content: 'All\uFFFD done.',
        agentName: event === 'Stop' ? null : 'writer',
        taskId: null,
        metadata: { source: 'claude-code', hook_event_name: event },
      },
    ])
  })

  it('is not stored where nothing was said', async () => {
    const sessionId = newSession()
    for (const lastAssistantMessage of [null, '', ' \n']) await take('Stop', { sessionId, lastAssistantMessage })
    expect((await listMessages(harness.ctx, sessionId, { limit: 5 })).items).toEqual([])
  })

  it('is about the one task of its session, and its check-ins count', async () => {
    const sessionId = newSession()
    const task = await makeTask(harness.ctx, { acceptance_criteria: ['All files are counted'] })
    await assignTask(harness.ctx, task.id, `${sessionId}:a1`)
    const content = `Done.\n<npl-block type="check-in" task-id="${task.id}" revision="1">\n- ✅ All files are counted\n</npl-block>`
    await take('SubagentStop', { sessionId, agentId: 'a1', agentType: 'writer', lastAssistantMessage: content })
    expect((await listMessages(harness.ctx, `${sessionId}:a1`, { limit: 5 })).items).toMatchObject([{ taskId: task.id, evalScore: 1, evalSummary: null }])
    expect((await listEvaluations(harness.ctx, { taskId: task.id, limit: 5 })).items).toMatchObject([
      { origin: 'message', recommendation: 'approve', criteriaRevision: 1 },
    ])
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'in_progress', criteria: [{ state: 'met' }] })
  })

  it('is about no task where its session holds several, unless a block names one of them', async () => {
    const sessionId = newSession()
    const [first] = [await assigned(sessionId), await assigned(sessionId)]
    const named = `<npl-block type="check-in" task-id="${first.id}">\nstatus: in_progress\n</npl-block>`
    for (const lastAssistantMessage of ['Done.', named]) await take('Stop', { sessionId, lastAssistantMessage })
    expect((await listMessages(harness.ctx, sessionId, { limit: 5 })).items).toMatchObject([{ taskId: first.id }, { taskId: null }])
  })

  it('of a subtask is its own session’s', async () => {
    const { run, own } = await running()
    await take('Stop', { sessionId: 'claimed', agentId: 'a1', lastAssistantMessage: 'Done.' }, own)
    expect((await listMessages(harness.ctx, `subtask-${run.id}`, { limit: 5 })).items).toHaveLength(1)
    await settleOne(harness.deps, run)
  })
})

describe('a result block in what was said last', () => {
  /** A task that a session holds and has the brief of. */
  async function begun(
    sessionId: string,
    fields: Parameters<typeof makeTask>[1] = { required_outputs: ['report', { name: 'count', schema: { type: 'integer' } }] },
  ) {
    const task = await makeTask(harness.ctx, fields)
    await assignTask(harness.ctx, task.id, sessionId)
    await take('UserPromptSubmit', { sessionId })
    return task
  }
  const result = (taskId: string | null, outputs: unknown, more = '') =>
    `Done.\n<npl-block type="result"${taskId === null ? '' : ` task-id="${taskId}"`}${more}>\n${typeof outputs === 'string' ? outputs : JSON.stringify(outputs)}\n</npl-block>`
  const stop = (sessionId: string, lastAssistantMessage: string, more: Partial<HookCall> = {}, ctx: Ctx = harness.ctx) =>
    take('Stop', { sessionId, lastAssistantMessage, ...more }, ctx)
  const GOOD = { report: 'Eleven limes.', count: 11 }

  it.each(['Stop', 'SubagentStop'])('completes the task of its session at %s, after its check-ins have counted, and again changes nothing', async (event) => {
    const sessionId = newSession()
    const agent = event === 'Stop' ? {} : { agentId: 'a1', agentType: 'writer' }
    const task = await makeTask(harness.ctx, { acceptance_criteria: ['All is counted'], required_outputs: ['report'] })
    await assignTask(harness.ctx, task.id, event === 'Stop' ? sessionId : `${sessionId}:a1`)
    await take('PostToolUse', { sessionId, ...agent })
    const checkIn = `<npl-block type="check-in" task-id="${task.id}" revision="1">\n- ✅ All is counted (${task.criteria[0]?.id})\n</npl-block>`
    const lastAssistantMessage = `${checkIn}\n${result(task.id.toUpperCase(), { report: 'Eleven.' })}`
    expect(await take(event, { sessionId, ...agent, lastAssistantMessage })).toBeNull()
    const done = await getTask(harness.ctx, task.id)
    expect(done).toMatchObject({ status: 'completed', completionOutputs: { report: 'Eleven.' }, criteria: [{ state: 'met' }] })
    expect(await take(event, { sessionId, ...agent, lastAssistantMessage })).toBeNull()
    expect(await getTask(harness.ctx, task.id)).toEqual(done)
  })

  it.each([
    ['in a code fence inside of the block', '```json\n{"report": "x", "count": 1}\n```'],
    ['over several lines', '{\n  "report": "x",\n  "count": 1\n}'],
  ])('is read %s', async (_, json) => {
    const sessionId = newSession()
    const task = await begun(sessionId)
    expect(await stop(sessionId, result(task.id, json))).toBeNull()
    expect((await getTask(harness.ctx, task.id)).completionOutputs).toEqual({ report: 'x', count: 1 })
  })

  it.each([
    ['an output that is missing', { report: 'x' }, 'count is missing'],
    ['an output that does not fit', { report: 'x', count: 'many' }, 'count must be integer'],
    ['no JSON', '{"report": …, "count": <integer>}', 'The block has no valid JSON'],
    ['no object', '[1]', 'The block must have one JSON object'],
    ['nothing', '', 'The block has no valid JSON'],
  ])('is refused in the same turn with %s, and the corrected one completes the task', async (_, outputs, reason) => {
    const sessionId = newSession()
    const task = await begun(sessionId)
    const answer = await stop(sessionId, result(task.id, outputs))
    expect(answer?.context).toContain(`[Hand-in Refused: ${task.title}]\nTask id: ${task.id}\nReason: `)
    expect(answer?.context).toContain(reason)
    expect(answer?.context).toContain(`mark_task_complete(task_id="${task.id}", outputs={"report": …, "count": <integer>})`)
    expect((await getTask(harness.ctx, task.id)).status).toBe('in_progress')
    expect(await stop(sessionId, result(task.id, GOOD), { isStopHookActive: true })).toBeNull()
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'completed', completionOutputs: GOOD })
  })

  it('is refused once in a chain of turns', async () => {
    const sessionId = newSession()
    const task = await begun(sessionId)
    expect(await stop(sessionId, result(task.id, {}), { isStopHookActive: true })).toBeNull()
    expect((await getTask(harness.ctx, task.id)).status).toBe('in_progress')
    expect((await listMessages(harness.ctx, sessionId, { limit: 5 })).items).toHaveLength(1)
  })

  it('is refused where it names another revision', async () => {
    const sessionId = newSession()
    const task = await begun(sessionId)
    expect((await stop(sessionId, result(task.id, GOOD, ' revision="2"')))?.context).toContain('revision 1')
    expect(await stop(sessionId, result(task.id, GOOD, ' revision="1"'))).toBeNull()
    expect((await getTask(harness.ctx, task.id)).status).toBe('completed')
  })

  it('is held back by what came meanwhile, which comes in the same answer', async () => {
    const sessionId = newSession()
    const task = await begun(sessionId)
    await noteTask(harness.ctx, task.id, 'Leave out the young ones.')
    const answer = await stop(sessionId, result(task.id, GOOD))
    expect(answer?.context).toMatch(/^\[Hand-in Refused: [\s\S]*\[Task Update: Note\][\s\S]*Leave out the young ones\./)
    expect((await getTask(harness.ctx, task.id)).status).toBe('in_progress')
    await noteTask(harness.ctx, task.id, 'Too late.')
    expect(await stop(sessionId, result(task.id, GOOD), { isStopHookActive: true })).toBeNull()
    expect((await getTask(harness.ctx, task.id)).status).toBe('completed')
    expect((await listTaskUpdates(harness.ctx, task.id, { limit: 5 })).items.map(({ status }) => status).sort()).toEqual(['delivered', 'expired'])
  })

  it('means the one task of its session where it names none', async () => {
    const sessionId = newSession()
    const task = await begun(sessionId)
    await stop(sessionId, result(null, GOOD))
    expect((await getTask(harness.ctx, task.id)).status).toBe('completed')
  })

  it('is refused where it names a task that there is not, and left alone where it names another session’s', async () => {
    const sessionId = newSession()
    const [task, other] = [await begun(sessionId), await begun(newSession())]
    for (const id of ['01990000-0000-7000-8000-000000000000', 'the count'])
      expect((await stop(sessionId, result(id, GOOD)))?.context).toBe(`[Hand-in Refused]\nReason: There is no task ${id}. This session holds: ${task.id}.`)
    expect(await stop(sessionId, result(other.id, GOOD))).toBeNull()
    await begun(sessionId)
    expect((await stop(sessionId, result(null, GOOD)))?.context).toMatch(/^\[Hand-in Refused\]\nReason: The block has no task-id\. This session holds: /)
    expect(await stop(newSession(), result('the count', GOOD))).toBeNull()
    for (const { id } of [task, other]) expect((await getTask(harness.ctx, id)).status).toBe('in_progress')
  })

  it('of several about a task is the last', async () => {
    const sessionId = newSession()
    const task = await begun(sessionId)
    expect(await stop(sessionId, `${result(task.id, {})}\n${result(task.id, GOOD)}`)).toBeNull()
    expect((await getTask(harness.ctx, task.id)).completionOutputs).toEqual(GOOD)
  })

  it('of several about the one task of its session is the last, also where one of them does not name it', async () => {
    for (const [first, last] of [
      [true, false],
      [false, true],
    ]) {
      const sessionId = newSession()
      const task = await begun(sessionId)
      const named = (isNamed: boolean | undefined) => (isNamed ? task.id : null)
      expect(await stop(sessionId, `${result(named(first), { ...GOOD, count: 1 })}\n${result(named(last), GOOD)}`)).toBeNull()
      expect((await getTask(harness.ctx, task.id)).completionOutputs).toEqual(GOOD)
    }
  })

  it('waits for review once, however often it is said', async () => {
    const sessionId = newSession()
    const task = await begun(sessionId, { review: 'manual' })
    for (let time = 0; time < 2; time += 1) expect(await stop(sessionId, result(task.id, { result: 'x' }))).toBeNull()
    expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'in_review', completionOutputs: { result: 'x' } })
  })

  it('is text where the key may not write tasks, and in a subtask, whose runner takes its result in', async () => {
    const sessionId = newSession()
    const task = await begun(sessionId)
    expect(await stop(sessionId, result(task.id, GOOD), {}, harness.as({ ...harness.ctx.actor, kind: 'key', scopes: ['sessions:write'] } as Actor))).toBeNull()
    const dispatched = await makeTask(harness.ctx)
    const { run, own } = await running({}, dispatched.id)
    await buildPrompt(harness.deps, run)
    expect(await stop('whatever', result(dispatched.id, { result: 'x' }), {}, own)).toBeNull()
    for (const { id } of [task, dispatched]) expect((await getTask(harness.ctx, id)).status).toBe('in_progress')
    await settleOne(harness.deps, run)
  })

  it('is no block of the message’s evaluation', async () => {
    const sessionId = newSession()
    const task = await begun(sessionId)
    await stop(sessionId, result(task.id, GOOD))
    expect((await listEvaluations(harness.ctx, { taskId: task.id, limit: 5 })).items.map(({ origin }) => origin)).toEqual(['completion'])
  })
})

describe('a check-in in what was said last', () => {
  const checkIn = (task: { id: string }, lines: string, revision = 1) =>
    `So far:\n<npl-block type="check-in" task-id="${task.id}" revision="${revision}">\n${lines}\n</npl-block>`
  async function begun(sessionId: string, fields: Parameters<typeof makeTask>[1] = { acceptance_criteria: ['All is counted'] }) {
    const task = await makeTask(harness.ctx, fields)
    await assignTask(harness.ctx, task.id, sessionId)
    await take('UserPromptSubmit', { sessionId })
    return task
  }
  const stop = async (sessionId: string, lastAssistantMessage: string, more: Partial<HookCall> = {}) =>
    (await take('Stop', { sessionId, lastAssistantMessage, ...more }))?.context ?? null

  it('that matches no criterion comes back in the same turn, once, with the form', async () => {
    const sessionId = newSession()
    const task = await begun(sessionId)
    const said = checkIn(task, '- ✅ The trees are fine\n- ✅ [Task Update: Note] So is the weather')
    expect(await stop(sessionId, said)).toBe(
      [
        `[Check-in Problem: ${task.title}]`,
        `Task id: ${task.id}`,
        'Reason: No line matches a criterion: "The trees are fine", "⟦Task Update: Note⟧ So is the weather". End each line with the id of its criterion.',
        'Report on revision 1 with this block, one line a criterion:',
        `<npl-block type="check-in" task-id="${task.id}" revision="1">`,
        'acceptance_criteria:',
        `  - ❓ All is counted (${task.criteria[0]?.id})`,
        'status: in_progress',
        'next_steps:',
        '  -',
        '</npl-block>',
      ].join('\n'),
    )
    expect(await stop(sessionId, said, { isStopHookActive: true })).toBeNull()
  })

  it('that names a revision which there is not comes back, too, and counts', async () => {
    const sessionId = newSession()
    const task = await begun(sessionId)
    expect(await stop(sessionId, checkIn(task, '- ✅ All is counted', 9))).toContain(
      '\nReason: The check-in names revision 9, and the task is at revision 1.\n',
    )
    expect((await getTask(harness.ctx, task.id)).criteria).toMatchObject([{ state: 'met' }])
  })

  it.each([
    ['one line matches', {}, '- ✅ All is counted\n- 📝 The weather is left'],
    ['it has no line', {}, 'status: in_progress'],
    ['the task has no criteria', { acceptance_criteria: [] }, '- ✅ The trees are fine'],
  ])('is not worth a turn where %s', async (_, fields, lines) => {
    const sessionId = newSession()
    const task = await begun(sessionId, { acceptance_criteria: ['All is counted'], ...fields })
    expect(await stop(sessionId, checkIn(task, lines))).toBeNull()
  })

  it('is not worth a turn where the same message has handed the task in', async () => {
    const sessionId = newSession()
    const task = await begun(sessionId)
    const result = `<npl-block type="result" task-id="${task.id}">\n{"result": "x"}\n</npl-block>`
    expect(await stop(sessionId, `${checkIn(task, '- ✅ The trees are fine')}\n${result}`)).toBeNull()
    expect((await getTask(harness.ctx, task.id)).status).toBe('completed')
  })
})

describe('a session that goes in circles', () => {
  let uses = 0
  const fail = (sessionId: string, command: string, more: Partial<HookCall> = {}) =>
    take('PostToolUseFailure', {
      sessionId,
      toolName: 'Bash',
      toolInput: { command },
      toolUseId: `use-${++uses}`,
      error: 'Exit code 1: cannot find module left-pad',
      ...more,
    })
  const succeed = (sessionId: string, command: string) =>
    take('PostToolUse', { sessionId, toolName: 'Bash', toolInput: { command }, toolUseId: `use-${++uses}`, toolResponse: {} })
  const contexts = (answers: Awaited<ReturnType<typeof take>>[]) => answers.map((answer) => answer?.context ?? '')
  const watched = (sessionId: string) => harness.admin`select from session_tool_uses where session_id = ${sessionId}`
  /** A session that has received the brief of its task. */
  async function working() {
    const sessionId = newSession()
    const { id } = await assigned(sessionId)
    await take('UserPromptSubmit', { sessionId })
    return { sessionId, id }
  }

  it('gets a note at the third failure with the guides that match, once, and loses its task at the sixth with the evidence', async () => {
    await createTsg(harness.ctx, { tsgId: 'module-is-missing', title: 'Missing module', content: 'x', patterns: ['cannot find module'] })
    const { sessionId, id } = await working()
    const answers = contexts([
      await fail(sessionId, 'npm test'),
      await fail(sessionId, 'npm test'),
      await fail(sessionId, 'npm test'),
      await fail(sessionId, 'npm test'),
      await fail(sessionId, 'npm test'),
    ])
    expect(answers.map((text) => text.includes('You are going in circles: Bash with the same arguments failed 3 times'))).toEqual([
      false,
      false,
      true,
      false,
      false,
    ])
    expect(answers[2]).toContain('read_tsg("module-is-missing")')
    expect((await getTask(harness.ctx, id)).status).toBe('in_progress')
    const [last] = contexts([await fail(sessionId, 'npm test')])
    expect(last).toContain(`Your task ${id} was taken from you and is blocked.`)
    const evidence =
      'It went in circles: Bash with the same arguments failed 6 times in the same way (steps 1 to 6).\nArguments: {"command":"npm test"}\nFailure: Exit code 1'
    expect(await getTask(harness.ctx, id)).toMatchObject({ status: 'blocked', subagentSessionId: null, lastError: expect.stringContaining(evidence) })
    expect(await watched(sessionId)).toHaveLength(0)
    // It waits for no other task, so its parent may give it to the next session.
    await assignTask(harness.ctx, id, newSession())
    expect((await getTask(harness.ctx, id)).status).toBe('assigned')
  })

  it('is reported to the parent of its task, once, with the evidence', async () => {
    const [sessionId, parent] = [newSession(), newSession()]
    const { id } = await makeTask(harness.ctx, { parent_session_id: parent })
    await assignTask(harness.ctx, id, sessionId)
    await take('UserPromptSubmit', { sessionId })
    for (let times = 0; times < 8; times += 1) await fail(sessionId, 'npm test')
    const { items } = await claimInbox(harness.ctx, parent, { limit: 10, ack: 'auto' })
    expect(items).toMatchObject([{ taskId: id, subtaskId: null, status: 'blocked', error: expect.stringContaining('It went in circles: Bash') }])
    await drainOutbox(harness.deps)
    const blocked = (await allEvents(harness.ctx)).filter(({ type, subject }) => type === 'task.blocked' && subject.id === id)
    expect(blocked.map(({ data }) => data)).toMatchObject([
      { status: 'blocked', blocked_by: [], reason: expect.stringContaining('npm test'), previous_session: sessionId },
    ])
    const run = await dispatchTask(harness.ctx, id, () => ({ runner: 'own' }))
    expect(await getTask(harness.ctx, id)).toMatchObject({ status: 'in_progress', subagentSessionId: `subtask-${run.id}` })
    await cancelTask(harness.ctx, id, null)
  })

  it('is not one whose uses succeed in between, differ, or are reported twice', async () => {
    const { sessionId, id } = await working()
    await fail(sessionId, 'npm test')
    await fail(sessionId, 'npm test', { toolUseId: 'twice' })
    await fail(sessionId, 'npm test', { toolUseId: 'twice' })
    await succeed(sessionId, 'npm install')
    await fail(sessionId, 'npm test')
    await fail(sessionId, 'npm run build')
    await fail(sessionId, 'npm test', { error: 'Exit code 2' })
    await fail(sessionId, 'npm test')
    expect((await listTaskUpdates(harness.ctx, id, { limit: 10 })).items).toEqual([])
  })

  it('is not watched without a task, as a run, and after twenty successes', async () => {
    const idle = newSession()
    for (let time = 0; time < 6; time += 1) await fail(idle, 'npm test')
    const { run, own } = await running()
    for (let time = 0; time < 6; time += 1) await take('PostToolUseFailure', { toolName: 'Bash', toolInput: {}, error: 'no' }, own)
    const { sessionId } = await working()
    await succeed(sessionId, 'true')
    expect(await watched(sessionId)).toHaveLength(0)
    await fail(sessionId, 'npm test')
    expect(await watched(sessionId)).toHaveLength(1)
    for (let time = 0; time < 20; time += 1) await succeed(sessionId, 'true')
    for (const each of [idle, `subtask-${run.id}`, sessionId]) expect(await watched(each)).toHaveLength(0)
  })

  it('gets one note where its tools fail at the same time', async () => {
    const { sessionId, id } = await working()
    await Promise.all(Array.from({ length: 5 }, () => fail(sessionId, 'npm test')))
    expect((await listTaskUpdates(harness.ctx, id, { limit: 10 })).items).toHaveLength(1)
  })

  it('is forgotten a day later', async () => {
    const { sessionId } = await working()
    await fail(sessionId, 'npm test')
    await advanceClock(harness.admin, '25 hours')
    const { sessionId: other } = await working()
    await fail(other, 'npm test')
    await resetClock(harness.admin)
    expect([(await watched(sessionId)).length, (await watched(other)).length]).toEqual([0, 1])
  })
})
