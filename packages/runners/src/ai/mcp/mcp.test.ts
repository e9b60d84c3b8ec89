import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BUILTIN_SUBAGENTS, type SubagentDefinition } from '@muster/domain'
import { type ScriptedModels, type ScriptedTurn, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Guard, startGuard } from '../../command/guard.ts'
import type { Brief } from '../../port.ts'
import { aiRunner } from '../../testing/ai.ts'
import { createTestRun, gone, SILENT_LOG } from '../../testing/command.ts'
import { programServer, startTestMcp, type TestMcp } from '../../testing/mcp.ts'

let guard: Guard
let models: ScriptedModels
let mcp: TestMcp
let folder: string
beforeAll(() => {
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(() => guard.close())
beforeEach(async () => {
  models = await startScriptedModels()
  mcp = await startTestMcp()
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'muster-mcp-test-')))
})
afterEach(async () => {
  await Promise.all([models.close(), mcp.close()])
  rmSync(folder, { recursive: true })
})

const SECRET = 'tok_of_the_server_1234'
const headers = { Authorization: `Bearer ${SECRET}`, Accept: 'application/json, text/event-stream' }
const notes = () => join(folder, 'notes')
const ofProgram = () => ({ command: programServer(notes()), env: { PROGRAM_TOKEN: 'secret-of-the-program' } })
const definition = (own: Partial<SubagentDefinition> = {}): SubagentDefinition => ({
  ...(BUILTIN_SUBAGENTS[0] as SubagentDefinition),
  disallowedTools: [],
  mcpServers: [],
  tools: ['Read', 'mcp__tools__*', 'mcp__program'],
  ...own,
})

interface Own {
  subagent?: Partial<SubagentDefinition>
  background?: boolean
  servers?: Record<string, object>
  mcp?: { connectMs?: number; callMs?: number }
}

function start(own: Own = {}) {
  const brief: Partial<Brief> = { requiredOutputs: [], subagent: definition(own.subagent), background: own.background ?? false }
  const test = createTestRun(brief)
  const servers = own.servers ?? { tools: { url: mcp.url, headers } }
  const runner = aiRunner('anthropic', models, guard, { settings: { MCP_SERVERS: JSON.stringify(servers) }, overrides: { mcp: own.mcp ?? {} } })
  return { test, outcome: runner.run(test.run) }
}

async function runOf(turns: ScriptedTurn[], own: Own = {}) {
  models.reply(...turns)
  const { test, outcome } = start(own)
  using _ = test
  const ended = await outcome
  const results = test.steps.filter(({ kind }) => kind === 'tool_result').map(({ content }) => content as { name: string; output: string; is_error: boolean })
  const errors = test.steps.filter(({ kind }) => kind === 'error').map(({ content }) => String(content))
  return { outcome: ended, steps: test.steps, results, errors, test }
}

const echo = (text: string, name = 'mcp__tools__echo') => ({ toolCalls: [{ name, input: { text } }] })
const DONE = { text: 'That is all there is.' }
const completed = { kind: 'completed', result: DONE.text }

