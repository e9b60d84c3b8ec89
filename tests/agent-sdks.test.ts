import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import { Muster } from '@muster/client'
import { briefMiddleware } from '@muster/client/ai-sdk'
import { withBrief as withAnthropicBrief } from '@muster/client/anthropic'
import { withBrief as withOpenAiBrief } from '@muster/client/openai'
import { type ScriptedModels, startScriptedModels } from '@muster/testing/scripted-models'
import { generateText, type ModelMessage, wrapLanguageModel } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonWith } from '../scripts/check/python-venv.ts'
import { repositoryRoot } from '../scripts/check/report.ts'
import { type System, startSystem } from './harness/system.ts'

const ROUNDS = 3
const BRIEF = 'Count the public functions.'
const NOTE = 'Leave the tests out.'
const PYTHON = ['openai==3.57.0', 'anthropic==2.14.0', 'pydantic', 'httpx']
const CLIENT = join(repositoryRoot, 'clients', 'python', 'src')
const AGENTS = join(import.meta.dirname, 'client', 'agents.py')
const PYTHON_SESSIONS = ['openai-chat-python', 'openai-responses-python', 'anthropic-python', 'openai-asyncio', 'anthropic-asyncio']

let system: System
let models: ScriptedModels
let muster: Muster
let key: string
const tasks = new Map<string, string>()

beforeAll(async () => {
  models = await startScriptedModels()
  system = await startSystem({ workers: 0, env: { AUTH: 'keys' } })
  key = (await system.mintKey()).key
  muster = new Muster({ url: system.api.address, key })
  models.answerBy(async ({ text }) => {
    const session = sessionOf(text)
    const call = callsOf(session).length
    // The controller says more while the agent waits for its first answer.
    if (call === 1) await muster.tasks.note(tasks.get(session) ?? '', NOTE)
    return { text: `Answer ${call}.` }
  })
})
afterAll(async () => {
  await system?.close()
  await models?.close()
})

const sessionOf = (text: string): string => /You are ([\w-]+)\./.exec(text)?.[1] ?? ''
const callsOf = (session: string) => models.requests.filter(({ text }) => sessionOf(text) === session)

async function assign(session: string): Promise<void> {
  const task = await muster.tasks.create({ title: `Work for ${session}`, instructions: BRIEF, acceptance_criteria: ['Each is counted'] })
  await muster.tasks.assign(task.id, { subagent_session_id: session })
  tasks.set(session, task.id)
}

/** The brief was there from the first call, the note from the second, each once in what the model was sent; each answer is stored once. */
async function expectBriefed(session: string): Promise<void> {
  const times = (what: string) => callsOf(session).map(({ text }) => text.split(what).length - 1)
  expect({ brief: times(BRIEF), note: times(NOTE) }).toEqual({ brief: [1, 1, 1], note: [0, 1, 1] })
  const stored = await muster.sessions.messages(session).all()
  expect(stored.map(({ role, content }) => `${role}: ${content}`).toSorted()).toEqual(['assistant: Answer 1.', 'assistant: Answer 2.', 'assistant: Answer 3.'])
  const updates = await muster.tasks.updates(tasks.get(session) ?? '').all()
  expect(updates.map(({ content, status }) => ({ content, status }))).toEqual([{ content: NOTE, status: 'delivered' }])
}

describe('a note that is sent while an agent waits for its model reaches it before the next call, once, and each answer is stored once', () => {
  const say = (session: string) => ({ role: 'user' as const, content: session === '' ? 'Go on.' : `You are ${session}.` })

  it('with the SDK of OpenAI, Chat Completions', async () => {
    const session = 'openai-chat'
    await assign(session)
    const openai = new OpenAI({ baseURL: models.openaiUrl, apiKey: 'none' })
    const messages: OpenAI.ChatCompletionMessageParam[] = [say(session)]
    for (let round = 0; round < ROUNDS; round += 1) {
      const completion = await withOpenAiBrief(muster.brief(session), { model: 'm', messages }, (request) => openai.chat.completions.create(request))
      messages.push({ role: 'assistant', content: completion.choices[0]?.message.content ?? '' }, say(''))
    }
    await expectBriefed(session)
  })

  it('with the SDK of OpenAI, Responses', async () => {
    const session = 'openai-responses'
    await assign(session)
    const openai = new OpenAI({ baseURL: models.openaiUrl, apiKey: 'none' })
    const input: OpenAI.Responses.ResponseInputItem[] = [say(session)]
    for (let round = 0; round < ROUNDS; round += 1) {
      const { output_text } = await withOpenAiBrief(muster.brief(session), { model: 'm', input }, (request) => openai.responses.create(request))
      input.push({ role: 'assistant', content: output_text }, say(''))
    }
    await expectBriefed(session)
  })

  it('with the SDK of Anthropic', async () => {
    const session = 'anthropic'
    await assign(session)
    const anthropic = new Anthropic({ baseURL: models.anthropicUrl, apiKey: 'none' })
    const messages: Anthropic.MessageParam[] = [say(session)]
    for (let round = 0; round < ROUNDS; round += 1) {
      const request = { model: 'm', max_tokens: 100, messages }
      const { content } = await withAnthropicBrief(muster.brief(session), request, (request) => anthropic.messages.create(request))
      messages.push({ role: 'assistant', content }, say(''))
    }
    await expectBriefed(session)
  })

  it('with the AI SDK', async () => {
    const session = 'ai-sdk'
    await assign(session)
    const provider = createOpenAICompatible({ name: 'scripted', baseURL: models.openaiUrl, apiKey: 'none' })
    const model = wrapLanguageModel({ model: provider('m'), middleware: briefMiddleware(muster.brief(session)) })
    const messages: ModelMessage[] = [say(session)]
    for (let round = 0; round < ROUNDS; round += 1) {
      const { text } = await generateText({ model, messages })
      messages.push({ role: 'assistant', content: text }, say(''))
    }
    await expectBriefed(session)
  })

  it('with the SDKs of OpenAI and Anthropic for Python, blocking and with asyncio', async () => {
    await Promise.all(PYTHON_SESSIONS.map(assign))
    const python = await pythonWith(PYTHON)
    const env = {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME, PYTHONPATH: CLIENT },
      ...{ MUSTER_URL: system.api.address, MUSTER_KEY: key, OPENAI_URL: models.openaiUrl, ANTHROPIC_URL: models.anthropicUrl },
    }
    await promisify(execFile)(python, [AGENTS], { env })
    for (const session of PYTHON_SESSIONS) await expectBriefed(session)
  }, 180_000)

  it('typed under strict, in Python', async () => {
    const [mypy, python] = [await pythonWith(['hatchling==1.27.0', 'mypy==2.4.1']), await pythonWith(PYTHON)]
    const options = ['-m', 'mypy', '--strict', '--python-executable', python, '--cache-dir', '/dev/null', AGENTS]
    const { stdout } = await promisify(execFile)(mypy, options, { env: { PATH: process.env.PATH, MYPYPATH: CLIENT } }).catch(
      (error: { stdout: string }) => error,
    )
    expect(stdout).toMatch(/^Success/)
  }, 180_000)
})
