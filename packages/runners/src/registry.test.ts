import { describe, expect, it } from 'vitest'
import { startGuard } from './command/guard.ts'
import { createTestRun, SILENT_LOG } from './command/testing.ts'
import { createRunners, describeRunners } from './registry.ts'

const surroundings = { environment: { PATH: '/usr/bin:/bin' }, baseFolder: '/' }
const COMMAND_RUNNERS = {
  broken: { argv: ['no-such-program'] },
  lost: { argv: ['true'], cwd: '/no/such/folder' },
  shell: { argv: ['bin/sh', '-c', 'echo hello'], steerable: true },
  other: { argv: ['/bin/sh'] },
}

describe('describeRunners', () => {
  it('lists every configured program and the built-in kinds, each with what it lacks', () => {
    expect(describeRunners({ COMMAND_RUNNERS }, surroundings).items).toEqual([
      { name: 'broken', available: false, default: false, missing: [expect.stringContaining('"no-such-program" was not found on the PATH')], steerable: false },
      { name: 'lost', available: false, default: false, missing: [expect.stringContaining('/no/such/folder (cwd)')], steerable: false },
      { name: 'shell', available: true, default: true, missing: [], steerable: true },
      { name: 'other', available: true, default: false, missing: [], steerable: false },
      { name: 'external', available: true, default: false, missing: [], steerable: true },
      { name: 'ai', available: false, default: false, missing: [expect.stringContaining('not part of this release')], steerable: true },
      { name: 'claude-code', available: false, default: false, missing: [expect.stringContaining('not part of this release')], steerable: true },
    ])
  })

  it.each([
    [{ COMMAND_RUNNERS, DEFAULT_RUNNER: 'other' }, 'other'],
    [{ COMMAND_RUNNERS, DEFAULT_RUNNER: 'external' }, 'external'],
    // What the operator chose stays chosen: another one would run subtasks that were never meant for it.
    [{ COMMAND_RUNNERS, DEFAULT_RUNNER: 'broken' }, 'broken'],
    [{ COMMAND_RUNNERS: { broken: COMMAND_RUNNERS.broken } }, 'external'],
    [{ COMMAND_RUNNERS: {} }, 'external'],
  ])('names one default: %j', (settings, expected) => {
    const defaults = describeRunners(settings, surroundings).items.filter((item) => item.default)
    expect(defaults.map(({ name }) => name)).toEqual([expected])
  })
})

describe('createRunners', () => {
  it('makes a runner of every configured program', async () => {
    const guard = startGuard({ log: SILENT_LOG })
    using test = createTestRun()
    const runners = createRunners({ COMMAND_RUNNERS }, { ...surroundings, guard, log: SILENT_LOG })
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
