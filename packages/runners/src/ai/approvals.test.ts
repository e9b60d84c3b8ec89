import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type ScriptedModels, type ScriptedTurn, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Guard, startGuard } from '../command/guard.ts'
import type { Brief, RunOutcome } from '../port.ts'
import { aiRunner, KEYS } from '../testing/ai.ts'
import { createTestRun, SILENT_LOG } from '../testing/command.ts'

const QUESTION_ID = '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47'
let guard: Guard
let models: ScriptedModels
let muster: Server
let asked: Record<string, unknown>[]
/** How the question is answered when a run looks at it. */
let question: object
beforeAll(() => {
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(() => guard.close())
beforeEach(async () => {
  models = await startScriptedModels()
  asked = []
  muster = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    if (request.method === 'POST') asked.push(JSON.parse(Buffer.concat(chunks).toString()))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(request.method === 'POST' ? { question_id: QUESTION_ID } : { question_id: QUESTION_ID, ...question }))
  })
  muster.listen(0, '127.0.0.1')
  await once(muster, 'listening')
})
afterEach(async () => {
  muster.close()
  await models.close()
})

const answered = (answer: object) => ({ status: 'answered', answer })
const write = (path: string, content = 'x'): ScriptedTurn => ({ toolCalls: [{ name: 'Write', input: { file_path: path, content } }] })

/** The attempts of one run, in one workspace: each goes on where the last one began to wait. */
function startRun(brief: Partial<Brief>) {
  const test = createTestRun({ requiredOutputs: [], ...brief })
  const access = { url: `http://127.0.0.1:${(muster.address() as AddressInfo).port}`, token: 'token' }
  return {
    test,
    path: (name: string) => join(test.run.workspace, name),
    async attempt(turns: ScriptedTurn[], continuation: Brief['continuation'] = null): Promise<RunOutcome> {
      models.reply(...turns)
      const run = { ...test.run, access, brief: { ...test.run.brief, continuation } }
      return await aiRunner('anthropic', models, guard, { settings: { ENABLE_BASH_TOOL: 'true' } }).run(run)
    },
  }
}
const stateOf = (outcome: RunOutcome) => (outcome as { continuation: string }).continuation
const results = (steps: { kind: string; content: unknown }[]) =>
  steps.filter(({ kind }) => kind === 'tool_result').map(({ content }) => content as { output: string; is_error: boolean })

