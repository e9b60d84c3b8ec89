import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ModelRequest, type ScriptedModels, type ScriptedTurn, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'

interface Spawned {
  success: boolean
  summary: string | null
  duration_ms: number
  background: boolean
  error: string | null
  subtask_id: string
}

const SAMPLES = fileURLToPath(new URL('../subagents', import.meta.url))

let folder: string
let models: ScriptedModels
let system: System
/** What each run is answered, by a word of its prompt. */
const scripts = new Map<string, (request: ModelRequest, nth: number) => ScriptedTurn>()
const requests = new Map<string, ModelRequest[]>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-subagents-'))
  models = await startScriptedModels()
  models.answerBy((request) => {
    const word = [...scripts.keys()].findLast((each) => request.text.includes(each)) ?? ''
    const made = [...(requests.get(word) ?? []), request]
    requests.set(word, made)
    return scripts.get(word)?.(request, made.length) ?? { status: 400, error: 'no script' }
  })
  system = await startSystem({
    env: {
      OPENAI_BASE_URL: models.openaiUrl,
      BACKGROUND_MODEL: 'openai:default-model',
      MODEL_ALIASES: JSON.stringify({ sonnet: 'openai:sonnet-model', haiku: 'openai:haiku-model' }),
      SUBAGENTS_DIRS: `${folder}:${SAMPLES}`,
    },
  })
})
afterAll(async () => {
  await system.close()
  await models.close()
  await rm(folder, { recursive: true, force: true })
})

const spawn = (name: string, word: string, script: (request: ModelRequest, nth: number) => ScriptedTurn, more: object = {}) => {
  scripts.set(word, script)
  const body = { prompt: `Do the thing that is called ${word}.`, description: word, runner: 'ai', wait_seconds: 30, ...more }
  return system.client.call<Spawned>('POST', `/subagents/${name}/spawn`, { body })
}
const stepsOf = async (id: string) => (await system.client.ok<{ items: { kind: string; content: unknown }[] }>('GET', `/subtasks/${id}/steps?limit=200`)).items

