import { parseSettings } from '@muster/domain'
import { describe, expect, it } from 'vitest'
import { startGuard } from './command/guard.ts'
import { createRunners, describeRunners } from './registry.ts'
import { findSandbox } from './sandbox/sandbox.ts'
import { createTestRun, SILENT_LOG } from './testing/command.ts'

const surroundings = { environment: { PATH: '/usr/bin:/bin' }, baseFolder: '/' }
const plain = parseSettings({ SANDBOX: 'off' })
const COMMAND_RUNNERS = {
  broken: { argv: ['no-such-program'] },
  lost: { argv: ['true'], cwd: '/no/such/folder' },
  shell: { argv: ['bin/sh', '-c', 'echo hello'], steerable: true },
  other: { argv: ['/bin/sh'], follows_definitions: true },
}

describe('describeRunners', () => {
  const confining = parseSettings({ ENABLE_BASH_TOOL: 'true', SANDBOX_PROCESSES_MAX: '0' })
  const { sandbox } = findSandbox(confining, surroundings.environment, '/')
  it.skipIf(sandbox === null)('says what confines a runner is limited to, and nothing where nothing is confined', () => {
    const COMMAND_RUNNERS = { confined: { argv: ['true'] }, exempt: { argv: ['true'], sandbox: false } }
    const { items } = describeRunners({ ...confining, COMMAND_RUNNERS }, surroundings)
    const limitsOf = (name: string) => items.find((item) => item.name === name)?.sandboxLimits
    expect(sandbox?.limits).toMatchObject({ processes: null })
    expect([limitsOf('confined'), limitsOf('ai')]).toEqual([sandbox?.limits, sandbox?.limits])
    expect([limitsOf('exempt'), limitsOf('external')]).toEqual([undefined, undefined])
  })

  const no = { default: false, defaultForSubagents: false, followsDefinitions: false }
  const unconfined = { sandbox: 'none', sandboxProblem: 'The sandbox is switched off (SANDBOX=off).' }

  it('lists every configured program and the built-in kinds, each with what it lacks', () => {
    expect(describeRunners({ ...plain, COMMAND_RUNNERS }, surroundings).items).toEqual([
      {
        name: 'broken',
        available: false,
        default: false,
        defaultForSubagents: false,
        followsDefinitions: false,
        missing: [expect.stringContaining('"no-such-program" was not found on the PATH')],
        steerable: false,
        interruptible: false,
        ...unconfined,
      },
      {
        name: 'lost',
        available: false,
        ...no,
        missing: [expect.stringContaining('/no/such/folder (cwd)')],
        steerable: false,
        interruptible: false,
        ...unconfined,
      },
      { name: 'shell', available: true, ...no, default: true, missing: [], steerable: true, interruptible: false, ...unconfined },
      {
        name: 'other',
        available: true,
        default: false,
        defaultForSubagents: true,
        followsDefinitions: true,
        missing: [],
        steerable: false,
        interruptible: false,
        ...unconfined,
      },
      { name: 'external', available: true, ...no, followsDefinitions: true, missing: [], steerable: true, interruptible: false, sandbox: 'none' },
      {
        name: 'ai',
        available: false,
        ...no,
        followsDefinitions: true,
        missing: [expect.stringContaining('Set ANTHROPIC_API_KEY')],
        steerable: true,
        interruptible: true,
        sandbox: 'none',
      },
      {
        name: 'claude-code',
        available: false,
        ...no,
        followsDefinitions: true,
        missing: [expect.stringContaining('"claude" was not found on the PATH'), expect.stringContaining('Set ANTHROPIC_API_KEY')],
        steerable: true,
        interruptible: true,
        sandbox: 'none',
      },
    ])
  })

  it.each([
    [{ COMMAND_RUNNERS, DEFAULT_RUNNER: 'other' }, 'other'],
    [{ COMMAND_RUNNERS, DEFAULT_RUNNER: 'external' }, 'external'],
    // What the operator chose stays chosen: another one would run subtasks that were never meant for it.
    [{ COMMAND_RUNNERS, DEFAULT_RUNNER: 'broken' }, 'broken'],
    [{ COMMAND_RUNNERS: { broken: COMMAND_RUNNERS.broken } }, 'external'],
    [{ COMMAND_RUNNERS: {} }, 'external'],
    [{ COMMAND_RUNNERS: {}, ANTHROPIC_API_KEY: 'key' }, 'ai'],
    [{ COMMAND_RUNNERS, ANTHROPIC_API_KEY: 'key' }, 'ai'],
  ])('names one default: %j', (settings, expected) => {
    const defaults = describeRunners({ ...plain, ...settings }, surroundings).items.filter((item) => item.default)
    expect(defaults.map(({ name }) => name)).toEqual([expected])
  })
})

describe('the runner ai', () => {
  it.each([
    [{}, /^Set ANTHROPIC_API_KEY, OPENAI_API_KEY, or OPENAI_BASE_URL/],
    [{ OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1' }, /^Set BACKGROUND_MODEL/],
    [{ OPENAI_API_KEY: 'key', BACKGROUND_MODEL: 'sonnet' }, /^The model "sonnet" \(that is anthropic:claude-.*set ANTHROPIC_API_KEY, or map the name/],
    [{ OPENAI_API_KEY: 'key', ANTHROPIC_API_KEY: 'key', BACKGROUND_MODEL: 'llama3.1:8b' }, /write anthropic:llama3.1:8b or openai:llama3.1:8b/],
  ])('with %j is not there, and says what it lacks', (environment, lack) => {
    const settings = parseSettings(environment)
    const ai = describeRunners(settings, surroundings).items.find(({ name }) => name === 'ai')
    expect(ai).toMatchObject({ available: false, missing: [expect.stringMatching(lack)] })
  })

  it.each([
    [{ ANTHROPIC_API_KEY: 'key' }],
    [{ OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1', BACKGROUND_MODEL: 'llama3.1:8b' }],
    [{ OPENAI_API_KEY: 'key', BACKGROUND_MODEL: 'sonnet', MODEL_ALIASES: '{"sonnet": "openai:gpt-5"}' }],
    [{ OPENAI_API_KEY: 'key', ANTHROPIC_API_KEY: 'key', BACKGROUND_MODEL: 'gpt-5' }],
  ])('with %j is there, steerable', async (environment) => {
    const guard = startGuard({ log: SILENT_LOG })
    const settings = parseSettings(environment)
    expect(describeRunners(settings, surroundings).items.find(({ name }) => name === 'ai')).toMatchObject({ available: true, missing: [], steerable: true })
    expect(createRunners(settings, { ...surroundings, guard, log: SILENT_LOG }).get('ai')).toMatchObject({ steerable: true, usesWorkspace: true })
    await guard.close()
  })
})

describe('createRunners', () => {
  it('makes a runner of every configured program', async () => {
    const guard = startGuard({ log: SILENT_LOG })
    using test = createTestRun()
    const runners = createRunners({ ...plain, COMMAND_RUNNERS }, { ...surroundings, guard, log: SILENT_LOG })
    expect([...runners.values()].map(({ name, steerable }) => [name, steerable])).toEqual([
      ['broken', false],
      ['lost', false],
      ['shell', true],
      ['other', false],
    ])
    expect(await runners.get('shell')?.run(test.run)).toEqual({ kind: 'completed', result: 'hello' })
    await guard.close()
  })
})