describe('a use that asks', () => {
  it('ends the attempt before it is executed, and is executed by the next one as it was asked about', async () => {
    const { test, path, attempt } = startRun({ ask: ['Write(docs/**)'] })
    using _ = test
    const first = await attempt([write('free.txt'), write('docs/a.txt', 'hello')])
    expect(first).toMatchObject({ kind: 'waiting', questionId: QUESTION_ID })
    expect([existsSync(path('free.txt')), existsSync(path('docs/a.txt'))]).toEqual([true, false])
    expect(asked).toEqual([
      {
        kind: 'approval',
        prompt: expect.stringContaining('It asks by Write(docs/**).\nUse: Write(docs/a.txt)'),
        arguments: { file_path: 'docs/a.txt', content: 'hello' },
      },
    ])
    question = answered({ decision: 'approve' })
    expect(await attempt([{ text: 'Done.' }], { state: stateOf(first), updates: 'Decision: approve' })).toEqual({ kind: 'completed', result: 'Done.' })
    expect(readFileSync(path('docs/a.txt'), 'utf8')).toBe('hello')
    expect(asked).toHaveLength(1)
    expect((await models.request(3)).text).toContain('Decision: approve')
  })

  it('is executed with the arguments of the approval, unless the definition or the tool does not take them', async () => {
    const { test, path, attempt } = startRun({ ask: ['Write'] })
    using _ = test
    const first = await attempt([write('a.txt', 'one')])
    question = answered({ decision: 'approve', edited_arguments: { file_path: 'b.txt', content: 'two' } })
    const second = await attempt([write('c.txt')], { state: stateOf(first), updates: '' })
    expect([existsSync(path('a.txt')), readFileSync(path('b.txt'), 'utf8')]).toEqual([false, 'two'])
    expect(results(test.steps)[0]).toMatchObject({ is_error: false, output: expect.stringContaining('approved and executed with other arguments') })
    question = answered({ decision: 'approve', edited_arguments: { path: 'c.txt' } })
    await attempt([{ text: 'Done.' }], { state: stateOf(second), updates: '' })
    expect(results(test.steps)[1]).toMatchObject({ is_error: true, output: expect.stringContaining('which are not accepted') })
  })

  it.each<[string, object, string]>([
    ['was rejected', answered({ decision: 'reject', answer: 'Not on Friday.' }), 'It was rejected: Not on Friday.'],
    ['nobody decided about', { status: 'expired', answer: null }, 'no decision came in time'],
    ['is not asked about any more', { status: 'withdrawn', answer: null }, 'was withdrawn'],
  ])('that %s is not executed, and the model reads why', async (_name, end, words) => {
    const { test, path, attempt } = startRun({ ask: ['Write'] })
    using _ = test
    const first = await attempt([write('a.txt')])
    question = end
    expect(await attempt([{ text: 'Then not.' }], { state: stateOf(first), updates: '' })).toEqual({ kind: 'completed', result: 'Then not.' })
    expect(existsSync(path('a.txt'))).toBe(false)
    expect(results(test.steps)).toMatchObject([{ is_error: true, output: expect.stringContaining(words) }])
    expect((await models.request(2)).text).toContain(words)
  })

  it('asks no more by that rule in this run where that was approved for always', async () => {
    const { test, path, attempt } = startRun({ ask: ['Write(docs/**)', 'Bash(touch:*)'] })
    using _ = test
    const first = await attempt([write('docs/a.txt')])
    question = answered({ decision: 'approve', always: true })
    const touch = { toolCalls: [{ name: 'Bash', input: { command: 'touch b' } }] }
    const second = await attempt([write('docs/b.txt'), touch], { state: stateOf(first), updates: '' })
    expect([second.kind, existsSync(path('docs/b.txt')), existsSync(path('b'))]).toEqual(['waiting', true, false])
    question = answered({ decision: 'approve' })
    expect(await attempt([write('docs/c.txt'), { text: 'Done.' }], { state: stateOf(second), updates: '' })).toMatchObject({ kind: 'completed' })
    expect([existsSync(path('docs/c.txt')), existsSync(path('b'))]).toEqual([true, true])
    expect(asked).toHaveLength(2)
  })

  it('with a secret of the operator shows it to nobody', async () => {
    const { test, attempt } = startRun({ ask: ['*'] })
    using _ = test
    const outcome = await attempt([write('a.txt', KEYS.ANTHROPIC_API_KEY)])
    expect(JSON.stringify([asked, outcome])).not.toContain(KEYS.ANTHROPIC_API_KEY)
  })

  it('is refused where it is too large to be read, or nobody can be asked, and what reports to Muster never asks', async () => {
    const { test, attempt } = startRun({ ask: ['*'] })
    using _ = test
    const large = await attempt([
      write('a.txt', 'x'.repeat(70_000)),
      { toolCalls: [{ name: 'ask', input: { prompt: 'Which?', wait: false } }] },
      { text: 'Done.' },
    ])
    expect(large).toMatchObject({ kind: 'completed' })
    expect(asked).toEqual([{ prompt: 'Which?' }])
    muster.close()
    muster.closeAllConnections()
    await attempt([write('a.txt'), { text: 'Done.' }])
    expect(results(test.steps).map(({ output, is_error }) => [is_error, output])).toEqual([
      [true, expect.stringContaining('At most 65536 can be')],
      [false, expect.any(String)],
      [true, expect.stringContaining('could not be asked')],
    ])
  })
})