describe('the MCP servers of the operator', () => {
  it('give a run in the foreground their tools, and are told of its end', async () => {
    const { outcome, results } = await runOf([echo('hello'), DONE])
    expect(outcome).toEqual(completed)
    expect(results).toMatchObject([{ name: 'mcp__tools__echo', output: 'you said hello', is_error: false }])
    expect((await models.request(1)).tools).toEqual(expect.arrayContaining(['mcp__tools__echo', 'mcp__tools__shout']))
    expect((await models.request(2)).text).toContain('you said hello')
    expect(new Set(mcp.calls.map(({ headers: sent }) => sent.authorization))).toEqual(new Set([headers.Authorization]))
  })

  it('are not reached in the background, by nobody and for nothing, whatever a definition says', async () => {
    const servers = { tools: { url: mcp.url, headers }, program: ofProgram() }
    const { outcome, results } = await runOf([{ toolCalls: [...echo('x').toolCalls, { name: 'mcp__program__where', input: {} }] }, DONE], {
      background: true,
      subagent: { tools: ['*'], mcpServers: ['tools', 'program'] },
      servers,
    })
    expect(outcome).toEqual(completed)
    expect(results).toHaveLength(2)
    for (const { output, is_error } of results) {
      expect(is_error).toBe(true)
      expect(output).toContain('No MCP tool works in the background')
    }
    expect(models.requests.flatMap(({ tools }) => tools).filter((name) => name.startsWith('mcp__'))).toEqual([])
    expect(mcp.calls).toEqual([])
    expect(existsSync(notes())).toBe(false)
  })

  it.each<[string, Partial<SubagentDefinition>, string[]]>([
    ['the tools that it lists', { tools: ['mcp__tools__echo'] }, ['mcp__tools__echo']],
    ['none that it denies', { tools: ['*'], disallowedTools: ['mcp__tools__shout'] }, ['mcp__tools__echo']],
    ['those of the servers that it names', { tools: ['*'], mcpServers: ['tools'] }, ['mcp__tools__echo', 'mcp__tools__shout']],
  ])('give the run of a definition %s', async (_, subagent, expected) => {
    const { results } = await runOf([echo('x', 'mcp__tools__shout'), DONE], { subagent })
    expect((await models.request(1)).tools.filter((name) => name.startsWith('mcp__')).toSorted()).toEqual(expected)
    expect(results[0]?.is_error).toBe(!expected.includes('mcp__tools__shout'))
  })

  it.each<[string, Partial<SubagentDefinition>]>([
    ['names another', { tools: ['*'], mcpServers: ['other'] }],
    ['lists tools of others', { tools: ['Read', 'mcp__tools2__echo', 'mcp__tool'] }],
  ])('are not reached by a definition that %s', async (_, subagent) => {
    const { outcome, results } = await runOf([echo('x'), DONE], { subagent })
    expect(outcome).toEqual(completed)
    expect(results[0]).toMatchObject({ is_error: true, output: expect.stringContaining('"mcp__tools__echo" was refused') })
    expect(mcp.calls).toEqual([])
  })

  it('may be programs, which speak over their standard input and output, and end with the run', async () => {
    const { outcome, results, test } = await runOf([{ toolCalls: [{ name: 'mcp__program__where', input: {} }] }, DONE], { servers: { program: ofProgram() } })
    expect(outcome).toEqual(completed)
    expect(results[0]).toMatchObject({ is_error: false, output: test.run.workspace })
    const written = readFileSync(notes(), 'utf8')
    const [, pid, variables] = /^pid (\d+) (.*)$/m.exec(written) ?? []
    await gone(Number(pid))
    const telling = variables?.split(',').filter((name) => /KEY|TOKEN|DATABASE|MUSTER/.test(name))
    expect(telling).toEqual(['MUSTER_ATTEMPT', 'MUSTER_GUARD', 'MUSTER_SUBTASK_ID', 'PROGRAM_TOKEN'])
    expect(written).toContain('tools/call')
  })

  it('that are programs are gone when the run is stopped', async () => {
    models.reply({ text: 'Thinking', ending: 'stall' })
    const { test, outcome } = start({ servers: { program: ofProgram() } })
    using _ = test
    await models.request(1)
    test.stop()
    expect(await outcome).toMatchObject({ kind: 'stopped' })
    await gone(Number(/^pid (\d+)/m.exec(readFileSync(notes(), 'utf8'))?.[1]))
  })

  it('keep their secrets: none is in what a run says, sends to its model or stores', async () => {
    mcp.answer = () => ({ content: [{ type: 'text', text: `the header was ${headers.Authorization}, the type application/json, ${mcp.url}` }] })
    const { steps, outcome } = await runOf([echo('x'), { text: `It is ${SECRET}.` }], {
      servers: { tools: { url: `${mcp.url}?key=secret-in-the-address`, headers }, program: { command: ['/no/such/program', SECRET] } },
    })
    const seen = JSON.stringify([steps, outcome, models.requests.map(({ text }) => text)])
    for (const secret of [SECRET, 'secret-in-the-address', 'secret-of-the-program']) expect(seen).not.toContain(secret)
    expect(JSON.stringify(steps)).toContain('the type application/json')
  })
})