describe('sub-agents, in processes', () => {
  it('has a sample run by a model, as its definition says, and answers what came of it', async () => {
    const { status, body } = await spawn('consciousness-explorer', 'walnut', () => ({ text: 'It follows rule 3.' }))
    expect({ status, body }).toMatchObject({ status: 200, body: { success: true, summary: 'It follows rule 3.', background: false, error: null } })
    expect(body.duration_ms).toBeGreaterThan(0)
    const [request] = requests.get('walnut') ?? []
    expect(request).toMatchObject({ model: 'sonnet-model', tools: ['Read', 'Grep', 'Glob', 'ask', 'confirm_update', 'read_tsg', 'mark_tsg_helpful'] })
    expect(request?.text).toContain('You study how an agent works from its written records')
  })

  it('runs as its role where no runner is named, although another runner is the default', async () => {
    const { status, body } = await spawn('general-purpose', 'quince', () => ({ text: 'Quinces ripen late.' }), { runner: undefined })
    expect({ status, body }).toMatchObject({ status: 200, body: { summary: 'Quinces ripen late.', runner: 'ai', runner_reason: 'A model provider is set.' } })
  })

  it('is refused a program that does not follow definitions, however it is started', async () => {
    const refusal = {
      status: 422,
      body: { code: 'runner_unavailable', detail: expect.stringContaining('The runner act does not follow sub-agent definitions') },
    }
    const run = { subagent: 'Explore', runner: 'act' }
    const task = await system.client.ok<{ id: string }>('POST', '/tasks', {
      body: { title: 'Count', description: 'Count the files.', instructions: 'Count them.' },
    })
    for (const [path, body] of [
      ['/subagents/Explore/spawn', { prompt: 'x', description: 'x', runner: 'act' }],
      ['/subtasks', { task: 'x', ...run }],
      [`/tasks/${task.id}/dispatch`, run],
      ['/schedules', { task: 'x', when: 'in 1 hour', ...run }],
      ['/schedules/preview', { task: 'x', when: 'in 1 hour', ...run }],
    ] as const)
      expect(await system.client.call('POST', path, { body })).toMatchObject(refusal)
    const { id } = await system.client.ok<{ id: string }>('POST', '/schedules', { body: { task: 'x', when: 'in 1 hour', runner: 'act' } })
    expect(await system.client.call('PATCH', `/schedules/${id}`, { body: { subagent: 'Explore' } })).toMatchObject(refusal)
    const changed = await system.client.call('PATCH', `/schedules/${id}`, { body: { subagent: 'Explore', runner: null } })
    expect(changed).toMatchObject({ status: 200, body: { subagent: 'Explore', runner: 'ai' } })
  })

  it('refuses a tool that was not given, in the transcript, and goes on', async () => {
    const { body } = await spawn('memory-specialist', 'hazel', (_, nth) =>
      nth === 1
        ? {
            toolCalls: [
              { name: 'Write', input: { file_path: 'x', content: 'x' } },
              { name: 'Task', input: {} },
            ],
          }
        : { text: 'Nothing is known of it.' },
    )
    expect(body).toMatchObject({ success: true, summary: 'Nothing is known of it.' })
    const results = (await stepsOf(body.subtask_id)).filter(({ kind }) => kind === 'tool_result').map(({ content }) => JSON.stringify(content))
    expect(results).toEqual([expect.stringContaining('Write\\" was refused'), expect.stringContaining('Task\\" was refused')])
    expect(requests.get('hazel')?.[0]?.model).toBe('haiku-model')
  })

  it('refuses identity-guardian in the background, and runs it in the foreground', async () => {
    const refused = await spawn('identity-guardian', 'maple', () => ({ text: 'All is well.' }), { run_in_background: true })
    expect(refused).toMatchObject({ status: 422, body: { code: 'background_mcp_blocked', title: 'BackgroundMcpBlocked' } })
    expect((await spawn('identity-guardian', 'maple', () => ({ text: 'All is well.' }))).body.summary).toBe('All is well.')
  })

  it('goes on from an ended run', async () => {
    const first = await spawn('Explore', 'cherry', () => ({ text: 'The cellar has 4 doors.' }))
    const second = await spawn(
      'Explore',
      'poplar',
      ({ text }) => ({ text: text.includes('The cellar has 4 doors.') ? 'I know of 4 already.' : 'What cellar?' }),
      {
        resume: first.body.subtask_id,
      },
    )
    expect(second.body.summary).toBe('I know of 4 already.')
  })

  it('runs what a file said when it was spawned, whatever it says by then', async () => {
    const path = join(folder, 'changing.md')
    const write = (text: string) => writeFile(path, `---\ndescription: x\ntools: Read\n---\n\n${text}\n`)
    await write('The secret word is alder.')
    const echo = ({ text }: ModelRequest): ScriptedTurn => ({ text: /secret word is (\w+)/.exec(text)?.[1] ?? 'none' })
    const words = async () => (await spawn('changing', 'spruce', echo)).body
    const before = await words()
    await write('The secret word is beech.')
    const after = await words()
    expect([before.summary, after.summary]).toEqual(['alder', 'beech'])
    const versions = await Promise.all([before, after].map(({ subtask_id }) => system.client.ok<{ subagent: unknown }>('GET', `/subtasks/${subtask_id}`)))
    expect(versions.map(({ subagent }) => subagent)).toEqual([
      { name: 'changing', version: 1 },
      { name: 'changing', version: 2 },
    ])
  })

  it('fires a schedule of one, in the background', async () => {
    scripts.set('willow', () => ({ text: 'Explored on time.' }))
    const { id } = await system.client.ok<{ id: string }>('POST', '/schedules', {
      body: { task: 'Do the thing that is called willow.', when: 'in 1 second', subagent: 'Explore', runner: 'ai' },
    })
    type Runs = { items: { status: string; result: string; background: boolean; subagent: { name: string } }[] }
    const ended = async () => (await system.client.ok<Runs>('GET', `/subtasks?schedule_id=${id}`)).items.find(({ status }) => status === 'completed')
    await until('its run has completed', async () => (await ended()) !== undefined)
    expect(await ended()).toMatchObject({ result: 'Explored on time.', background: true, subagent: { name: 'Explore', version: 1 } })
  })
})
