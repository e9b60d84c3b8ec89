import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ScriptedModels, type ScriptedTurn, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ProxyMode, startBreakableProxy } from './harness/breakable-proxy.ts'
import { ClaudeProject } from './harness/claude-code.ts'
import { type System, startSystem } from './harness/system.ts'

/** Claude Code of a person, with the settings that docs/claude-code.md gives, when the server that they name fails. */
let models: ScriptedModels
let system: System
let key: string
beforeAll(async () => {
  models = await startScriptedModels()
  system = await startSystem({ workers: 0, env: { AUTH: 'keys' } })
  key = (await system.mintKey(['sessions:write', 'tasks:read', 'tasks:write', 'tsgs:read'])).key
})
afterAll(async () => {
  await system.close()
  await models.close()
})

/** What one call of the server may cost, in milliseconds. */
const CALL_MS_MAX = 2_000
/** What a loaded machine may add between two requests. */
const LOAD_MS = 1_500

/** The time from an answer of the model to its next request or the end, and how many calls of the server are in between. */
interface Gap {
  ms: number
  calls: number
}

interface Play {
  code: number | null
  said: string
  /** Whether the first request had the brief, before the server failed. */
  wasBriefed: boolean
  gaps: Gap[]
  /** The results of tools that the model has read. */
  results: string[]
}

/** One session: two tools, a sub-agent, an answer. The server fails once the first request has reached the model, or before the session starts. */
async function play(mode: ProxyMode, since: 'half-way' | 'start' = 'half-way'): Promise<Play> {
  const proxy = await startBreakableProxy(system.api.address)
  const project = new ClaudeProject(models)
  const sessionId = randomUUID()
  const client = system.api.client.as(key)
  const task = await client.createTask({ title: 'Count the trees', instructions: 'Count the trees.', acceptance_criteria: ['All are counted'] })
  await client.ok('POST', `/tasks/${task.id}/assign`, { body: { subagent_session_id: sessionId } })
  writeFileSync(join(project.folder, 'trees.md'), 'oak, birch')
  project.addDocumentedSettings(proxy.address)

  const content = `<npl-block type="check-in" task-id="${task.id}" revision="1">\n✅ All are counted\n</npl-block>`
  const turns: ScriptedTurn[] = [
    { toolCalls: [{ name: 'Read', input: { file_path: join(project.folder, 'trees.md') } }] },
    { toolCalls: [{ name: 'mcp__muster__check_in', input: { task_id: task.id, content } }] },
    { toolCalls: [{ name: 'Agent', input: { subagent_type: 'general-purpose', description: 'Count', prompt: 'Count again.', run_in_background: false } }] },
    { text: 'Two trees.' },
    { text: 'There are two trees.' },
  ]
  const gaps: Gap[] = []
  const results: string[] = []
  let wasBriefed = false
  let last = { at: 0, calls: 0 }
  const measure = () => gaps.push({ ms: performance.now() - last.at, calls: proxy.calls - last.calls })
  models.answerBy(async ({ text, body }) => {
    if (last.at === 0) {
      wasBriefed = text.includes('[Task Assignment: Count the trees]')
      await proxy.become(mode)
    } else measure()
    results.push(...toolResults(body))
    last = { at: performance.now(), calls: proxy.calls }
    return turns.shift() ?? { text: 'There is nothing more to say.' }
  })
  if (since === 'start') {
    await proxy.become(mode)
    turns.splice(0, 4)
  }
  const ended = await project.run('Do your task.', { key, sessionId })
  measure()
  await proxy.close()
  project.remove()
  return { ...ended, wasBriefed, gaps, results }
}

/** The results of tools in the newest message of a request. */
function toolResults(body: Record<string, unknown>): string[] {
  const { content } = (body.messages as { content: string | { type: string }[] }[]).at(-1) ?? { content: [] }
  return typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result').map((block) => JSON.stringify(block))
}

describe('a session of Claude Code', () => {
  let healthy: Play
  beforeAll(async () => {
    healthy = await play('works')
    expect(healthy).toMatchObject({ code: 0, said: 'There are two trees.' })
    expect(healthy.results.some((result) => result.includes('check_in_id'))).toBe(true)
    // A tool of its own, one of Muster, the start of a sub-agent, its end, the end.
    expect(healthy.gaps.map(({ calls }) => calls)).toEqual([2, 3, 2, 2, 1])
  })

  it.each<ProxyMode>(['refuses connections', 'hangs', 'answers 500'])(
    'goes on to its answer when its server %s half-way, for at most two seconds a call',
    { timeout: 180_000 },
    async (mode) => {
      const failing = await play(mode)
      expect(failing).toMatchObject({ code: 0, said: 'There are two trees.', wasBriefed: true })
      expect(failing.gaps).toHaveLength(healthy.gaps.length)
      // The model learns from the answer of the tool that Muster has not taken the report in.
      expect(failing.results.filter((result) => result.includes('"is_error":true'))).toHaveLength(1)
      for (const [index, { ms, calls }] of failing.gaps.entries()) {
        const usual = healthy.gaps[index] ?? { ms: 0, calls: 0 }
        // Refused calls are not counted.
        expect(ms, `after answer ${index + 1} of the model`).toBeLessThan(usual.ms + (calls || usual.calls) * CALL_MS_MAX + LOAD_MS)
      }
    },
  )

  it('goes on to its answer when its server hangs from the start', async () => {
    expect(await play('hangs', 'start')).toMatchObject({ code: 0, said: 'There are two trees.' })
  })
})

describe('the example', () => {
  it('has the settings of the document, without a key', () => {
    const project = new ClaudeProject(models)
    project.addDocumentedSettings('http://127.0.0.1:7300')
    const read = (folder: string, file: string) =>
      JSON.parse(readFileSync(join(folder, file), 'utf8'), (name, value) => (['headers', 'allowedEnvVars'].includes(name) ? undefined : value))
    const example = join(import.meta.dirname, '..', 'examples', 'claude-code')
    expect(read(example, '.mcp.json')).toEqual(read(project.folder, '.mcp.json'))
    const { SessionStart: _, ...hooks } = read(project.folder, '.claude/settings.json').hooks
    expect(read(example, '.claude/settings.json').hooks).toEqual(hooks)
    project.remove()
  })
})
