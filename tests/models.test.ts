import { setTimeout as sleep } from 'node:timers/promises'
import { type ModelRequest, type ScriptedModels, type ScriptedTurn, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EventStream } from './harness/event-stream.ts'
import { programsOf } from './harness/programs.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { NewSubtask, Subtask, Update } from './harness/wire.ts'

const ANTHROPIC_KEY = 'sk-ant-key-of-the-operator-7c1d'
const OPENAI_KEY = 'sk-oai-key-of-the-operator-93ab'

let models: ScriptedModels
let system: System
/** What each run is answered, by a word of its task. */
const scripts = new Map<string, (request: ModelRequest, calls: number) => ScriptedTurn | Promise<ScriptedTurn>>()
const calls = new Map<string, ModelRequest[]>()

beforeAll(async () => {
  models = await startScriptedModels()
  models.answerBy((request) => {
    const word = [...scripts.keys()].find((each) => request.text.includes(each)) ?? ''
    const made = [...(calls.get(word) ?? []), request]
    calls.set(word, made)
    return scripts.get(word)?.(request, made.length) ?? { status: 400, error: 'no script' }
  })
  system = await startSystem({
    env: {
      ANTHROPIC_API_KEY: ANTHROPIC_KEY,
      ANTHROPIC_BASE_URL: models.anthropicUrl,
      OPENAI_API_KEY: OPENAI_KEY,
      OPENAI_BASE_URL: models.openaiUrl,
      BACKGROUND_MODEL: 'openai:local-model',
      MODEL_ALIASES: JSON.stringify({ quick: 'anthropic:claude-test' }),
      MODEL_PRICES: JSON.stringify({ 'local-model': { input: 1, output: 2 }, quick: { input: 3, output: 15 } }),
      ENABLE_BASH_TOOL: 'true',
      // For the streams that stand still; every other answer is there at once.
      MODEL_IDLE_TIMEOUT: '2',
      SUBTASK_WORKERS: '8',
    },
  })
  for (const key of [ANTHROPIC_KEY, OPENAI_KEY]) system.addSecret(key)
})
afterAll(async () => {
  await system.close()
  await models.close()
})

/** Spawns a subtask of the runner `ai`, whose model follows a script. */
async function spawn(
  word: string,
  script: (request: ModelRequest, calls: number) => ScriptedTurn | Promise<ScriptedTurn>,
  more: Partial<NewSubtask> = {},
): Promise<Subtask> {
  scripts.set(word, script)
  return await system.client.spawn({ task: `Do the thing that is called ${word}.`, runner: 'ai', ...more })
}

const stepsOf = async (id: string) => (await system.client.ok<{ items: { kind: string; content: unknown }[] }>('GET', `/subtasks/${id}/steps?limit=200`)).items
const called = (word: string, count = 1) => until(`${word} was called`, () => (calls.get(word)?.length ?? 0) >= count)
const steer = (id: string, content: string, delivery: string) => system.client.ok<Update>('POST', `/subtasks/${id}/updates`, { body: { content, delivery } })

