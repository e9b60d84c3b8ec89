import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ModelRequest, type ScriptedModels, type ScriptedTurn, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ClaudeProject } from './harness/claude-code.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'

/**
 * What people do with Muster, done by Claude Code with the tools of Muster alone: the real program with the settings that docs/claude-code.md gives, over
 * models on loopback. REST only shows what no tool shows.
 */
let models: ScriptedModels
let system: System
let key: string
beforeAll(async () => {
  models = await startScriptedModels()
  system = await startSystem({ workers: 3, env: { AUTH: 'keys', SUBTASK_LEASE_SECONDS: '2' } })
  key = (await system.mintKey()).key
  models.answerBy(async (request) => {
    const [first] = request.body.messages as unknown[]
    const prompt = [...scripts.keys()].find((each) => JSON.stringify(first).includes(each)) ?? ''
    const turn = scripts.get(prompt)?.shift()
    if (turn === undefined) return { text: 'This call of the model is not in the script.' }
    try {
      return await turn(seenIn(request))
    } catch (error) {
      failures.push(error)
      return { text: 'This call of the model was not as expected.' }
    }
  })
})
afterAll(async () => {
  await system.close()
  await models.close()
})

/** What the model reads in a request. */
interface Seen {
  /** The whole request. */
  text: string
  /** What the tool of its last answer has returned. */
  // biome-ignore lint/suspicious/noExplicitAny: each tool has its own fields, and one that is missing fails an assertion
  result: any
}
type Turn = (seen: Seen) => ScriptedTurn | Promise<ScriptedTurn>

/** What the model answers in each conversation, which begins with this prompt. */
const scripts = new Map<string, Turn[]>()
/** Assertions about a request that did not hold. */
const failures: unknown[] = []
afterEach(() => {
  const left = [...scripts.values()].flat()
  scripts.clear()
  const [failure] = failures.splice(0)
  if (failure !== undefined) throw failure
  expect(left).toEqual([])
})

function seenIn({ text, body }: ModelRequest): Seen {
  const messages = body.messages as { role: string; content: string | { type: string; content?: unknown }[] }[]
  const { content = [] } = messages.findLast(({ role }) => role === 'user') ?? {}
  const block = typeof content === 'string' ? undefined : content.find(({ type }) => type === 'tool_result')
  const said = typeof block?.content === 'string' ? block.content : ''
  return { text, result: said.startsWith('{') ? JSON.parse(said) : said }
}

const call = (tool: string, input: object): ScriptedTurn => ({ toolCalls: [{ name: `mcp__muster__${tool}`, input }] })
const client = () => system.api.client.as(key)
const occurrences = (text: string, part: string) => text.split(part).length - 1

/** Runs a session of Claude Code to its end. Its turns are in `scripts`, under the prompt. */
async function session(prompt: string, { sessionId = randomUUID() as string } = {}): Promise<void> {
  const project = new ClaudeProject(models)
  writeFileSync(join(project.folder, 'trees.md'), 'oak, birch')
  project.addDocumentedSettings(system.api.address)
  const ended = await project.run(prompt, { key, sessionId })
  project.remove()
  expect(ended).toEqual({ code: 0, said: 'That is all.' })
}
/** The last turn of a session. */
const end: ScriptedTurn = { text: 'That is all.' }

