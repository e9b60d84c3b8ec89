import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ScriptedModels, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'

let models: ScriptedModels
let system: System
beforeAll(async () => {
  models = await startScriptedModels()
  system = await startSystem({ workers: 0, env: { AUTH: 'open' } })
})
afterAll(async () => {
  await system.close()
  await models.close()
})

it('briefs two agents of the AI SDK at once, steers them while they work, and prints their outputs', async () => {
  const NOTE = 'Leave the tests out.'
  models.answerBy(({ text, body }) => {
    const own = ['surveyor', 'editor'].find((session) => text.includes(`You are ${session}.`)) as string
    const id = /mark_task_complete\(task_id=\\"([0-9a-f-]{36})/.exec(text)?.[1]
    if (JSON.stringify(body.messages).includes('"name":"mark_task_complete"')) return { text: 'Done.' }
    // Looks again until the note is there.
    return text.includes(NOTE)
      ? { toolCalls: [{ name: 'mark_task_complete', input: { task_id: id, outputs: { text: `Text of the ${own}.` } } }] }
      : { toolCalls: [{ name: 'get_task', input: { task_id: id } }] }
  })
  const env = { PATH: process.env.PATH, MUSTER_URL: system.api.address, MODEL_URL: models.openaiUrl, MODEL: 'test-model' }
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, '..', 'examples', 'ai-sdk', 'main.mjs')], { env, timeout: 50_000 })
  expect(stdout.trim().split('\n')).toEqual(["completed { text: 'Text of the surveyor.' }", "completed { text: 'Text of the editor.' }"])
  const { items } = await system.client.ok<{ items: { id: string }[] }>('GET', '/tasks')
  expect(items).toHaveLength(2)
  for (const { id } of items) expect(await system.client.taskUpdates(id)).toMatchObject([{ content: NOTE, status: 'delivered' }])
})
