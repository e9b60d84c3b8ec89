import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BUILTIN_SUBAGENTS, parseSettings, type SubagentDefinition } from '@muster/domain'
import { claudePath } from '@muster/testing/claude-program'
import { type ScriptedModels, type ScriptedTurn, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Guard, startGuard } from '../command/guard.ts'
import type { Brief, Run, RunAnswer, RunBudget, RunQuestion, UsageDelta } from '../port.ts'
import type { Cgroup } from '../sandbox/cgroups.ts'
import { requireSandbox, type Sandbox } from '../sandbox/sandbox.ts'
import { ENVIRONMENT, KEYS } from '../testing/ai.ts'
import { claudeRunner, processesOf, startTestMuster, type TestMuster } from '../testing/claude-code.ts'
import { createTestRun, SILENT_LOG, until } from '../testing/command.ts'

/** The real program, over models and a Muster on loopback. */
let guard: Guard
let models: ScriptedModels
let muster: TestMuster
beforeAll(() => {
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(() => guard.close())
beforeEach(async () => {
  models = await startScriptedModels()
  muster = await startTestMuster()
})
afterEach(async () => {
  await Promise.all([models.close(), muster.close()])
})

const TOKEN = 'mst_credential_of_the_subtask'
const COMMANDS = { ENABLE_BASH_TOOL: 'true' }

interface Own {
  brief?: Partial<Brief>
  budget?: Partial<RunBudget>
  settings?: Record<string, string>
  environment?: Record<string, string>
  sandbox?: Sandbox | null
  files?: Record<string, string>
  run?: Partial<Run>
}

/** The real program, whose models are the test's. */
const programSettings = () => ({ CLAUDE_CODE_PATH: claudePath(), ANTHROPIC_BASE_URL: models.anthropicUrl })

/** A run that has been started. */
function start(own: Own = {}) {
  const test = createTestRun({ requiredOutputs: [], ...own.brief }, own.budget)
  for (const [path, content] of Object.entries(own.files ?? {})) {
    mkdirSync(dirname(join(test.run.workspace, path)), { recursive: true })
    writeFileSync(join(test.run.workspace, path), content)
  }
  const run = { ...test.run, access: { url: muster.url, token: TOKEN }, ...own.run }
  const runner = claudeRunner({ ...programSettings(), ...own.settings }, guard, own.environment, own.sandbox)
  return { test, outcome: runner.run(run), subtaskId: run.brief.subtaskId }
}

/** A run to its end, with the model saying these turns. */
async function runOf(turns: ScriptedTurn[], own: Own = {}) {
  models.reply(...turns)
  const { test, outcome } = start(own)
  using _ = test
  return { outcome: await outcome, steps: test.steps, usage: totalOf(test.usage), acknowledged: test.acknowledged, test }
}

function totalOf(deltas: readonly UsageDelta[]) {
  const sum = (name: Exclude<keyof UsageDelta, 'model'>) => deltas.reduce((total, delta) => total + (delta[name] ?? 0), 0)
  return { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens'), costUsdMicros: sum('costUsdMicros'), toolCalls: sum('toolCalls') }
}

const definition = (own: Partial<SubagentDefinition>): SubagentDefinition => ({ ...(BUILTIN_SUBAGENTS[0] as SubagentDefinition), ...own })
const hooks = () => muster.calls.filter(({ path }) => path === '/hooks/claude-code').map(({ body }) => body.hook_event_name)

describe('a use that asks', () => {
  const asked: RunQuestion[] = []
  beforeEach(() => void asked.splice(0))
  /** A run whose parent gives these answers, in order. */
  const withAnswers = (...answers: (RunAnswer['answer'] | RunAnswer['status'])[]) => ({
    async ask(question: RunQuestion): Promise<RunAnswer> {
      asked.push(question)
      const next = answers.shift()
      if (next === undefined) throw new Error('no answer is left')
      return typeof next === 'string' ? { questionId: 'q', status: next, answer: null } : { questionId: 'q', status: 'answered', answer: next }
    },
  })
  const bash = (...commands: string[]): ScriptedTurn => ({ toolCalls: commands.map((command) => ({ name: 'Bash', input: { command } })) })
  const results = (steps: { kind: string; content: unknown }[]) =>
    steps.filter(({ kind }) => kind === 'tool_result').map(({ content }) => content as { output: string; is_error: boolean })
  const commands = { settings: COMMANDS, brief: { ask: ['Bash(echo push:*)'] } }

  it('is executed as it was asked about once it is approved, and others without a question', async () => {
    const { outcome, steps } = await runOf([bash('echo push main'), bash('echo free'), { text: 'Done.' }], {
      ...commands,
      run: withAnswers({ decision: 'approve' }),
    })
    expect(outcome).toEqual({ kind: 'completed', result: 'Done.' })
    expect(results(steps)).toMatchObject([
      { output: expect.stringContaining('push main'), is_error: false },
      { output: expect.stringContaining('free'), is_error: false },
    ])
    expect(asked).toEqual([
      { kind: 'approval', prompt: expect.stringContaining('Use: Bash(echo push main)'), arguments: expect.objectContaining({ command: 'echo push main' }) },
    ])
  })

  it('is executed with the arguments of the approval, and refused with the words of a rejection', async () => {
    const { steps } = await runOf([bash('echo push a'), bash('echo push b'), bash('echo push c'), { text: 'Done.' }], {
      ...commands,
      run: withAnswers(
        { decision: 'approve', edited_arguments: { command: 'echo push elsewhere' } },
        { decision: 'reject', answer: 'Not on Friday.' },
        'expired',
      ),
    })
    expect(results(steps)).toMatchObject([
      { output: expect.stringContaining('push elsewhere'), is_error: false },
      { output: expect.stringContaining('It was rejected: Not on Friday.'), is_error: true },
      { output: expect.stringContaining('no decision came in time'), is_error: true },
    ])
  })

  it('asks no more in this run where that was approved for always', async () => {
    const { steps } = await runOf([bash('echo push a'), bash('echo push b'), { text: 'Done.' }], {
      ...commands,
      run: withAnswers({ decision: 'approve', always: true }),
    })
    expect(results(steps)).toMatchObject([{ is_error: false }, { is_error: false }])
    expect(asked).toHaveLength(1)
  })

  it('asks nobody about what the definition does not allow', async () => {
    const subagent = definition({ name: 'pusher', tools: ['Bash(echo:*)'] })
    const { steps } = await runOf([bash('touch made'), bash('echo push a'), { text: 'Done.' }], {
      settings: COMMANDS,
      brief: { subagent, background: false, ask: ['Bash(echo push:*)', 'Bash(touch:*)'] },
      run: withAnswers({ decision: 'approve', edited_arguments: { command: 'touch other' } }),
    })
    expect(results(steps)).toMatchObject([{ is_error: true }, { is_error: true }])
    expect(asked.map(({ arguments: args }) => args)).toMatchObject([{ command: 'echo push a' }])
  })

  it('does not keep the run from ending while it waits', async () => {
    models.reply(bash('echo push a'))
    const waits = (_: RunQuestion, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
    const ask = vi.fn(waits)
    const { test, outcome, subtaskId } = start({ ...commands, run: { ask } })
    using _ = test
    await until(() => ask.mock.calls.length === 1)
    test.stop()
    expect(await outcome).toMatchObject({ kind: 'stopped' })
    expect(processesOf(subtaskId)).toEqual([])
  })
})

describe('a run', () => {
  it('works in its folder, and records what was said, done and used', async () => {
    const { outcome, steps, usage, test } = await runOf(
      [
        { text: 'Reading.', toolCalls: [{ name: 'Read', input: { file_path: 'note.md' } }], usage: { input: 100, output: 20 } },
        { text: 'It says hello.', usage: { input: 120, output: 10 } },
      ],
      { files: { 'note.md': 'hello from the note' } },
    )
    expect(outcome).toEqual({ kind: 'completed', result: 'It says hello.' })
    expect(steps.map(({ kind }) => kind)).toEqual(['message', 'tool_call', 'tool_result', 'message'])
    expect(steps[2]).toMatchObject({ content: { name: 'Read', output: expect.stringContaining('hello from the note'), is_error: false } })
    expect(usage).toMatchObject({ inputTokens: 220, outputTokens: 30, toolCalls: 1 })
    expect(usage.costUsdMicros).toBeGreaterThan(0)

    const [first] = models.requests
    expect(first?.headers['x-api-key']).toBe(KEYS.ANTHROPIC_API_KEY)
    expect(first?.text).toContain(test.run.brief.text)
    expect(first?.text).toContain(`"${test.run.brief.task}`)
    expect(processesOf(test.run.brief.subtaskId)).toEqual([])
  })

  it('calls the hooks and the tools of Muster with the credential of its subtask', async () => {
    const { outcome, steps } = await runOf([{ toolCalls: [{ name: 'mcp__muster__get_task', input: {} }] }, { text: 'To three.' }])
    expect(outcome).toEqual({ kind: 'completed', result: 'To three.' })
    expect(steps[1]).toMatchObject({ content: { name: 'mcp__muster__get_task', output: expect.stringContaining('count to three'), is_error: false } })
    expect(hooks()).toEqual(['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'])
    expect(new Set(muster.calls.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${TOKEN}`]))
  })

  it('goes on where Muster does not answer', async () => {
    await muster.close()
    const { outcome } = await runOf([{ toolCalls: [{ name: 'Glob', input: { pattern: '*' } }] }, { text: 'Nothing is here.' }])
    expect(outcome).toEqual({ kind: 'completed', result: 'Nothing is here.' })
  })

  it('delivers the outputs that are required', async () => {
    const answer = { result: 'There are three.', outputs: { count: 3 } }
    const { outcome } = await runOf([{ toolCalls: [{ name: 'StructuredOutput', input: answer }] }], {
      brief: { requiredOutputs: [{ name: 'count', description: 'how many', schema: { type: 'integer' } }] },
    })
    expect(outcome).toEqual({ kind: 'completed', result: 'There are three.', outputs: { count: 3 } })
  })

  it.each([
    [null, undefined],
    ['claude-special', 'claude-special'],
    ['anthropic:claude-special', 'claude-special'],
    ['quick', 'claude-quick'],
  ])('of the model %s calls %s', async (model, expected) => {
    await runOf([{ text: 'Done.' }], { brief: { model }, settings: { MODEL_ALIASES: JSON.stringify({ quick: 'anthropic:claude-quick' }) } })
    expect(models.requests[0]?.model).toMatch(expected ?? /^claude-/)
  })
})

describe('an update', () => {
  it('is told between two steps, and acknowledged when a call has told of it', async () => {
    models.answerBy(({ text }) => (text.includes('also the second') ? { text: 'Both are done.' } : { toolCalls: [{ name: 'Glob', input: { pattern: '*' } }] }))
    const { test, outcome } = start({ budget: { steps: 1_000 } })
    using _ = test
    await models.request(1)
    test.update('also the second')
    expect(await outcome).toEqual({ kind: 'completed', result: 'Both are done.' })
    expect(test.acknowledged).toEqual(['update-1'])
    expect(hooks()).not.toContain('SessionStart')
  })

  it('that is not to wait breaks off what the model says', async () => {
    models.reply({ text: 'This w', ending: 'stall' }, { text: 'The other way it is.' })
    const { test, outcome } = start()
    using _ = test
    await models.request(1)
    test.update('go the other way', 'update-1', 'interrupt')
    expect(await outcome).toEqual({ kind: 'completed', result: 'The other way it is.' })
    await models.hungUp()
    expect(test.acknowledged).toEqual(['update-1'])
    expect(test.steps.at(-1)?.content).toBe('The other way it is.')
    expect(models.requests[1]?.text).toContain('go the other way')
  })

  it('that comes with the last answer is answered once more', async () => {
    const { test, outcome } = start()
    using _ = test
    models.answerBy(({ text }) => {
      if (text.includes('also the second')) return { text: 'The first, and the second.' }
      test.update('also the second')
      return { text: 'The first.' }
    })
    expect(await outcome).toEqual({ kind: 'completed', result: 'The first, and the second.' })
    expect(test.acknowledged).toEqual(['update-1'])
  })

  it('follows another that is not to wait, and both are taken in', async () => {
    const { test, outcome } = start()
    using _ = test
    models.answerBy(({ text }) => (text.includes('then right') ? { text: 'Left, then right.' } : { text: 'This w', ending: 'stall' }))
    await models.request(1)
    test.update('go left', 'update-1', 'interrupt')
    test.update('then right', 'update-2', 'interrupt')
    expect(await outcome).toEqual({ kind: 'completed', result: 'Left, then right.' })
    // If the second one interrupts before a call of the model has answered the first, the first is sent again, and acknowledged last.
    expect(test.acknowledged.toSorted()).toEqual(['update-1', 'update-2'])
    expect(models.requests.at(-1)?.text).toMatch(/go left.*then right/s)
  })

  it('that is not to wait reaches a program that has just been started', async () => {
    models.answerBy(({ text }) => (text.includes('go left') ? { text: 'Left.' } : { text: 'Straight on.' }))
    const { test, outcome } = start()
    using _ = test
    test.update('go left', 'update-1', 'interrupt')
    expect(await outcome).toEqual({ kind: 'completed', result: 'Left.' })
    expect(test.acknowledged).toEqual(['update-1'])
  })

  it('that is not to wait breaks off a command', async () => {
    models.reply({ toolCalls: [{ name: 'Bash', input: { command: 'echo begun > begun; sleep 300' } }] }, { text: 'Stopped it.' })
    const { test, outcome } = start({ settings: COMMANDS })
    using _ = test
    await until(() => existsSync(join(test.run.workspace, 'begun')))
    test.update('do not wait', 'update-1', 'interrupt')
    expect(await outcome).toEqual({ kind: 'completed', result: 'Stopped it.' })
    expect(test.acknowledged).toEqual(['update-1'])
  })
})

describe('the end of a run', () => {
  it.each<[string, ScriptedTurn]>([
    ['a model that stalls', { text: 'Thinking', ending: 'stall' }],
    ['a command', { text: 'Thinking', toolCalls: [{ name: 'Bash', input: { command: 'setsid sleep 300 & sleep 300' } }] }],
  ])('comes by a stop in the midst of %s, and leaves no process', async (_name, turn) => {
    models.reply(turn)
    const { test, outcome, subtaskId } = start({ settings: COMMANDS })
    using _ = test
    await models.request(1)
    if (turn.toolCalls !== undefined) await test.stepWith('sleep 300')
    test.stop()
    expect(await outcome).toMatchObject({ kind: 'stopped' })
    expect(processesOf(subtaskId)).toEqual([])
  })

  it('comes by a stop with what was said and used by then', async () => {
    models.reply({ text: 'Thinking', toolCalls: [{ name: 'Bash', input: { command: 'sleep 300' } }], usage: { input: 100, output: 20 } })
    const { test, outcome } = start({ settings: COMMANDS })
    using _ = test
    await test.stepWith('sleep 300')
    test.stop()
    expect(await outcome).toEqual({ kind: 'stopped', partialResult: 'Thinking' })
    expect(totalOf(test.usage)).toMatchObject({ inputTokens: 100, toolCalls: 1 })
  })

  it('comes by a crash, which may be tried again', async () => {
    models.reply({ text: 'Thinking', ending: 'stall' })
    const { test, outcome, subtaskId } = start()
    using _ = test
    await models.request(1)
    for (const pid of processesOf(subtaskId)) process.kill(pid, 'SIGKILL')
    expect(await outcome).toMatchObject({ kind: 'errored', retryable: true, error: expect.stringContaining('SIGKILL') })
  })

  it('comes with the death of its worker', async () => {
    models.reply({ text: 'Thinking', ending: 'stall' })
    const host = spawn(process.execPath, [fileURLToPath(new URL('../testing/claude-code-host.ts', import.meta.url)), JSON.stringify(programSettings())], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(host.stdout, 'data')) as [Buffer]
    const subtaskId = line.toString().trim()
    await models.request(1)
    expect(processesOf(subtaskId)).not.toEqual([])
    host.kill('SIGKILL')
    await until(() => processesOf(subtaskId).length === 0)
  })

  it('says where its own folder is, and leaves nothing of it behind', async () => {
    const temporary = mkdtempSync(join(tmpdir(), 'muster-test-'))
    vi.stubEnv('TMPDIR', temporary)
    const { outcome, test } = await runOf([{ text: 'Done.' }])
    vi.unstubAllEnvs()
    expect(outcome).toEqual({ kind: 'completed', result: 'Done.' })
    expect(test.folders).toEqual([expect.stringMatching(`^${temporary}/muster-claude-`)])
    expect(readdirSync(temporary)).toEqual([])
    rmSync(temporary, { recursive: true })
  })

  it.each([
    [{ tokens: 200 }, {}, 'max_tokens'],
    [{ steps: 2 }, {}, 'max_steps'],
    [{ costUsdMicros: 100 }, {}, 'max_cost_usd'],
    [{}, { subagent: definition({ maxTurns: 2 }) }, 'maxTurns'],
  ] satisfies [Partial<RunBudget>, Partial<Brief>, string][])('comes with a budget of %j and %j, with what it has', async (budget, brief, name) => {
    models.answerBy(() => ({ text: 'Looking.', toolCalls: [{ name: 'Glob', input: { pattern: '*' } }], usage: { input: 100, output: 20 } }))
    const { test, outcome } = start({ budget, brief })
    using _ = test
    expect(await outcome).toEqual({ kind: 'budget_exceeded', error: expect.stringContaining(name), partialResult: expect.stringContaining('Looking.') })
    expect(models.requests.length).toBeLessThan(5)
  })

  it('comes at once where the provider refuses the key', async () => {
    models.answerBy(() => ({ status: 401, error: 'invalid x-api-key' }))
    const { test, outcome } = start()
    using _ = test
    expect(await outcome).toEqual({ kind: 'errored', retryable: false, error: expect.stringContaining('Set a valid ANTHROPIC_API_KEY') })
    expect(models.requests).toHaveLength(1)
  })

  it('comes where the model refuses, and where it does not exist', async () => {
    models.answerBy(() => ({ text: 'I cannot', finish: 'refusal' }))
    const refused = start()
    using _ = refused.test
    expect(await refused.outcome).toMatchObject({ kind: 'blocked', reason: expect.stringContaining('refused the task') })
    models.answerBy(() => ({ status: 404, error: 'no such model' }))
    const unknown = start({ brief: { model: 'claude-none' } })
    using __ = unknown.test
    expect(await unknown.outcome).toMatchObject({ kind: 'errored', retryable: false, error: expect.stringContaining('"claude-none"') })
  })
})

describe('the tools of a run', () => {
  it('are those of its definition; others are refused in the transcript', async () => {
    const { outcome, steps } = await runOf(
      [
        { toolCalls: ['Write', 'Bash', 'Task', 'Agent'].map((name) => ({ name, input: { file_path: 'x', content: 'x', command: 'id' } })) },
        { text: 'Refused.' },
      ],
      { brief: { subagent: definition({ tools: ['Read'] }) }, settings: COMMANDS },
    )
    expect(outcome).toEqual({ kind: 'completed', result: 'Refused.' })
    const results = steps.filter(({ kind }) => kind === 'tool_result')
    expect(results).toHaveLength(4)
    for (const { content } of results) expect(content).toMatchObject({ is_error: true })
    expect(models.requests[0]?.tools).toEqual(expect.arrayContaining(['Read', 'Grep', 'Glob']))
    for (const name of ['Write', 'Edit', 'Bash', 'Task', 'Agent', 'WebFetch', 'WebSearch']) expect(models.requests[0]?.tools).not.toContain(name)
  })

  it('run commands only in the uses that its definition lists', async () => {
    const bash = (command: string) => ({ name: 'Bash', input: { command } })
    const { steps } = await runOf([{ toolCalls: [bash('echo one'), bash('echo one && touch two'), bash('touch three')] }, { text: 'Done.' }], {
      brief: { subagent: definition({ tools: ['Bash(echo:*)'] }) },
      settings: COMMANDS,
    })
    const results = steps.filter(({ kind }) => kind === 'tool_result').map(({ content }) => (content as { is_error: boolean }).is_error)
    expect(results).toEqual([false, true, true])
  })

  it('have no commands unless the operator lets models run some', async () => {
    await runOf([{ text: 'Done.' }])
    expect(models.requests[0]?.tools).not.toContain('Bash')
  })

  it('fetch nothing from this machine, nor the credentials of its cloud', async () => {
    const pages = ['http://127.0.0.1:1/a', 'http://localhost:1/b', 'http://[::1]:1/c', 'http://169.254.169.254/latest/meta-data']
    const { steps } = await runOf([{ toolCalls: pages.map((url) => ({ name: 'WebFetch', input: { url, prompt: 'What is it?' } })) }, { text: 'No.' }], {
      brief: { subagent: definition({ tools: ['WebFetch'] }) },
      settings: COMMANDS,
    })
    const results = steps.filter(({ kind }) => kind === 'tool_result').map(({ content }) => content)
    expect(results).toHaveLength(pages.length)
    for (const content of results) expect(content).toMatchObject({ is_error: true, output: expect.stringContaining('denied') })
  })

  it('stay in the workspace', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'muster-test-'))
    writeFileSync(join(outside, 'secret.txt'), 'what nobody may read')
    const { steps } = await runOf([
      {
        toolCalls: [
          { name: 'Read', input: { file_path: join(outside, 'secret.txt') } },
          { name: 'Write', input: { file_path: join(outside, 'new.txt'), content: 'x' } },
          { name: 'Grep', input: { pattern: 'nobody', path: outside, output_mode: 'content' } },
        ],
      },
      { text: 'No.' },
    ])
    expect(JSON.stringify(steps.filter(({ kind }) => kind === 'tool_result'))).not.toContain('what nobody may read')
    expect(existsSync(join(outside, 'new.txt'))).toBe(false)
    rmSync(outside, { recursive: true })
  })

  const limits = { SANDBOX_MEMORY_BYTES_MAX: String(64 * 1_048_576), SANDBOX_PROCESSES_MAX: '100' }
  const { sandbox } = requireSandbox(parseSettings({ DATA_DIR: '/no/such/folder', ...limits }), ENVIRONMENT, '/no/such/folder')
  it.skipIf(sandbox === null)('keeps its commands in the sandbox: they see no process of its own, have no network, and change only the workspace', async () => {
    const command = `ls -d /proc/[0-9]* | wc -l; cat /proc/*/environ | tr '\\0' '\\n' | grep -ac ${KEYS.ANTHROPIC_API_KEY}; cat /proc/net/dev | wc -l; touch inside; touch /etc/muster-out; true`
    const { outcome, steps } = await runOf([{ toolCalls: [{ name: 'Bash', input: { command } }] }, { text: 'Done.' }], { settings: COMMANDS, sandbox })
    expect(outcome).toMatchObject({ kind: 'completed' })
    const result = steps.find(({ kind }) => kind === 'tool_result')?.content as { output: string; is_error: boolean }
    expect(result).toMatchObject({ is_error: false, output: expect.stringMatching(/^\d\n0\n3\n/) })
    expect(result.output).toContain('Read-only file system')
    expect(existsSync('/etc/muster-out')).toBe(false)
  })

  const unlimited = sandbox === null ? 'there is no sandbox' : sandbox.limits.problem
  it.skipIf(unlimited !== null)(
    `limits its commands together, and tells the model which one is killed for it${unlimited === null ? '' : ` (not here: ${unlimited})`}`,
    async () => {
      const opened: Cgroup[] = []
      const watched = {
        ...(sandbox as Sandbox),
        async openCgroup() {
          opened.push((await (sandbox as Sandbox).openCgroup()) as Cgroup)
          return opened[0] as Cgroup
        },
      }
      const commands = ['echo fine', 'head -c 300000000 /dev/zero | tail; exit 3', 'sh -c "kill -KILL \\$\\$"; echo fine again']
      const turns = commands.map((command) => ({ toolCalls: [{ name: 'Bash', input: { command } }] }))
      const { steps } = await runOf([...turns, { text: 'Done.' }], { settings: COMMANDS, sandbox: watched })
      const outputs = steps.filter(({ kind }) => kind === 'tool_result').map(({ content }) => (content as { output: string }).output)
      expect(outputs).toEqual([
        'fine',
        expect.stringContaining('[the kernel killed a process, because memory ran out; your commands may use 64 MiB together]'),
        expect.stringMatching(/^(?![\s\S]*the kernel)[\s\S]*fine again/),
      ])
      expect(opened.map(({ entrances }) => entrances.some((entrance) => existsSync(entrance)))).toEqual([false])
    },
  )

  it('lead to no secret', async () => {
    models.reply({ toolCalls: [{ name: 'Bash', input: { command: 'env; cat /proc/self/environ; echo; cat /proc/$PPID/environ; cat /proc/$PPID/cmdline' } }] })
    models.reply({ text: 'Thinking', ending: 'stall' })
    const { test, outcome, subtaskId } = start({ settings: COMMANDS })
    using _ = test
    await models.request(2)
    const commandLines = processesOf(subtaskId).map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1'))
    test.stop()
    await outcome
    const seen = JSON.stringify([test.steps, commandLines])
    expect(seen).toContain('MUSTER_WORKSPACE=')
    expect(seen).toContain('--restricted')
    for (const secret of [KEYS.ANTHROPIC_API_KEY, KEYS.OPENAI_API_KEY, TOKEN, ENVIRONMENT.DATABASE_URL]) expect(seen).not.toContain(secret)
  })
})

describe('what is set for the user of the machine, or lies in the workspace', () => {
  it('does not include the repository that encloses a workspace of Muster, as it does that of a client folder', async () => {
    const enclosing = mkdtempSync(join(tmpdir(), 'muster-test-'))
    const workspace = join(enclosing, 'workspaces', 'attempt-1')
    mkdirSync(workspace, { recursive: true })
    const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], { cwd: enclosing })
    git('init', '--quiet', '--initial-branch', 'branch-of-the-operator')
    git('commit', '--quiet', '--allow-empty', '--message', 'a commit of the operator')
    for (const ownsWorkspace of [true, false]) {
      const before = models.requests.length
      await runOf([{ text: 'Done.' }], { run: { workspace, ownsWorkspace } })
      const told = models.requests.slice(before).map(({ text }) => text)
      expect([ownsWorkspace, told.some((text) => text.includes('branch-of-the-operator'))]).toEqual([ownsWorkspace, !ownsWorkspace])
    }
    rmSync(enclosing, { recursive: true })
  })

  it('is not read: no settings, no hooks, no instructions, no servers', async () => {
    const home = mkdtempSync(join(tmpdir(), 'muster-test-'))
    const trap = join(home, 'hook-has-run')
    const settings = JSON.stringify({
      hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: `touch ${trap}` }] }] },
      permissions: { allow: ['Bash'], defaultMode: 'bypassPermissions' },
      env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' },
    })
    mkdirSync(join(home, '.claude'))
    writeFileSync(join(home, '.claude', 'settings.json'), settings)
    writeFileSync(join(home, '.claude', 'CLAUDE.md'), 'INSTRUCTIONS-OF-THE-USER')
    const { outcome } = await runOf([{ text: 'Done.' }], {
      environment: { HOME: home, CLAUDE_CONFIG_DIR: join(home, '.claude') },
      files: {
        'CLAUDE.md': 'INSTRUCTIONS-OF-THE-FOLDER',
        'AGENTS.md': 'INSTRUCTIONS-OF-THE-FOLDER',
        '.claude/settings.json': settings,
        '.mcp.json': JSON.stringify({ mcpServers: { other: { type: 'http', url: `${muster.url}/other` } } }),
      },
    })
    expect(outcome).toEqual({ kind: 'completed', result: 'Done.' })
    expect(existsSync(trap)).toBe(false)
    expect(models.requests[0]?.text).not.toMatch(/INSTRUCTIONS-OF-THE-(USER|FOLDER)/)
    expect(muster.calls.map(({ path }) => path)).not.toContain('/other')
    rmSync(home, { recursive: true })
  })
})

describe('a runner', () => {
  it.each([
    [{ CLAUDE_CODE_PATH: '/no/such/claude' }, '/no/such/claude does not exist. Check CLAUDE_CODE_PATH'],
    [{ CLAUDE_CODE_PATH: 'no-such-claude' }, '"no-such-claude" was not found on the PATH'],
    [{ ANTHROPIC_API_KEY: '' }, 'Set ANTHROPIC_API_KEY'],
  ])('with %j cannot start, and says what to set', async (settings, problem) => {
    const { outcome } = await runOf([], { settings })
    expect(outcome).toEqual({ kind: 'errored', retryable: false, error: expect.stringContaining(problem) })
  })

  it('runs no model of another provider', async () => {
    const { outcome } = await runOf([], { brief: { model: 'fast' }, settings: { MODEL_ALIASES: JSON.stringify({ fast: 'openai:gpt-5' }) } })
    expect(outcome).toEqual({ kind: 'errored', retryable: false, error: expect.stringContaining('"fast" (that is openai:gpt-5)') })
  })
})