describe('Claude Code with the tools of Muster', () => {
  it('spawns: another worker finishes what a killed one had begun, and the session gets the result once', async () => {
    const sessionId = randomUUID()
    let id = ''
    scripts.set('Have the line held.', [
      () => call('spawn_task', { task: 'Hold the line.', runner: 'hold' }),
      async ({ result }) => {
        expect(result).toMatchObject({ status: 'pending', result: null })
        id = result.task_id
        await system.ledger.written(id, 'start', 1)
        const { child } = system.workerOf((await client().get(id)).worker_id)
        await child.end('SIGKILL')
        system.ledger.release(id, 2)
        return call('wait_for', { ids: [id], seconds: 60 })
      },
      ({ result, text }) => {
        expect(result).toMatchObject({ all_ended: true, items: [{ id, status: 'completed', result: 'Held in attempt 2. Told: nothing' }] })
        expect(occurrences(text, `[Inbox: subtask ${id} ended completed (completed)]`)).toBe(1)
        return call('claim_inbox', {})
      },
      ({ result, text }) => {
        expect(result).toEqual({ items: [], has_more: false })
        expect(occurrences(text, `[Inbox: subtask ${id} `)).toBe(1)
        return call('get_task', { task_id: id })
      },
      ({ result }) => {
        expect(result).toMatchObject({ kind: 'subtask', subtask: { status: 'completed', attempt: 2 } })
        return end
      },
    ])
    await session('Have the line held.', { sessionId })
    expect(system.ledger.entries().filter((entry) => entry.subtask_id === id && entry.event === 'end')).toHaveLength(1)
    expect(await client().inbox(sessionId)).toEqual([])
  })

  it('briefs and steers: the worker gets its brief once and then what changed, and completes with the required outputs only', async () => {
    const workerId = randomUUID()
    const [assigned, begun, steered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let [taskId, guideId, updateId] = ['', '', '']
    scripts.set('Have the trees described.', [
      () => call('search_tools', { query: 'write a troubleshooting guide' }),
      ({ result }) => {
        expect(result.tools.map(({ name }: { name: string }) => name)).toContain('create_tsg')
        const guide = { title: 'A tree is hidden', content: 'Walk around the house.', patterns: ['tree is hidden'] }
        return call('call_tool', { name: 'create_tsg', arguments: guide })
      },
      ({ result }) => {
        guideId = result.tsg_id
        const outputs = ['report', { name: 'count', schema: { type: 'integer' } }]
        const acceptance = ['Every tree is in it']
        return call('create_task', { title: 'Describe the trees', instructions: 'Describe the oaks.', acceptance, outputs, tsgs: [guideId] })
      },
      ({ result }) => {
        taskId = result.task_id
        return call('assign_task', { task_id: taskId, subagent_session_id: workerId })
      },
      async ({ result }) => {
        expect(result).toEqual({ success: true })
        assigned.resolve()
        await begun.promise
        return call('update_task', { task_id: taskId, instructions: 'Describe the oaks and the birches.' })
      },
      ({ result }) => {
        expect(result).toMatchObject({ success: true, revision: 2 })
        updateId = result.update_id
        return call('steer_task', { id: taskId, content: 'The birches come first.' })
      },
      ({ result }) => {
        expect(result).toMatchObject({ kind: 'task', status: 'queued' })
        steered.resolve()
        return call('wait_for', { ids: [taskId], seconds: 60 })
      },
      ({ result }) => {
        expect(result).toMatchObject({ all_ended: true, items: [{ id: taskId, status: 'completed' }] })
        return call('get_task', { task_id: taskId })
      },
      ({ result }) => {
        const criteria = [expect.objectContaining({ state: 'met' })]
        expect(result.task).toMatchObject({
          status: 'completed',
          completion_outputs: { report: 'A birch and an oak.', count: 2 },
          acceptance_criteria: criteria,
        })
        return end
      },
    ])
    scripts.set('Do what your brief says.', [
      async ({ text }) => {
        for (const part of ['[Task Assignment: Describe the trees]', 'Describe the oaks.', '- [ ] Every tree is in it', `A tree is hidden (${guideId})`])
          expect(text).toContain(part)
        begun.resolve()
        await steered.promise
        return call('get_task', { task_id: taskId })
      },
      ({ text }) => {
        for (const part of ['[Task Assignment: ', '[Task Update: Instructions Modified]', '[Task Update: Note]', 'The birches come first.'])
          expect([part, occurrences(text, part)]).toEqual([part, 1])
        expect(text).toContain(`Update id: ${updateId}`)
        return call('confirm_update', { update_id: updateId })
      },
      ({ result }) => {
        expect(result).toMatchObject({ genuine: true, task_id: taskId, content: expect.stringContaining('and the birches') })
        const content = `<npl-block type="check-in" task-id="${taskId}" revision="2">\n✅ Every tree is in it\n</npl-block>`
        return call('check_in', { task_id: taskId, content })
      },
      ({ result }) => {
        expect(result).toMatchObject({ revision: 2, criteria: [{ state: 'met' }], acknowledged_update_ids: expect.arrayContaining([updateId]) })
        expect(result.acknowledged_update_ids).toHaveLength(2)
        return call('mark_task_complete', { task_id: taskId, outputs: { report: 'A birch and an oak.' } })
      },
      ({ result }) => {
        expect(result).toMatchObject({ code: 'outputs_missing', errors: [{ field: 'outputs.count' }] })
        return call('mark_task_complete', { task_id: taskId, outputs: { report: 'A birch and an oak.', count: 2 } })
      },
      ({ result, text }) => {
        expect(result).toEqual({ success: true, status: 'completed' })
        expect([occurrences(text, '[Task Assignment: '), occurrences(text, '[Task Update: ')]).toEqual([1, 2])
        return end
      },
    ])
    const controller = session('Have the trees described.')
    await Promise.race([assigned.promise, controller])
    await Promise.all([controller, session('Do what your brief says.', { sessionId: workerId })])
    const receipt = { status: 'acknowledged', delivered_to: workerId }
    expect(await client().taskUpdates(taskId)).toEqual([expect.objectContaining(receipt), expect.objectContaining(receipt)])
  })

  it('schedules: a rule shows its next five times, and what is due runs once, with three workers', async () => {
    await system.startWorker()
    const sessionId = randomUUID()
    let [daily, once, run] = ['', '', '']
    scripts.set('See to the watering.', [
      () => call('schedule_task', { task: 'Water the trees.', every: 'daily at 8am EST' }),
      ({ result }) => {
        daily = result.task_id
        expect(result.schedule).toMatchObject({ timezone: 'America/New_York', upcoming: expect.any(Array) })
        expect(result.schedule.upcoming).toHaveLength(5)
        return call('schedule_task', { task: 'Water the birch.', when: 'in 2 seconds' })
      },
      async ({ result }) => {
        once = result.task_id
        await until('it has fired', async () => (await client().ok<{ items: unknown[] }>('GET', `/schedules/${once}/runs`)).items.length > 0)
        return call('list_tasks', { kind: 'subtask', parent_session: sessionId })
      },
      ({ result }) => {
        expect(result.subtasks).toEqual([expect.objectContaining({ task: 'Water the birch.' })])
        run = result.subtasks[0].id
        return call('wait_for', { ids: [run] })
      },
      ({ result, text }) => {
        expect(result).toMatchObject({ all_ended: true, items: [{ id: run, result: 'Done: Water the birch.' }] })
        expect(occurrences(text, `[Inbox: subtask ${run} ended completed (completed)]`)).toBe(1)
        return call('get_task', { task_id: once })
      },
      ({ result }) => {
        expect(result).toMatchObject({ kind: 'schedule', schedule: { state: 'finished', next_fire_at: null } })
        return call('cancel_task', { task_id: daily })
      },
      ({ result }) => {
        expect(result).toMatchObject({ success: true, kind: 'schedule' })
        return call('list_tasks', { status: 'scheduled' })
      },
      ({ result }) => {
        expect(result.schedules).toEqual([])
        return end
      },
    ])
    await session('See to the watering.', { sessionId })
    expect(await system.admin`select from subtasks where schedule_id in (${daily}, ${once})`).toHaveLength(1)
  })

  it('judges: what misses a criterion comes back to the sub-agent to revise, and a poor text comes as a summary', async () => {
    const hidden = 'The word in the middle is larch.'
    const poor = `${'It grows in the park. '.repeat(400)}${hidden}${' It grows in the park.'.repeat(400)}\n<npl-block type="check-in">\n🐛 Every tree is named\n</npl-block>`
    const checkIn = (mark: string) => `<npl-block type="check-in">\n${mark} Every tree is named\n${mark} The park is named\n</npl-block>`
    // No judge looks here, so that the word of the agent has to be enough.
    await system.admin`update projects set settings = settings || '{"evaluation": {"trust": "self_report"}}'`
    let taskId = ''
    scripts.set('Have the trees named.', [
      () => {
        const acceptance = ['Every tree is named', 'The park is named']
        return call('create_task', { title: 'Name the trees', instructions: 'Name the trees.', acceptance, outputs: ['report'], review: 'auto' })
      },
      ({ result }) => {
        taskId = result.task_id
        const prompt = `Name them now.\nmuster-task: ${taskId}`
        return { toolCalls: [{ name: 'Agent', input: { subagent_type: 'general-purpose', description: 'Name', prompt, run_in_background: false } }] }
      },
      () => call('get_task', { task_id: taskId }),
      ({ result }) => {
        expect(result.task).toMatchObject({ status: 'completed', completion_outputs: { report: 'Oak and birch.' } })
        return call('evaluate_output', { output: poor, acceptance_criteria: ['Every tree is named'] })
      },
      ({ result }) => {
        expect(result).toMatchObject({ recommendation: 'request_revision', score: 0.1, summary: expect.stringContaining('- Every tree is named') })
        expect(JSON.stringify(result)).not.toContain(hidden)
        return call('request_full_payload', { task_id: result.evaluation_id })
      },
      ({ result }) => {
        expect(result.full_output).toContain(hidden)
        return end
      },
    ])
    scripts.set('Name them now.', [
      ({ text }) => {
        expect(text).toContain('[Task Assignment: Name the trees]')
        return call('mark_task_complete', { task_id: taskId, outputs: { report: `Oak.\n${checkIn('🐛')}` } })
      },
      ({ result, text }) => {
        expect(result).toEqual({ success: true, status: 'revision_requested' })
        const request = text.slice(text.indexOf('[Task Update: Revision Requested]'))
        for (const part of ['Every tree is named', 'The park is named']) expect(request).toContain(part)
        return call('check_in', { task_id: taskId, content: checkIn('✅') })
      },
      ({ result }) => {
        expect(result).toMatchObject({ criteria: [{ state: 'met' }, { state: 'met' }] })
        return call('mark_task_complete', { task_id: taskId, outputs: { report: 'Oak and birch.' } })
      },
      ({ result }) => {
        expect(result).toEqual({ success: true, status: 'completed' })
        return end
      },
    ])
    await session('Have the trees named.', {})
    expect(await client().taskUpdates(taskId)).toEqual([expect.objectContaining({ status: expect.stringMatching(/^(delivered|acknowledged)$/) })])
    const { items } = await client().ok<{ items: { recommendation: string }[] }>('GET', `/evaluations?task_id=${taskId}`)
    expect(items.map(({ recommendation }) => recommendation)).toEqual(['approve', 'request_revision'])
  })
})
