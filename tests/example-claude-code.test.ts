import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ScriptedModels, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ClaudeProject, pointedTo } from './harness/claude-code.ts'
import { type System, startSystem } from './harness/system.ts'

// examples/claude-code as a user has it: the real program in a copy of that folder, with its settings, over models on loopback.

let models: ScriptedModels
let system: System
let project: ClaudeProject
beforeAll(async () => {
  models = await startScriptedModels()
  system = await startSystem({ workers: 0, env: { AUTH: 'open' } })
  project = new ClaudeProject(models)
  cpSync(join(import.meta.dirname, '..', 'examples', 'claude-code'), project.folder, { recursive: true })
  for (const file of ['.mcp.json', '.claude/settings.json']) {
    const path = join(project.folder, file)
    writeFileSync(path, pointedTo(system.api.address, readFileSync(path, 'utf8')))
  }
})
afterAll(async () => {
  await system.close()
  await models.close()
  project.remove()
})

const PARTS = ['surveyor', 'editor']
/** Sub-agents look again and again until the note is there. */
const REQUESTS_MAX = 300
const NOTE = 'Leave the tests out.'

it('briefs two sub-agents that work at once, steers them while they work, and gets their outputs', { timeout: 120_000 }, async () => {
  const { client } = system
  const tasks = async () => (await client.ok<{ items: { id: string; title: string; status: string }[] }>('GET', '/tasks')).items
  const told = new Set<string>()
  models.answerBy(async ({ text }) => {
    if (models.requests.length > REQUESTS_MAX) return { text: 'Gave up.' }
    const created = await tasks()
    const own = PARTS.find((part) => text.includes(`You are the ${part} now.`))
    if (own !== undefined && !text.includes('Look at this project')) {
      const task = created.find(({ title }) => title === `Work of the ${own}`)
      if (text.includes(NOTE)) told.add(own)
      else return { toolCalls: [{ name: 'Read', input: { file_path: join(project.folder, 'CLAUDE.md') } }] }
      if (text.includes('\\"status\\":\\"completed\\"')) return { text: `The ${own} is done.` }
      return { toolCalls: [{ name: 'mcp__muster__mark_task_complete', input: { task_id: task?.id, outputs: { text: `Text of the ${own}.` } } }] }
    }
    if (created.length === 0) {
      const brief = { instructions: 'Write about this project.', acceptance: ['It names a file'], outputs: ['text'] }
      return { toolCalls: PARTS.map((part) => ({ name: 'mcp__muster__create_task', input: { title: `Work of the ${part}`, ...brief } })) }
    }
    if (!text.includes('You are the editor now.')) {
      return {
        toolCalls: PARTS.map((part) => {
          const id = created.find(({ title }) => title === `Work of the ${part}`)?.id
          return { name: 'Agent', input: { subagent_type: part, description: part, prompt: `You are the ${part} now.\nmuster-task: ${id}` } }
        }),
      }
    }
    if (!text.includes(NOTE)) return { toolCalls: created.map(({ id }) => ({ name: 'mcp__muster__steer_task', input: { id, content: NOTE } })) }
    if (!text.includes('all_ended')) return { toolCalls: [{ name: 'mcp__muster__wait_for', input: { ids: created.map(({ id }) => id), seconds: 30 } }] }
    return { text: 'Both are done.' }
  })
  const { said } = await project.run('Look at this project with two sub-agents at once.')
  expect(said).toContain('Both are done.')
  expect([...told].sort()).toEqual([...PARTS].sort())
  for (const { id, title, status } of await tasks()) {
    expect([title, status]).toEqual([title, 'completed'])
    const [update] = await client.taskUpdates(id)
    expect(update).toMatchObject({ content: NOTE, status: expect.stringMatching(/^(delivered|acknowledged)$/) })
  }
})
