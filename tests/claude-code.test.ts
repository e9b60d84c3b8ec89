import { setTimeout as sleep } from 'node:timers/promises'
import { claudePath } from '@muster/testing/claude-program'
import { type ModelRequest, type ScriptedModels, type ScriptedTurn, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { programsOf } from './harness/programs.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { NewSubtask, Subtask, Update } from './harness/wire.ts'

const KEY = 'sk-ant-key-of-the-operator-7c1d'

let models: ScriptedModels
let system: System
/** What each run is answered, by a word of its task. */
const scripts = new Map<string, (request: ModelRequest, calls: number) => ScriptedTurn>()
const calls = new Map<string, number>()

beforeAll(async () => {
  models = await startScriptedModels()
  models.answerBy((request) => {
    const word = [...scripts.keys()].find((each) => request.text.includes(each)) ?? ''
    calls.set(word, (calls.get(word) ?? 0) + 1)
    return scripts.get(word)?.(request, calls.get(word) ?? 0) ?? { status: 400, error: 'no script' }
  })
  system = await startSystem({
    env: { CLAUDE_CODE_PATH: claudePath(), ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: models.anthropicUrl, ENABLE_BASH_TOOL: 'true' },
  })
  system.addSecret(KEY)
})
afterAll(async () => {
  await system.close()
  await models.close()
})

type Script = (request: ModelRequest, calls: number) => ScriptedTurn

/** Spawns a subtask of the runner `claude-code`, whose model follows a script. */
async function spawn(word: string, script: Script, more: Partial<NewSubtask> = {}): Promise<Subtask> {
  scripts.set(word, script)
  return await system.client.spawn({ task: `Do the thing that is called ${word}.`, runner: 'claude-code', ...more })
}

const stepsOf = async (id: string) => (await system.client.ok<{ items: { kind: string; content: unknown }[] }>('GET', `/subtasks/${id}/steps?limit=200`)).items
const called = (word: string) => until(`${word} was called`, () => (calls.get(word) ?? 0) > 0)

describe('the runner claude-code, in processes of its own', () => {
  it('is offered by GET /runners, with its version', async () => {
    const unconfined = { sandbox: 'none', sandbox_problem: 'The sandbox is switched off (SANDBOX=off).' }
    const flags = { default: false, default_for_subagents: false, follows_definitions: true }
    const described = async () =>
      (await system.client.ok<{ items: { name: string; version?: string }[] }>('GET', '/runners')).items.find(({ name }) => name === 'claude-code')
    await until('the program has been asked for its version', async () => (await described())?.version !== undefined)
    const version = expect.stringMatching(/^\d+\.\d+\.\d+$/)
    expect(await described()).toEqual({ name: 'claude-code', available: true, ...flags, missing: [], steerable: true, version, ...unconfined })
  })

  it('runs a subtask, and lets no key and no credential out', async () => {
    const { id } = await spawn('walnut', (_, nth) =>
      nth === 1
        ? { text: 'Looking.', toolCalls: [{ name: 'Bash', input: { command: 'env; cat /proc/$PPID/environ' } }], usage: { input: 100, output: 20 } }
        : { text: 'It is done.', usage: { input: 120, output: 10 } },
    )
    const ended = await system.client.ended(id)
    expect(ended).toMatchObject({ status: 'completed', result: 'It is done.', attempt: 1 })
    expect(ended.usage).toMatchObject({ input_tokens: 220, output_tokens: 30, steps: 4, tool_calls: 1 })
    expect(ended.usage.cost_usd).toBeGreaterThan(0)
    const steps = await stepsOf(id)
    expect(steps.map(({ kind }) => kind)).toEqual(['message', 'tool_call', 'tool_result', 'message'])
    expect(JSON.stringify(steps)).toContain('MUSTER_WORKSPACE=')
    expect(JSON.stringify(steps)).not.toMatch(/sk-ant-key|mst_[A-Za-z0-9_-]{20}/)
  })

  it('runs a brief: reads it, is told of its change, checks in', async () => {
    const task = await system.client.createTask({
      title: 'Count',
      instructions: 'Do the thing that is called hazel, and count to three.',
      acceptance_criteria: ['Every number is named'],
    })
    const checkIn = `<npl-block type="check-in" task-id="${task.id}" revision="2">\n✅ Every number is named\n</npl-block>`
    scripts.set('hazel', ({ text }) => {
      if (text.includes('"name":"mcp__muster__check_in","input":{"task_id"')) return { text: 'One, two, three, four.' }
      // What follows an update, wherever it is told.
      if (text.includes('Take this in')) return { toolCalls: [{ name: 'mcp__muster__check_in', input: { task_id: task.id, content: checkIn } }] }
      return { toolCalls: [{ name: 'mcp__muster__get_task', input: { task_id: task.id } }] }
    })
    const { id } = await system.client.ok<Subtask>('POST', `/tasks/${task.id}/dispatch`, { body: { runner: 'claude-code', budget: { max_steps: 5_000 } } })
    await called('hazel')
    await system.client.revise(task.id, 1, { instructions: 'Do the thing that is called hazel, and count to four.' })
    expect(await system.client.ended(id)).toMatchObject({ status: 'completed', result: 'One, two, three, four.' })
    const steps = JSON.stringify(await stepsOf(id))
    expect(steps).toContain('mcp__muster__get_task')
    expect(steps).not.toMatch(/"is_error":true/)
    expect(await system.client.taskUpdates(task.id)).toEqual([expect.objectContaining({ status: 'acknowledged' })])
  })

  it('breaks off what it does for an update that is not to wait', async () => {
    const { id } = await spawn('poplar', ({ text }) =>
      text.includes('the other way') ? { text: 'The other way it is.' } : { text: 'This w', ending: 'stall' },
    )
    await called('poplar')
    await system.client.ok<Update>('POST', `/subtasks/${id}/updates`, { body: { content: 'the other way', delivery: 'interrupt' } })
    expect(await system.client.ended(id)).toMatchObject({ status: 'completed', result: 'The other way it is.' })
    expect(await system.client.updates(id)).toEqual([expect.objectContaining({ status: 'acknowledged' })])
  })

  it('calls no update delivered that stood in no request, when its last answer is given', async () => {
    const ends: string[] = []
    for (const delayMs of [5, 20, 50, 80, 120, 200]) {
      const word = `alder${delayMs}x`
      const note = `late note of ${word}.`
      const sending: Promise<unknown>[] = []
      let isSeen = false
      const spawned: Promise<Subtask> = spawn(word, ({ text }, nth) => {
        isSeen ||= text.includes(note)
        const send = async () => system.client.call('POST', `/subtasks/${(await spawned).id}/updates`, { body: { content: note } })
        if (nth === 1) sending.push(sleep(delayMs).then(send))
        return { text: 'That is all.' }
      })
      const { id } = await spawned
      await system.client.ended(id)
      await Promise.all(sending)
      const { items } = await system.client.ok<{ items: Update[] }>('GET', `/subtasks/${id}/updates`)
      for (const { status } of items) expect([word, isSeen, status === 'expired']).toEqual([word, isSeen, !isSeen])
      ends.push(...items.map(({ status }) => status))
    }
    expect(ends.length).toBeGreaterThan(0)
  })

  it('asks, waits without a process, and resumes its own session with the answer', async () => {
    const { id } = await spawn('rowan', ({ text, tools }, nth) => {
      if (nth === 1) {
        expect(tools).toContain('mcp__muster__ask')
        return {
          text: 'I have counted the rowans.',
          toolCalls: [{ name: 'mcp__muster__ask', input: { prompt: 'Fell them?', wait: true } }],
          usage: { input: 100, output: 20 },
        }
      }
      return text.includes('Answer: Leave them')
        ? { text: 'They stay.', usage: { input: 150, output: 10 } }
        : { text: 'I went on without an answer.', usage: { input: 150, output: 10 } }
    })
    await until('it waits', async () => (await system.client.get(id)).status === 'waiting')
    await until('its program is gone', () => programsOf(id).length === 0)
    const { items } = await system.client.ok<{ items: { question_id: string; prompt: string }[] }>('GET', '/questions?status=open')
    expect(items).toMatchObject([{ prompt: 'Fell them?' }])
    await system.client.ok('POST', `/questions/${items[0]?.question_id}/answer`, { body: { answer: 'Leave them' } })
    const ended = await system.client.ended(id)
    expect(ended).toMatchObject({ status: 'completed', result: 'They stay.', attempt: 2, failures: 0 })
    const resumed = models.requests.filter(({ text }) => text.includes('rowan')).at(-1)
    expect(resumed?.text).toContain('I have counted the rowans.')
    // The program reports all of its session, and what the first attempt has used is not counted again.
    const attempts = await system.admin`select input_tokens::int, output_tokens::int from attempts where subtask_id = ${id} and attempt = 2`
    expect(attempts).toEqual([{ input_tokens: 150, output_tokens: 10 }])
  })

  it('is cancelled in the middle, and leaves no process', async () => {
    const { id } = await spawn('willow', () => ({ toolCalls: [{ name: 'Bash', input: { command: 'sleep 300' } }] }))
    await called('willow')
    expect((await system.client.cancel(id)).status).toBe(202)
    expect(await system.client.ended(id)).toMatchObject({ status: 'cancelled', final_outcome: 'cancelled' })
    expect(programsOf(id)).toEqual([])
  })

  it('is started once more when it crashes', async () => {
    const { id } = await spawn('cedar', (_, nth) => (nth === 1 ? { text: 'Thinking', ending: 'stall' } : { text: 'This time it worked.' }), { max_attempts: 2 })
    await called('cedar')
    for (const pid of programsOf(id)) process.kill(pid, 'SIGKILL')
    expect(await system.client.ended(id)).toMatchObject({ status: 'completed', result: 'This time it worked.', attempt: 2 })
  })

  it('dies with its worker', async () => {
    const { id } = await spawn('maple', () => ({ text: 'Thinking', ending: 'stall' }), { max_attempts: 1 })
    await called('maple')
    expect(programsOf(id)).not.toEqual([])
    await system.workers[0]?.child.end('SIGKILL')
    await until('its programs are gone', () => programsOf(id).length === 0)
  })
})