describe('the runner ai, in processes of its own', () => {
  it('is offered by GET /runners', async () => {
    const { items } = await system.client.ok<{ items: unknown[] }>('GET', '/runners')
    expect(items).toContainEqual({
      name: 'ai',
      available: true,
      default: false,
      default_for_subagents: true,
      follows_definitions: true,
      missing: [],
      steerable: true,
      sandbox: 'none',
      sandbox_problem: 'The sandbox is switched off (SANDBOX=off).',
    })
  })

  it.each([
    ['walnut', null, 'openai-chat', 0.00029],
    ['hazel', 'quick', 'anthropic', 0.001275],
  ])('runs a subtask over either dialect: %s', async (word, model, dialect, cost) => {
    const { id } = await spawn(
      word,
      (_, nth) =>
        nth === 1
          ? { text: 'Writing.', toolCalls: [{ name: 'Write', input: { file_path: 'note.md', content: 'hello' } }], usage: { input: 100, output: 20 } }
          : { text: 'It is written.', usage: { input: 100, output: 25 } },
      { model },
    )
    const ended = await system.client.ended(id)

    expect(ended).toMatchObject({ status: 'completed', result: 'It is written.', attempt: 1 })
    expect(ended.usage).toEqual({
      input_tokens: 200,
      output_tokens: 45,
      cost_usd: cost,
      steps: 4,
      tool_calls: 1,
    })
    expect((await stepsOf(id)).map(({ kind }) => kind)).toEqual(['message', 'tool_call', 'tool_result', 'message'])
    expect(calls.get(word)?.map((request) => request.dialect)).toEqual([dialect, dialect])
  })

  it('edits a file: a refused edit says what to do, and the next one is done', async () => {
    const edit = (old_string: string, new_string: string) => ({ toolCalls: [{ name: 'Edit', input: { file_path: 'note.md', old_string, new_string } }] })
    const { id } = await spawn(
      'rowan',
      (_, nth) =>
        [
          edit('', 'one\none\ntwo\n'),
          edit('one', '1'),
          edit('one\ntwo', '1\n2'),
          { toolCalls: [{ name: 'Bash', input: { command: 'cat note.md' } }] },
          { text: 'It is edited.' },
        ][nth - 1] as ScriptedTurn,
    )
    expect(await system.client.ended(id)).toMatchObject({ status: 'completed', result: 'It is edited.' })
    const results = (await stepsOf(id)).filter(({ kind }) => kind === 'tool_result').map(({ content }) => content as { output: string; is_error: boolean })
    expect(results).toMatchObject([
      { is_error: false, output: 'Made note.md.' },
      { is_error: true, output: expect.stringContaining('occurs 2 times in note.md. Add lines around it') },
      { is_error: false, output: 'Replaced 1 occurrence in note.md.' },
      { is_error: false, output: 'one\n1\n2' },
    ])
  })

  it('reports on its task with the tools that its brief names, and follows the guide for a tool that fails', async () => {
    const { client } = system
    await client.ok('POST', '/tsgs', { body: { tsg_id: 'no-such-file', title: 'A missing file', content: 'List the folder first.', patterns: ['cypress.md'] } })
    const task = await client.createTask({ title: 'Cypress', instructions: 'Do the thing that is called cypress.', acceptance_criteria: ['It is green'] })
    scripts.set('cypress', ({ text }, nth) => {
      if (nth === 1) return { toolCalls: [{ name: 'Read', input: { file_path: 'cypress.md' } }] }
      if (nth === 2) return { toolCalls: [{ name: 'read_tsg', input: { tsg_id: 'no-such-file' } }] }
      if (nth > 3) return { text: 'It is green.' }
      const content = `<npl-block type="check-in" task-id="${task.id}">\n- ✅ It is green\n</npl-block>`
      return {
        toolCalls: [
          { name: 'mark_tsg_helpful', input: { tsg_id: 'no-such-file', resolved: text.includes('List the folder first.') } },
          { name: 'check_in', input: { task_id: task.id, content, revision: 1 } },
          { name: 'get_task', input: { task_id: task.id } },
        ],
      }
    })
    const { id } = await client.ok<Subtask>('POST', `/tasks/${task.id}/dispatch`, { body: { runner: 'ai' } })
    expect(await client.ended(id)).toMatchObject({ status: 'completed', result: 'It is green.' })
    const [, second, , last] = calls.get('cypress') ?? []
    expect(second?.text).toContain('[Troubleshooting Guide Available: \\"A missing file\\"]')
    expect(last?.text).toContain('Recorded.')
    expect(await client.ok('GET', '/tsgs/no-such-file/usage')).toMatchObject({ surfaced: 1, read: 1, resolved: 1 })
    expect(await client.ok('GET', `/tasks/${task.id}`)).toMatchObject({ acceptance_criteria: [{ state: 'met' }] })
  })

  it('lets no key and no credential out, whatever a model tries', async () => {
    const { id } = await spawn('maple', (_, nth) =>
      nth === 1
        ? { toolCalls: [{ name: 'Bash', input: { command: 'env; tr "\\0" "\\n" < /proc/$PPID/environ; cat /proc/self/environ' } }] }
        : nth === 2
          ? { toolCalls: [{ name: 'Read', input: { file_path: '/proc/self/environ' } }] }
          : { text: 'I have found nothing.' },
    )
    await system.client.ended(id)
    const stream = await EventStream.open(system.client, `/subtasks/${id}/events`)
    await stream.ended()
    const seen = JSON.stringify([await stepsOf(id), stream.events, calls.get('maple')?.map(({ text }) => text), await system.client.get(id)])

    expect(seen).toContain('MUSTER_WORKSPACE=')
    expect(seen).toContain('outside of your workspace')
    const password = decodeURIComponent(new URL(system.database.appUrl).password)
    for (const secret of [ANTHROPIC_KEY, OPENAI_KEY, password]) expect(seen).not.toContain(secret)
    expect(seen).not.toMatch(/MUSTER_TOKEN=|mst_[A-Za-z0-9_-]{20}/)
  })

  it('is told of an update between two steps, and says that it has taken it in', async () => {
    const { id } = await spawn(
      'cherry',
      ({ text }) => (text.includes('also the second') ? { text: 'Both are done.' } : { toolCalls: [{ name: 'Bash', input: { command: 'sleep 0.05' } }] }),
      { budget: { max_steps: 1_000 } },
    )
    await called('cherry')
    const { update_id } = await steer(id, 'also the second', 'next_step')
    expect(await system.client.ended(id)).toMatchObject({ status: 'completed', result: 'Both are done.' })
    expect(await system.client.updates(id)).toEqual([expect.objectContaining({ update_id, status: 'acknowledged' })])
  })

  it('sees in its next call what was sent during one, however fast the model answers', async () => {
    const { id } = await spawn(
      'aspen',
      async (_, nth) => {
        const own = (await system.client.ok<{ items: Subtask[] }>('GET', '/subtasks?status=running')).items.find(({ task }) => task.includes('aspen'))
        if (nth <= 20) await steer(own?.id as string, `note ${nth}.`, 'next_step')
        return nth <= 20 ? { toolCalls: [{ name: 'Glob', input: { pattern: '*' } }] } : { text: 'All notes are taken in.' }
      },
      { budget: { max_steps: 1_000 } },
    )
    await system.client.ended(id)
    const texts = calls.get('aspen')?.map(({ text }) => text) ?? []
    for (let nth = 1; nth <= 20; nth += 1) expect([nth, texts[nth]?.includes(`note ${nth}.`)]).toEqual([nth, true])
  })

  it('calls no update delivered that stood in no request, when its last answer is given', async () => {
    let expired = 0
    // Some notes come in time for another call, and some after the end, which refuses them.
    for (let round = 0; expired < 30; round += 1) {
      const word = `alder${round}x`
      const sending: Promise<unknown>[] = []
      // The run may begin before the spawn is answered.
      const spawned: Promise<Subtask> = spawn(word, (_, nth) => {
        const send = async () => system.client.call('POST', `/subtasks/${(await spawned).id}/updates`, { body: { content: `late note of ${word}.` } })
        if (nth === 1) sending.push(sleep(round % 20).then(send))
        return { text: 'That is all.' }
      })
      const { id } = await spawned
      await system.client.ended(id)
      await Promise.all(sending)
      const { items } = await system.client.ok<{ items: Update[] }>('GET', `/subtasks/${id}/updates`)
      const isSeen = calls.get(word)?.some(({ text }) => text.includes(`late note of ${word}.`)) ?? false
      for (const { status } of items) expect([word, isSeen, status === 'expired']).toEqual([word, isSeen, !isSeen])
      expired += items.filter(({ status }) => status === 'expired').length
    }
  })

  it('breaks its call off for an update that is not to wait', async () => {
    const { id } = await spawn('poplar', ({ text }) =>
      text.includes('the other way') ? { text: 'The other way it is.' } : { text: 'This w', ending: 'stall' },
    )
    await called('poplar')
    await steer(id, 'the other way', 'interrupt')
    expect(await system.client.ended(id)).toMatchObject({ status: 'completed', result: 'The other way it is.' })
    expect(await system.client.updates(id)).toEqual([expect.objectContaining({ status: 'acknowledged' })])
  })

  it.each([
    ['willow', { text: 'Thinking', ending: 'stall' }],
    ['birch', { toolCalls: [{ name: 'Bash', input: { command: 'sleep 300' } }] }],
  ] satisfies [string, ScriptedTurn][])('is cancelled in the middle: %s', async (word, turn) => {
    const { id } = await spawn(word, () => turn)
    await called(word)
    expect((await system.client.cancel(id)).status).toBe(202)
    expect(await system.client.ended(id)).toMatchObject({ status: 'cancelled', final_outcome: 'cancelled' })
  })

  it('ends with what it has when its budget is used up, over all its attempts', async () => {
    // The first attempt delivers nothing at all, which is refused; what it has used counts for the second.
    const { id } = await spawn('cedar', (_, nth) => ({ text: nth <= 3 ? '' : 'I will look.', usage: { input: 10, output: 5 } }), { budget: { max_tokens: 60 } })
    const ended = await system.client.ended(id)
    expect(ended).toMatchObject({
      status: 'failed',
      final_outcome: 'budget_exceeded',
      attempt: 2,
      result: 'I will look.',
      error: expect.stringContaining('max_tokens'),
    })
    expect(ended.usage).toMatchObject({ input_tokens: 40, output_tokens: 20 })
  })

  it('fails at once, and says what to set, where the provider refuses the key', async () => {
    const { id } = await spawn('larch', () => ({ status: 401, error: `Incorrect API key provided: ${OPENAI_KEY}` }))
    expect(await system.client.ended(id)).toMatchObject({
      status: 'failed',
      final_outcome: 'errored',
      attempt: 1,
      error: expect.stringContaining('Set a valid OPENAI_API_KEY'),
    })
  })

  it.each([
    ['openai', null],
    ['anthropic', 'quick'],
  ])('goes on after whatever goes wrong with a provider for a moment: %s', async (dialect, model) => {
    const troubles: Record<string, ScriptedTurn> = {
      limited: { status: 429, headers: { 'retry-after': '1' } },
      failing: { status: 500 },
      stalled: { text: 'hm', ending: 'stall' },
      cut: { text: 'half of ', ending: 'cut' },
      overloaded: { text: 'some', streamError: { type: dialect === 'anthropic' ? 'overloaded_error' : 'server_error', message: 'Overloaded' } },
      malformed: { toolCalls: [{ name: 'Read', rawInput: '{"file_path": "no' }] },
    }
    const spawned = Object.entries(troubles).map(([name, turn]) =>
      spawn(`${name}-${dialect}`, (_, nth) => (nth === 1 ? turn : { text: 'All of it is done.' }), { model, agent_id: `${name}-${dialect}` }),
    )
    for (const { id } of await Promise.all(spawned)) {
      expect(await system.client.ended(id)).toMatchObject({ status: 'completed', result: 'All of it is done.', attempt: 1 })
      expect(JSON.stringify(await stepsOf(id))).toMatch(/Trying again in|The arguments of Read were not accepted/)
    }
  })

  it.each([
    ['openai', null],
    ['anthropic', 'quick'],
  ])('is blocked where the model refuses: %s', async (dialect, model) => {
    const { id } = await spawn(`refused-${dialect}`, () => ({ text: 'I will not.', finish: 'refusal' }), { model })
    expect(await system.client.ended(id)).toMatchObject({ status: 'failed', final_outcome: 'incomplete_blocked', attempt: 1 })
  })

  it('is run again when its worker is killed in the middle of a command, of which nothing is left', async () => {
    const { id } = await spawn(
      'spruce',
      (_, nth) =>
        nth === 1
          ? { toolCalls: [{ name: 'Bash', input: { command: 'setsid sleep 300 & sleep 300' } }], usage: { input: 100, output: 10 } }
          : { text: 'This time it worked.', usage: { input: 7, output: 3 } },
      { max_attempts: 2 },
    )
    await until('its commands run, and are in the transcript', async () => programsOf(id).length >= 3 && (await stepsOf(id)).length > 0)
    await system.startWorker()
    await system.workerOf((await system.client.get(id)).worker_id).child.end('SIGKILL')
    await until('its commands are gone', () => programsOf(id).length === 0)

    const ended = await system.client.ended(id)
    expect(ended).toMatchObject({ status: 'completed', result: 'This time it worked.', attempt: 2, failures: 1 })
    expect(ended.usage).toMatchObject({ input_tokens: 107, output_tokens: 13 })
  })
})
