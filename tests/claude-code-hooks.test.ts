import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { claudePath } from '@muster/testing/claude-program'
import { type ScriptedModels, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
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

/**
 * Starts a session with a prompt. Answers with what it says last, when it has ended.
 *
 * @param timeoutSeconds of each hook
 */
function session(sessionId: string, prompt: string, key: string, timeoutSeconds = 2): Promise<{ code: number | null; said: string }> {
  const settings = join(folder, `${sessionId}.json`)
  const home = join(folder, `${sessionId}-home`)
  const project = join(folder, `${sessionId}-project`)
  for (const path of [home, project]) mkdirSync(path)
  writeFileSync(join(project, 'trees.md'), 'oak, birch, birch, birch')
  const url = `${system.api.address}/hooks/claude-code`
  const hook = { type: 'http', url, timeout: timeoutSeconds, headers: { Authorization: 'Bearer $MUSTER_KEY' }, allowedEnvVars: ['MUSTER_KEY'] }
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

/** Claude Code runs no more sub-agents of a session at once, and refuses to start another one. */
const AT_ONCE = 20
const SESSIONS = 2

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

  it('hands each of many sub-agents that start at once its own brief, and attributes what each says', { timeout: 180_000 }, async () => {
    const { key } = await system.mintKey(['sessions:write', 'tasks:read', 'tasks:write', 'tsgs:read'])
    const client = system.api.client.as(key)
    const sessionIds = Array.from({ length: SESSIONS }, () => randomUUID())
    const tasks = await Promise.all(
      sessionIds.flatMap((sessionId) =>
        Array.from({ length: AT_ONCE }, async (_, number) => {
          const title = `Measure tree ${number + 1} of park ${sessionId}`
          return { id: (await client.createTask({ title, instructions: `${title} and say its height.` })).id, title, sessionId }
        }),
      ),
    )
    const wrong: string[] = []
    models.answerBy(({ text }) => {
      const sessionId = sessionIds.find((id) => text.includes(`Measure the trees of park ${id}.`))
      if (sessionId === undefined) {
        const named = tasks.find(({ id }) => text.includes(`Sub-agent of ${id}`))
        const briefs = tasks.filter(({ title }) => text.includes(`[Task Assignment: ${title}]`))
        if (briefs.length !== 1 || briefs[0]?.id !== named?.id) wrong.push(`${named?.title}: ${briefs.map(({ title }) => title).join(', ')}`)
        return { text: `${named?.title}: twelve metres.` }
      }
      const own = tasks.filter((task) => task.sessionId === sessionId)
      if (own.some(({ id }) => text.includes(`Sub-agent of ${id}`))) return { text: 'All are measured.' }
      return {
        toolCalls: own.map(({ id }) => ({
          name: 'Agent',
          input: { subagent_type: 'general-purpose', description: 'Measure', prompt: `Sub-agent of ${id}. Do your task.\nmuster-task: ${id}` },
        })),
      }
    })
    // So many start at once that Claude Code itself may come to an answer after more than two seconds, which it takes for none.
    const ends = await Promise.all(sessionIds.map((sessionId) => session(sessionId, `Measure the trees of park ${sessionId}.`, key, 60)))
    expect(ends).toEqual(sessionIds.map(() => ({ code: 0, said: expect.stringContaining('All are measured.') })))
    expect(wrong).toEqual([])
    for (const { id, title, sessionId } of tasks) {
      // The program does not wait for the answer to its last events.
      await vi.waitFor(async () => {
        const task = await client.ok<{ subagent_session_id: string }>('GET', `/tasks/${id}`)
        expect(String(task.subagent_session_id)).toMatch(new RegExp(`^${sessionId}:`))
        const { items } = await client.ok<{ items: { content: string; task_id: string }[] }>('GET', `/sessions/${task.subagent_session_id}/messages`)
        expect(items).toEqual([expect.objectContaining({ content: `${title}: twelve metres.`, task_id: id })])
      }, 10_000)
    }
  })

  it('gives the brief of a sub-agent that could not start to no other', async () => {
    const { key } = await system.mintKey(['sessions:write', 'tasks:read', 'tasks:write', 'tsgs:read'])
    const client = system.api.client.as(key)
    const task = await client.createTask({ title: 'Prune the elm', instructions: 'Prune the elm.' })
    const agent = (prompt: string, more: object = {}) => ({ name: 'Agent', input: { subagent_type: 'general-purpose', description: 'Work', prompt, ...more } })
    const others: string[] = []
    models.answerBy(({ text }) => {
      if (text.includes('Rake the leaves.') && !text.includes('Begin with the elm')) {
        others.push(text)
        return { text: 'Raked.' }
      }
      if (text.includes('Async agent launched')) return { text: 'Done.' }
      // No worktree can be made where there is no repository, so that the first call fails.
      return text.includes('tool_result')
        ? { toolCalls: [agent('Rake the leaves.')] }
        : { toolCalls: [agent(`Do it.\nmuster-task: ${task.id}`, { isolation: 'worktree' })] }
    })
    const sessionId = randomUUID()
    expect((await session(sessionId, 'Begin with the elm, then rake.', key)).code).toBe(0)
    expect(others).toHaveLength(1)
    expect(others[0]).not.toContain('Prune the elm')
    expect(await client.ok('GET', `/tasks/${task.id}`)).toMatchObject({ status: 'pending', subagent_session_id: null })
  })

  it('gives one more turn for what came during the last call of the model, once', async () => {
    const { key } = await system.mintKey(['sessions:write', 'tasks:read', 'tasks:write', 'tsgs:read'])
    const client = system.api.client.as(key)
    const sessionId = randomUUID()
    const task = await client.createTask({ title: 'Count the limes', instructions: 'Count the limes.' })
    await client.ok('POST', `/tasks/${task.id}/assign`, { body: { subagent_session_id: sessionId } })
    const note = (text: string) => client.ok('POST', `/tasks/${task.id}/updates`, { body: { content: text } })
    models.answerBy(async ({ text }) => {
      if (!text.includes('Count the limes.')) return { text: 'Nothing.' }
      if (text.includes('Leave out the young ones.')) {
        await note('This one waits for the next event.')
        return { text: 'Nine without the young ones.' }
      }
      await note('Leave out the young ones.')
      return { text: 'Eleven limes.' }
    })
    expect(await session(sessionId, 'Do your task.', key)).toEqual({ code: 0, said: 'Nine without the young ones.' })
    const states = (await client.taskUpdates(task.id)).map(({ content, status }) => [content, status])
    expect(Object.fromEntries(states)).toEqual({ 'Leave out the young ones.': 'delivered', 'This one waits for the next event.': 'queued' })
    const { items } = await client.ok<{ items: { content: string }[] }>('GET', `/sessions/${sessionId}/messages`)
    expect(items.map(({ content }) => content)).toEqual(['Nine without the young ones.', 'Eleven limes.'])
  })

  it('brings what a sub-agent that is resumed by a message has missed, and shows it to its model', async () => {
    const { key } = await system.mintKey(['sessions:write', 'tasks:read', 'tasks:write', 'tsgs:read'])
    const client = system.api.client.as(key)
    const task = await client.createTask({ title: 'Count the firs', instructions: 'Count the firs.' })
    const note = (content: string) => client.ok('POST', `/tasks/${task.id}/updates`, { body: { content } })
    const sessionId = randomUUID()
    const file = join(folder, `${sessionId}-project`, 'trees.md')
    const resumed: string[] = []
    let isNoted = false
    models.answerBy(async ({ text }) => {
      if (text.includes('[Task Assignment: Count the firs]')) {
        if (!text.includes('Go on with the firs.')) return { text: 'Five firs.' }
        resumed.push(text)
        return text.includes('Leave out the dead ones.') ? { text: 'Four firs.' } : { toolCalls: [{ name: 'Read', input: { file_path: file } }] }
      }
      if (!text.includes('Async agent launched')) {
        const prompt = `Do it.\nmuster-task: ${task.id}`
        return { toolCalls: [{ name: 'Agent', input: { subagent_type: 'general-purpose', description: 'Count', prompt } }] }
      }
      if (!text.includes('Five firs.')) return { toolCalls: [{ name: 'Read', input: { file_path: file } }] }
      if (isNoted) return { text: 'Done.' }
      isNoted = true
      await note('Leave out the dead ones.')
      const [, to] = /agentId: (\w+)/.exec(text) ?? []
      return { toolCalls: [{ name: 'SendMessage', input: { to, message: 'Go on with the firs.', summary: 'Go on' } }] }
    })
    expect((await session(sessionId, 'Let the firs be counted.', key)).code).toBe(0)
    await vi.waitFor(async () => expect(await client.taskUpdates(task.id)).toMatchObject([{ status: 'delivered' }]), 10_000)
    expect(resumed.at(-1)).toContain('Leave out the dead ones.')
    expect(resumed.at(-1)?.split('[Task Assignment: Count the firs]')).toHaveLength(2)
  })

  it('takes a result block of the final message in, and gives one more turn to correct a refused one', async () => {
    const { key } = await system.mintKey(['sessions:write', 'tasks:read', 'tasks:write', 'tsgs:read'])
    const client = system.api.client.as(key)
    const sessionId = randomUUID()
    const required_outputs = ['report', { name: 'count', schema: { type: 'integer' } }]
    const task = await client.createTask({ title: 'Count the planes', instructions: 'Count the planes.', required_outputs })
    await client.ok('POST', `/tasks/${task.id}/assign`, { body: { subagent_session_id: sessionId } })
    const block = (outputs: object) => ({ text: `Counted.\n<npl-block type="result" task-id="${task.id}">\n${JSON.stringify(outputs)}\n</npl-block>` })
    const turns: string[] = []
    models.answerBy(({ text }) => {
      if (!text.includes('Count the planes.')) return { text: 'Nothing.' }
      turns.push(text)
      return block(text.includes('[Hand-in Refused:') ? { report: 'Seven.', count: 7 } : { report: 'Seven.' })
    })
    expect(await session(sessionId, 'Do your task.', key)).toMatchObject({ code: 0, said: expect.stringContaining('"count":7') })
    expect(turns).toHaveLength(2)
    expect(turns[0]).toContain(`mark_task_complete(task_id=\\"${task.id}\\", outputs={\\"report\\": …, \\"count\\": <integer>})`)
    expect(turns[1]).toContain('The task is not complete: count is missing.')
    expect(await client.ok('GET', `/tasks/${task.id}`)).toMatchObject({ status: 'completed', completion_outputs: { report: 'Seven.', count: 7 } })
  })

  it('takes a result block of a sub-agent in, and gives the sub-agent one more turn to correct a refused one', async () => {
    const { key } = await system.mintKey(['sessions:write', 'tasks:read', 'tasks:write', 'tsgs:read'])
    const client = system.api.client.as(key)
    const task = await client.createTask({ title: 'Count the yews', instructions: 'Count the yews.', required_outputs: ['report'] })
    const turns: string[] = []
    models.answerBy(({ text }) => {
      if (text.includes('[Task Assignment: Count the yews]')) {
        turns.push(text)
        const report = text.includes('[Hand-in Refused:') ? 'Two yews.' : ''
        return { text: `<npl-block type="result" task-id="${task.id}">\n${JSON.stringify({ report })}\n</npl-block>` }
      }
      if (text.includes('Async agent launched')) return { text: 'Done.' }
      const prompt = `Do it.\nmuster-task: ${task.id}`
      return { toolCalls: [{ name: 'Agent', input: { subagent_type: 'general-purpose', description: 'Count', prompt } }] }
    })
    expect((await session(randomUUID(), 'Let the yews be counted.', key)).code).toBe(0)
    await vi.waitFor(async () => {
      expect(await client.ok('GET', `/tasks/${task.id}`)).toMatchObject({ status: 'completed', completion_outputs: { report: 'Two yews.' } })
    }, 10_000)
    expect(turns).toHaveLength(2)
    expect(turns[1]).toContain('report is empty')
  })

  it('shows the model the ids, the forms and the beginning of a brief that is too long for the answer of a hook', async () => {
    const { key } = await system.mintKey(['sessions:write', 'tasks:read', 'tasks:write', 'tsgs:read'])
    const client = system.api.client.as(key)
    const sessionId = randomUUID()
    const instructions = `Count the poplars.\n${'Look behind each house as well.\n'.repeat(950)}`
    const task = await client.createTask({ title: 'Count the poplars', instructions, acceptance_criteria: ['All poplars are counted'] })
    await client.ok('POST', `/tasks/${task.id}/assign`, { body: { subagent_session_id: sessionId } })
    const seen: string[] = []
    models.answerBy(({ text }) => {
      seen.push(text)
      return { text: 'Counted.' }
    })
    expect(await session(sessionId, 'Do your task.', key)).toEqual({ code: 0, said: 'Counted.' })
    const request = seen.find((text) => text.includes('[Task Assignment: Count the poplars]')) ?? ''
    for (const shown of [
      `Task id: ${task.id}`,
      `<npl-block type=\\"check-in\\" task-id=\\"${task.id}\\" revision=\\"1\\">`,
      `mark_task_complete(task_id=\\"${task.id}\\", outputs={\\"result\\": …})`,
      'Count the poplars.\\nLook behind each house as well.',
      `get_task(task_id=\\"${task.id}\\") has the whole brief`,
    ])
      expect(request).toContain(shown)
    expect(request).toMatch(/- ❓ All poplars are counted \([0-9a-f-]{36}\)/)
  })

  it('keeps a sub-agent to the tools of its definition', async () => {
    const { key } = await system.mintKey(['sessions:write', 'tasks:write', 'subagents:write'])
    const client = system.api.client.as(key)
    const markdown = '---\nname: general-purpose\ndescription: Reads.\ntools: Read\n---\nRead.'
    await client.ok('PUT', '/subagents/general-purpose', { rawBody: markdown, headers: { 'content-type': 'text/markdown' } })
    const sessionId = randomUUID()
    const file = join(folder, `${sessionId}-project`, 'trees.md')
    models.answerBy(({ text }) => {
      if (!text.includes('Plant an oak.')) return { text: 'Nothing.' }
      if (text.includes('Have an oak planted.')) {
        const input = { subagent_type: 'general-purpose', description: 'Plant', prompt: 'Plant an oak.' }
        return text.includes('tool_result') ? { text: 'Done.' } : { toolCalls: [{ name: 'Agent', input }] }
      }
      if (text.includes('general-purpose lists Read.')) return { text: 'I may not write.' }
      return {
        toolCalls: [text.includes('oak, birch') ? { name: 'Write', input: { file_path: file, content: 'oak' } } : { name: 'Read', input: { file_path: file } }],
      }
    })
    expect((await session(sessionId, 'Have an oak planted. The task: Plant an oak.', key)).code).toBe(0)
    await client.ok('DELETE', '/subagents/general-purpose')
    expect(models.requests.some(({ text }) => text.includes('general-purpose lists Read.'))).toBe(true)
    expect(readFileSync(file, 'utf8')).toContain('birch')
  })

  it('goes on with a key that is wrong', async () => {
    models.answerBy(() => ({ text: 'All the same.' }))
    expect(await session(randomUUID(), 'Say something.', 'mst_key_that_is_wrong')).toEqual({ code: 0, said: 'All the same.' })
  })
})
