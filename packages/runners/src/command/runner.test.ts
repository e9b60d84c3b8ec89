import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestRun, SILENT_LOG, script, testRunner } from '../testing/command.ts'
import { type Guard, startGuard } from './guard.ts'

let guard: Guard
beforeAll(() => {
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(() => guard.close())

/** Runs a program to its end. */
async function runOf(argv: string[], settings: Parameters<typeof testRunner>[2] = {}, brief: Parameters<typeof createTestRun>[0] = {}) {
  using test = createTestRun(brief)
  const outcome = await testRunner(guard, argv, settings).run(test.run)
  return {
    outcome,
    steps: test.steps,
    usage: test.usage,
    acknowledged: test.acknowledged,
    prompts: test.prompts,
    workspace: test.run.workspace,
    brief: test.run.brief,
  }
}

const print = (...lines: unknown[]) =>
  script(`for (const line of ${JSON.stringify(lines)}) console.log(typeof line === 'string' ? line : JSON.stringify(line))`)

describe('what a program is told', () => {
  it('gets the brief as its first line, in snake_case, and then the end of its input', async () => {
    const { outcome, workspace, brief, prompts } = await runOf(['cat'])

    expect(prompts).toEqual([{ system: null, message: brief.text, isContinued: false }])
    expect(outcome.kind).toBe('completed')
    expect(JSON.parse((outcome as { result: string }).result)).toEqual({
      type: 'brief',
      subtask_id: brief.subtaskId,
      session_id: brief.sessionId,
      attempt: 1,
      agent_id: 'default',
      parent_session_id: 'parent-1',
      task_id: null,
      text: brief.text,
      task: 'count to three',
      criteria: [{ id: 'c1', text: 'Every number is named' }],
      required_outputs: [{ name: 'count', description: 'how many', schema: { type: 'integer' } }],
      revision: 2,
      feedback: null,
      continuation: null,
      model: null,
      background: true,
      subagent: null,
      metadata: { origin: 'test' },
      workspace,
    })
  })

  it('is told what it left before it waited, and what came since', async () => {
    const continuation = { state: 'two of three', updates: 'Answer: 3' }
    const { outcome } = await runOf(['cat'], {}, { continuation })
    expect(JSON.parse((outcome as { result: string }).result)).toMatchObject({ continuation })
  })

  it('is told of the sub-agent that it runs, and that somebody waits for it', async () => {
    const fields = { title: null, description: 'x', model: 'haiku', definitionPath: '/x.md', source: 'file', targetLatencyMs: null, background: false } as const
    const lists = { mcpServers: [], skills: [], unknownKeys: ['color'], unknownValues: { color: 'red' } }
    const subagent = { ...fields, ...lists, name: 'reader', version: 3, instructions: 'Read.', tools: ['Read'], disallowedTools: ['Bash'], maxTurns: 5 }
    const { outcome } = await runOf(['cat'], {}, { subagent, background: false })
    expect(JSON.parse((outcome as { result: string }).result)).toMatchObject({
      background: false,
      subagent: { name: 'reader', version: 3, instructions: 'Read.', tools: ['Read'], disallowed_tools: ['Bash'], max_turns: 5 },
    })
  })

  it('gets the MUSTER variables, the few inherited ones and its own settings, and nothing else of the worker', async () => {
    const { outcome, workspace, brief } = await runOf(['env'], { env: { COLOUR: 'blue', MUSTER_TOKEN: 'forged' } })
    const variables = Object.fromEntries(
      (outcome as { result: string }).result.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )
    // The shell that opens the gate sets these about itself.
    for (const name of ['PWD', 'OLDPWD', 'SHLVL', '_']) delete variables[name]

    expect(variables).toEqual({
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: '/nowhere',
      LANG: 'C.UTF-8',
      COLOUR: 'blue',
      MUSTER_URL: 'http://127.0.0.1:7300',
      MUSTER_TOKEN: 'secret-token',
      MUSTER_SUBTASK_ID: brief.subtaskId,
      MUSTER_ATTEMPT: '1',
      MUSTER_SESSION_ID: brief.sessionId,
      MUSTER_WORKSPACE: workspace,
      MUSTER_GUARD: guard.mark,
    })
  })

  it('runs in its workspace, or in the folder of its settings', async () => {
    const inWorkspace = await runOf(['pwd'])
    expect(inWorkspace.outcome).toMatchObject({ result: inWorkspace.workspace })
    expect((await runOf(['pwd'], { cwd: '/' })).outcome).toMatchObject({ result: '/' })
  })

  it('gets its arguments as they are, with nothing read as shell', async () => {
    const hostile = ['$(touch /tmp/pwned)', '; exit 3', '"', "'", '*', '`id`', '', '-n', 'ü\n']
    const { outcome } = await runOf([...script('console.log(JSON.stringify(process.argv.slice(1)))'), '--', ...hostile])
    expect(JSON.parse((outcome as { result: string }).result)).toEqual(hostile)
  })

  it('has no other open descriptor than its three streams', async () => {
    const { outcome } = await runOf(['/bin/sh', '-c', 'if (: >&3) 2>/dev/null; then echo open; else echo closed; fi'])
    expect(outcome).toMatchObject({ kind: 'completed', result: 'closed' })
  })
})

describe('what a program says', () => {
  it('turns its lines into steps, usage, acknowledgements, outputs and a result', async () => {
    const { outcome, steps, usage, acknowledged } = await runOf(
      print(
        'hello',
        { type: 'step', content: 'reading' },
        { type: 'step', kind: 'tool_call', content: { name: 'Read', input: { path: 'a' } } },
        { type: 'usage', input_tokens: 10, output_tokens: 2, cost_usd: 0.0015, tool_calls: 1 },
        { type: 'usage', tool_calls: 1 },
        { type: 'ack', update_id: 'u-1' },
        { type: 'ack', update_id: 'u-1' },
        { type: 'output', name: 'count', value: 2 },
        { type: 'output', name: 'count', value: 3 },
        { type: 'output', name: '__proto__', value: { a: 1 } },
        { type: 'result', result: 'one two three', summary: 'counted' },
      ),
    )
    expect(steps).toEqual([
      { kind: 'message', content: 'hello' },
      { kind: 'message', content: 'reading' },
      { kind: 'tool_call', content: { name: 'Read', input: { path: 'a' } } },
    ])
    expect(usage).toEqual([{ inputTokens: 10, outputTokens: 2, costUsdMicros: 1500, toolCalls: 1 }, { toolCalls: 1 }])
    expect(acknowledged).toEqual(['u-1'])
    expect(outcome).toMatchObject({ kind: 'completed', result: 'one two three', summary: 'counted' })
    expect(Object.entries((outcome as { outputs: Record<string, unknown> }).outputs)).toEqual([
      ['count', 3],
      ['__proto__', { a: 1 }],
    ])
  })

  it('takes plain lines as the result when there is no result line', async () => {
    const { outcome, steps } = await runOf(print('# Report', '', 'All is well.', { type: 'step', content: 'not part of it' }))
    expect(outcome).toEqual({ kind: 'completed', result: '# Report\n\nAll is well.' })
    expect(steps.map(({ content }) => content)).toEqual(['# Report\n\nAll is well.', 'not part of it'])
  })

  it.each([
    ['a step without content', '{"type":"step"}'],
    ['a step of an unknown kind', '{"type":"step","kind":"gossip","content":"x"}'],
    ['a forged update step', '{"type":"step","kind":"update","content":"x"}'],
    ['an acknowledgement of nothing', '{"type":"ack"}'],
    ['negative usage', '{"type":"usage","input_tokens":-1}'],
    ['usage beyond numbers', '{"type":"usage","cost_usd":1e999}'],
    ['an output without a value', '{"type":"output","name":"a"}'],
    ['a result that is no text', '{"type":"result","result":{"a":1}}'],
    ['an unknown type', '{"type":"dance"}'],
    ['a line that is not JSON', '{"type":"result",'],
    ['nesting without end', `${'{"type":'.repeat(500)}1${'}'.repeat(500)}`],
  ])('takes %s for a message, not for an accident', async (_, line) => {
    const { outcome, steps } = await runOf(print(line))
    expect(steps).toEqual([{ kind: 'message', content: line }])
    expect(outcome).toEqual({ kind: 'completed', result: line })
  })

  it('reads a last line without its line feed', async () => {
    const { outcome } = await runOf(script(`process.stdout.write('{"type":"result","result":"done"}')`))
    expect(outcome).toMatchObject({ kind: 'completed', result: 'done' })
  })

  it('reads CRLF', async () => {
    const { outcome, steps } = await runOf(script(`process.stdout.write('one\\r\\n{"type":"step","content":"two"}\\r\\n\\r\\nthree\\r\\n')`))
    expect(steps.map(({ content }) => content)).toEqual(['one', 'two', 'three'])
    expect(outcome).toEqual({ kind: 'completed', result: 'one\n\nthree' })
  })

  it('replaces invalid UTF-8 and NUL, and leaves characters alone that arrive in pieces', async () => {
    const source = `
      const write = (bytes) => new Promise((resolve) => process.stdout.write(Buffer.from(bytes), resolve))
      const pause = () => new Promise((resolve) => setTimeout(resolve, 20))
      await write([0xf0, 0x9f]); await pause()
      await write([0x98]); await pause()
      await write([0x80, 0x0a])
      await write([0x61, 0xff, 0x62, 0x00, 0x63, 0x0a])
      console.log('{"type":"step","content":{"a\\\\u0000":["\\\\u0000","\\\\ud800"]}}')`
    const { outcome, steps } = await runOf([process.execPath, '--input-type=module', '-e', source])
    expect(steps.at(-1)).toEqual({ kind: 'message', content: { 'a\uFFFD': ['\uFFFD', '\uFFFD'] } })
    const plain = steps.slice(0, -1).map(({ content }) => content)
    expect(plain.join('\n')).toBe('😀\na\uFFFDb\uFFFDc')
    expect(outcome).toEqual({ kind: 'completed', result: '😀\na\uFFFDb\uFFFDc' })
  })

  it('completes with an empty result when a program says nothing; the use-case refuses it', async () => {
    expect((await runOf(['true'])).outcome).toEqual({ kind: 'completed', result: '' })
  })
})

describe('how a program ends', () => {
  it('is errored with the last 4 KiB of standard error after a crash, keeping what it said', async () => {
    const { outcome } = await runOf(
      script(`console.log('half'); process.stderr.write('x'.repeat(10_000) + 'ü'.repeat(100) + ' the end'); process.exitCode = 3`),
    )
    expect(outcome).toMatchObject({ kind: 'errored', retryable: true, partialResult: 'half' })
    const { error } = outcome as { error: string }
    expect(error).toMatch(/^The program exited with code 3:\nx+ü+ the end$/)
    expect(Buffer.byteLength(error.slice(error.indexOf('\n') + 1))).toBe(4096)
  })

  it('is errored when it crashes after its result, which is kept as partial', async () => {
    const { outcome } = await runOf(script(`console.log(JSON.stringify({ type: 'result', result: 'nearly' })); process.exitCode = 1`))
    expect(outcome).toEqual({ kind: 'errored', error: 'The program exited with code 1.', retryable: true, partialResult: 'nearly' })
  })

  it('says which signal ended it', async () => {
    const { outcome } = await runOf(['/bin/sh', '-c', 'kill -ABRT $$'])
    expect(outcome).toEqual({ kind: 'errored', error: 'The program was ended by SIGABRT (6).', retryable: true })
  })

  it.each([0, 1])('waits for an answer when it says so, also with exit code %d', async (code) => {
    const line = { type: 'waiting', question_id: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47', continuation: 'two of three' }
    const { outcome } = await runOf(script(`console.log('${JSON.stringify(line)}'); process.exitCode = ${code}`))
    expect(outcome).toEqual({ kind: 'waiting', questionId: line.question_id, continuation: 'two of three' })
    expect((await runOf(print({ ...line, continuation: undefined }))).outcome).toEqual({ kind: 'waiting', questionId: line.question_id })
  })

  it.each([0, 1])('is blocked when it says so, also with exit code %d', async (code) => {
    const { outcome } = await runOf(script(`console.log('tried'); console.log('{"type":"blocked","reason":"no access"}'); process.exitCode = ${code}`))
    expect(outcome).toEqual({ kind: 'blocked', reason: 'no access', partialResult: 'tried' })
  })

  it.each([
    ['{"type":"error","error":"bad input","retryable":false}', false],
    ['{"type":"error","error":"bad input"}', true],
  ])('is errored as its own line says: %s', async (line, retryable) => {
    expect((await runOf(print(line))).outcome).toEqual({ kind: 'errored', error: 'bad input', retryable })
  })

  it('lets the last closing line count', async () => {
    const { outcome } = await runOf(print({ type: 'error', error: 'first try failed' }, { type: 'result', result: 'second try worked' }))
    expect(outcome).toEqual({ kind: 'completed', result: 'second try worked' })
  })

  it('ends a program that goes on after its result, and keeps the result', async () => {
    const { outcome, steps } = await runOf(script(`console.log('{"type":"result","result":"done"}'); setInterval(() => {}, 1000)`), { lingerMs: 50 })
    expect(outcome).toEqual({ kind: 'completed', result: 'done' })
    expect(steps).toEqual([{ kind: 'message', content: expect.stringContaining('was ended') }])
  })

  it('closes the input of a steerable program after its result, so that one that reads to the end ends', async () => {
    const { outcome } = await runOf(script(`console.log('{"type":"result","result":"done"}'); process.stdin.resume()`), { steerable: true })
    expect(outcome).toEqual({ kind: 'completed', result: 'done' })
  })
})

describe('a program that cannot be started', () => {
  it.each([
    ['a name that is not on the PATH', ['no-such-program'], {}, '"no-such-program" was not found on the PATH'],
    ['a path that does not exist', ['/no/such/program'], {}, '/no/such/program does not exist'],
    ['a file that is not executable', ['/etc/passwd'], {}, '/etc/passwd is not executable'],
    ['a folder', ['/etc/'], {}, '/etc is not a file'],
    ['a working folder that does not exist', ['true'], { cwd: '/no/such/folder' }, '/no/such/folder (cwd) does not exist'],
  ])('is errored and not tried again: %s', async (_, argv, settings, problem) => {
    const { outcome } = await runOf(argv, settings)
    expect(outcome).toMatchObject({ kind: 'errored', retryable: false, error: expect.stringContaining(problem) })
    expect(outcome).toMatchObject({ error: expect.stringContaining('"sample" in COMMAND_RUNNERS') })
  })
  it('is errored and not tried again: a script whose interpreter is missing', async () => {
    using test = createTestRun()
    const path = join(test.run.workspace, 'script')
    writeFileSync(path, '#!/no/such/interpreter\n', { mode: 0o755 })
    const outcome = await testRunner(guard, [path]).run(test.run)
    expect(outcome).toMatchObject({ kind: 'errored', retryable: false, error: expect.stringContaining(path) })
  })

  it('is not confused with a program that exits with 127', async () => {
    expect((await runOf(['/bin/sh', '-c', 'exit 127'])).outcome).toEqual({ kind: 'errored', error: 'The program exited with code 127.', retryable: true })
  })
})

describe('a failure of the worker itself', () => {
  it('ends the program and is thrown, not swallowed', async () => {
    using test = createTestRun()
    const run = {
      ...test.run,
      step: () => {
        throw new Error('the buffer is gone')
      },
    }
    await expect(testRunner(guard, ['/bin/sh', '-c', 'echo hello; sleep 100']).run(run)).rejects.toThrow('the buffer is gone')
  })
})

describe('many programs at once', () => {
  it('keeps their outputs apart', async () => {
    const numbers = Array.from({ length: 40 }, (_, index) => index)
    const outcomes = await Promise.all(numbers.map((number) => runOf(['/bin/sh', '-c', `echo ${number}; echo again ${number}`])))
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(numbers.map((number) => ({ kind: 'completed', result: `${number}\nagain ${number}` })))
  })
})
