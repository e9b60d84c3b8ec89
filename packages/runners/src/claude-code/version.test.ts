import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSettings } from '@muster/domain'
import { claudePath } from '@muster/testing/claude-program'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { describeRunners } from '../registry.ts'
import { until } from '../testing/command.ts'
import { isTooOld, VERSION_MIN, versionOf } from './version.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-test-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const environment = { PATH: '/usr/bin:/bin' }

/** A program that says this when it is asked for its version. */
function program(line: string): string {
  const path = join(folder, 'claude')
  writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && ${line}\n`)
  chmodSync(path, 0o755)
  return path
}

const described = (path: string) =>
  describeRunners(parseSettings({ CLAUDE_CODE_PATH: path, ANTHROPIC_API_KEY: 'key-of-the-operator' }), { environment }).items.find(
    ({ name }) => name === 'claude-code',
  )
const asked = (path: string) => until(() => versionOf(path, environment) !== null)

describe('the version of Claude Code', () => {
  it('is that of the real program, which is not too old', async () => {
    await asked(claudePath())
    expect(described(claudePath())).toMatchObject({ available: true, missing: [], version: expect.stringMatching(/^2\.\d+\.\d+$/) })
  })

  it('that is too old is among what is missing, until the program is another one', async () => {
    const path = program('echo "2.1.100 (Claude Code)"')
    expect(described(path)).toMatchObject({ available: true, missing: [] })
    await asked(path)
    expect(described(path)).toMatchObject({
      available: false,
      version: '2.1.100',
      missing: [`Claude Code 2.1.100 is too old: update it to ${VERSION_MIN} or newer.`],
    })
    program('echo "3.0.0 (Claude Code)"; exit 0')
    described(path)
    await until(() => versionOf(path, environment) === '3.0.0')
    expect(described(path)).toMatchObject({ available: true, missing: [], version: '3.0.0' })
  })

  it('is asked once', async () => {
    const path = program(`echo asked >> ${folder}/asked; echo "9.9.9"`)
    for (let n = 0; n < 5; n += 1) described(path)
    await asked(path)
    for (let n = 0; n < 5; n += 1) described(path)
    expect(readFileSync(`${folder}/asked`, 'utf8')).toBe('asked\n')
  })

  it('of a program that does not say is not known, and held against nobody', async () => {
    const path = program(`touch ${folder}/asked; exit 3`)
    described(path)
    await until(() => existsSync(`${folder}/asked`))
    expect(described(path)).toMatchObject({ available: true, missing: [] })
  })

  it.each([
    ['2.1.248', false],
    ['2.1.247', true],
    ['2.1.1000', false],
    ['2.0.999', true],
    ['1.9.999', true],
    ['3.0.0', false],
  ])('%s: too old is %s', (version, expected) => {
    expect(isTooOld(version)).toBe(expected)
  })
})