describe('a server that fails', () => {
  let dead: string
  beforeEach(async () => {
    const gone = await startTestMcp()
    await gone.close()
    dead = gone.url
  })

  const instead = (handle: NonNullable<TestMcp['instead']>) => {
    mcp.instead = handle
    return { url: mcp.url, headers }
  }
  const status = (code: number) =>
    instead((_, response) => {
      response.writeHead(code).end(SECRET)
      return true
    })
  const listing = (tools: unknown) => {
    mcp.tools = tools as never
    return { url: mcp.url, headers }
  }
  const endless = () =>
    instead((_, response) => {
      flood(response)
      return true
    })

  it.each<[string, () => object, RegExp]>([
    ['is not there', () => ({ url: dead }), /could not be reached.*ECONNREFUSED/],
    ['is a program that is not there', () => ({ command: ['no-such-mcp-server'] }), /The program of the MCP server "tools" is not there/],
    ['is a program that ends at once', () => ({ command: ['false'] }), /"tools" (ended before it answered|did not answer)/],
    ['is a program that says nothing', () => ({ command: ['sleep', '300'] }), /did not answer within 0.4 s/],
    ['is none', () => status(404), /answered with status 404/],
    ['does not take the key', () => status(401), /answered with status 401/],
    ['says nothing', () => instead(() => true), /did not answer within 0.4 s/],
    ['never stops', endless, /sent more than 4194304 bytes/],
    ['gives a list that is none', () => listing('none'), /"tools" /],
    ['gives tools that are none', () => listing([{ name: 5, inputSchema: [] }]), /"tools" /],
  ])('because it %s leaves its tools out, says so, and holds up nobody', async (_, server, problem) => {
    const { outcome, errors, results } = await runOf([echo('x'), DONE], { servers: { tools: server() }, mcp: { connectMs: 400 } })
    expect(outcome).toEqual(completed)
    expect(errors).toEqual([expect.stringMatching(problem)])
    expect(errors[0]).toContain('Its tools are left out.')
    expect(errors[0]).not.toMatch(/127\.0\.0\.1|tok_of/)
    expect(results[0]).toMatchObject({ is_error: true, output: expect.stringMatching(problem) })
  })

  it('leaves the others as they are', async () => {
    const { results } = await runOf([echo('x'), DONE], { servers: { tools: { url: mcp.url }, program: { url: dead } }, mcp: { connectMs: 400 } })
    expect(results[0]).toMatchObject({ is_error: false, output: 'you said x' })
  })

  const answering = (answer: TestMcp['answer']) => {
    mcp.answer = answer
  }

  it.each<[string, () => unknown, RegExp]>([
    ['throws', () => answering(() => Promise.reject(new Error('out of order'))), /out of order/],
    ['says that it failed', () => answering(() => ({ isError: true, content: [{ type: 'text', text: 'no such page' }] })), /^no such page$/],
    ['says nothing', () => answering(() => new Promise(() => {})), /did not answer within 0.4 s/],
    ['answers with what is no result', () => answering(() => 'what'), /"tools" /],
    ['is gone', () => instead((_, response, method) => method === 'tools/call' && response.destroy().destroyed), /could not be reached, or broke/],
  ])('at a call, because it %s, is an error in the transcript', async (_, arrange, problem) => {
    arrange()
    const { outcome, results } = await runOf([echo('x'), DONE], { mcp: { callMs: 400 } })
    expect(outcome).toEqual(completed)
    expect(results[0]).toMatchObject({ is_error: true, output: expect.stringMatching(problem) })
  })

  it.each<[string, string, RegExp]>([
    ['ends', 'die', /ended before it answered/],
    ['floods', 'flood', /sent more than|did not answer/],
  ])('at a call, because its program %s, is an error in the transcript', async (_, name, problem) => {
    const { outcome, results } = await runOf([{ toolCalls: [{ name: `mcp__program__${name}`, input: {} }] }, DONE], {
      servers: { program: ofProgram() },
      mcp: { callMs: 2_000 },
    })
    expect(outcome).toEqual(completed)
    expect(results[0]).toMatchObject({ is_error: true, output: expect.stringMatching(problem) })
  })

  it('with a huge answer is cut', async () => {
    mcp.answer = () => ({ content: [{ type: 'text', text: 'y'.repeat(1_000_000) }] })
    const { results } = await runOf([echo('x'), DONE])
    expect(results[0]?.is_error).toBe(false)
    expect(results[0]?.output.length).toBeLessThan(70_000)
    expect(results[0]?.output).toContain('[cut: the answer is longer]')
  })

  it('with an answer that is no text says what is left out', async () => {
    mcp.answer = () => ({
      content: [
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///a', text: 'of a resource' } },
      ],
    })
    const { results } = await runOf([echo('x'), DONE])
    expect(results[0]?.output).toBe('[image/png left out: it is no text]\nof a resource')
  })

  it('with schemas that a provider would refuse is offered all the same, with words in their place', async () => {
    mcp.tools = [
      { name: 'odd', description: 'Odd.', inputSchema: { type: 'object', properties: { a: { type: 'banana' } } } as never },
      { name: 'draft', inputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { a: { type: 'string' } } } as never },
      { name: 'no name at all', inputSchema: { type: 'object' } },
    ]
    const { errors } = await runOf([DONE])
    const { body, tools } = await models.request(1)
    expect(tools).toEqual(expect.arrayContaining(['mcp__tools__odd', 'mcp__tools__draft']))
    const described = (body.tools as { name: string; description: string; input_schema: object }[]).filter(({ name }) => name.startsWith('mcp__tools'))
    expect(described).toMatchObject([
      { description: expect.stringContaining('banana'), input_schema: { type: 'object', additionalProperties: true } },
      { input_schema: { type: 'object', properties: { a: { type: 'string' } } } },
    ])
    expect(errors).toEqual([expect.stringContaining('"no name at all" makes no name that models take')])
  })

  it('is broken off with the call by an update that is not to wait', async () => {
    const called = Promise.withResolvers<void>()
    mcp.answer = () => {
      called.resolve()
      return new Promise(() => {})
    }
    models.reply(echo('x'), DONE)
    const { test, outcome } = start()
    using _ = test
    await called.promise
    test.update('leave it', 'u-1', 'interrupt')
    expect(await outcome).toEqual(completed)
    expect(JSON.stringify(test.steps)).toContain('Interrupted: an update')
  })
})

/** Writes until the reader is gone. */
function flood(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const chunk = 'z'.repeat(1024 * 1024)
  const write = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', write)
  }
  write()
}
