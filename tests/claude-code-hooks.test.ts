import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { claudePath } from '@muster/testing/claude-program'
import { type ScriptedModels, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'

/** Claude Code of a person: the real program, with the settings that docs/claude-code.md gives, over models on loopback. */
let models: ScriptedModels
let system: System
let folder: string
beforeAll(async () => {
  models = await startScriptedModels()
  system = await startSystem({ workers: 0, env: { AUTH: 'keys' } })
  folder = mkdtempSync(join(tmpdir(), 'muster-hooks-'))
})
afterAll(async () => {
  await system.close()
  await models.close()
  rmSync(folder, { recursive: true })
})

const EVENTS = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'SubagentStart', 'SubagentStop', 'Stop']

/** Starts a session with a prompt. Answers with what it says last, when it has ended. */
function session(sessionId: string, prompt: string, key: string): Promise<{ code: number | null; said: string }> {
  const settings = join(folder, `${sessionId}.json`)
  const home = join(folder, `${sessionId}-home`)
  const project = join(folder, `${sessionId}-project`)
  for (const path of [home, project]) mkdirSync(path)
  writeFileSync(join(project, 'trees.md'), 'oak, birch, birch, birch')
  const url = `${system.api.address}/hooks/claude-code`
  const hook = { type: 'http', url, timeout: 5, headers: { Authorization: 'Bearer $MUSTER_KEY' }, allowedEnvVars: ['MUSTER_KEY'] }
  writeFileSync(settings, JSON.stringify({ hooks: Object.fromEntries(EVENTS.map((event) => [event, [{ hooks: [hook] }]])) }))
  const args = ['--print', prompt, '--session-id', sessionId, '--settings', settings, '--setting-sources', '', '--strict-mcp-config']
  const child = spawn(claudePath(), args, {
    cwd: project,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      ANTHROPIC_API_KEY: 'sk-ant-key-of-a-person',
      ANTHROPIC_BASE_URL: models.anthropicUrl,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      MUSTER_KEY: key,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  return once(child, 'close').then(([code]) => ({ code: code as number | null, said: Buffer.concat(chunks).toString('utf8').trim() }))
}

describe('Claude Code with the HTTP hook of Muster', () => {
  it('is told of its task with its prompt, of a change between two calls of tools, and leaves what it said last', async () => {
    const { key } = await system.mintKey(['sessions:write', 'tasks:read', 'tasks:write', 'tsgs:read'])
    const client = system.api.client.as(key)
    const sessionId = randomUUID()
    const task = await client.createTask({ title: 'Count the oaks', instructions: 'Count the oaks in the park.' })
    await client.ok('POST', `/tasks/${task.id}/assign`, { body: { subagent_session_id: sessionId } })
    models.answerBy(({ text }) =>
      text.includes('Count the birches')
        ? { text: 'There are three birches.' }
        : { toolCalls: [{ name: 'Read', input: { file_path: join(folder, `${sessionId}-project`, 'trees.md') } }] },
    )
    const ended = session(sessionId, 'Do what your brief says.', key)
    const first = await models.request(1)
    expect(first.text).toContain('[Task Assignment: Count the oaks]')
    const revised = await client.revise(task.id, 1, { instructions: 'Count the birches in the park.' })
    expect(revised.status).toBe(200)

    expect(await ended).toEqual({ code: 0, said: 'There are three birches.' })
    const told = models.requests.map(({ text }) => text).find((text) => text.includes('Count the birches'))
    expect(told).toContain('[Task Update: Instructions Modified]')
    expect(await client.taskUpdates(task.id)).toEqual([expect.objectContaining({ delivered_to: sessionId })])
    const { items } = await client.ok<{ items: { role: string; content: string }[] }>('GET', `/sessions/${sessionId}/messages`)
    expect(items).toEqual([expect.objectContaining({ role: 'assistant', content: 'There are three birches.' })])
  })

  it('goes on with a key that is wrong', async () => {
    models.answerBy(() => ({ text: 'All the same.' }))
    expect(await session(randomUUID(), 'Say something.', 'mst_key_that_is_wrong')).toEqual({ code: 0, said: 'All the same.' })
  })
})
