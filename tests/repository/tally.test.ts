import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../scripts/check/report.ts'

const made: string[] = []
afterEach(async () => {
  for (const folder of made.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** Runs vitest with the reporter over the given files, in a folder from which its packages can be found. */
async function runTests(files: Record<string, string>, setup = ''): Promise<{ last: string; code: number | null }> {
  const folder = await mkdtemp(`${repositoryRoot}/node_modules/.tally-`)
  made.push(folder)
  const config = `import { defineConfig } from 'vitest/config'
import { TallyReporter } from '${repositoryRoot}/scripts/check/tally-reporter.ts'
export default defineConfig({ test: { include: ['*.check.ts'], exclude: [], reporters: ['default', new TallyReporter()]${setup} } })
`
  for (const [name, content] of Object.entries({ 'vitest.config.ts': config, ...files })) await writeFile(join(folder, name), content)
  const { stdout, status } = spawnSync(process.execPath, [`${repositoryRoot}/node_modules/vitest/vitest.mjs`, 'run', '--root', folder], { encoding: 'utf8' })
  return { last: stdout.trimEnd().split('\n').at(-1) ?? '', code: status }
}

const HEAD = "import { beforeAll, describe, expect, it } from 'vitest'\n"

describe('the last line of a test run', () => {
  it('counts tests, not files', async () => {
    expect(await runTests({ 'a.check.ts': `${HEAD}it('a', () => {})\nit('b', () => {})\n` })).toEqual({ last: '2 passed, 0 failed', code: 0 })
  })

  it('counts failures and skipped tests', async () => {
    const run = await runTests({ 'a.check.ts': `${HEAD}it('a', () => {})\nit('b', () => { expect(1).toBe(2) })\nit.skip('c', () => {})\n` })
    expect(run).toEqual({ last: '1 passed, 1 failed, 1 skipped', code: 1 })
  })

  it('counts a file that cannot be loaded as failed', async () => {
    const run = await runTests({ 'a.check.ts': `${HEAD}it('a', () => {})\n`, 'b.check.ts': "import './nowhere.ts'\n" })
    expect(run).toEqual({ last: '1 passed, 1 failed', code: 1 })
  })

  it('counts a failing hook of a file as failed, and its tests as skipped', async () => {
    const run = await runTests({ 'a.check.ts': `${HEAD}beforeAll(() => { throw new Error('no') })\nit('a', () => {})\n` })
    expect(run).toEqual({ last: '0 passed, 1 failed, 1 skipped', code: 1 })
  })

  it('counts a failing hook of a group beside a failing test', async () => {
    const group = "describe('group', () => {\n  beforeAll(() => { throw new Error('no') })\n  it('b', () => {})\n})\n"
    const run = await runTests({ 'a.check.ts': `${HEAD}it('a', () => { expect(1).toBe(2) })\n${group}` })
    expect(run).toEqual({ last: '0 passed, 2 failed, 1 skipped', code: 1 })
  })

  it('counts an error outside of any test as failed', async () => {
    const run = await runTests({ 'a.check.ts': `${HEAD}it('a', () => { void Promise.reject(new Error('no')) })\n` })
    expect(run).toEqual({ last: '1 passed, 1 failed', code: 1 })
  })

  it('is a failure when there are no tests', async () => {
    expect(await runTests({})).toEqual({ last: '0 passed, 1 failed', code: 1 })
  })

  it('is a failure when the set-up of the run fails', async () => {
    const files = { 'a.check.ts': `${HEAD}it('a', () => {})\n`, 'setup.ts': "export function setup() { throw new Error('no') }\n" }
    expect(await runTests(files, ", globalSetup: './setup.ts'")).toEqual({ last: '0 passed, 1 failed', code: 1 })
  })

  it('stands after what the tear-down of the run prints', async () => {
    const files = { 'a.check.ts': `${HEAD}it('a', () => {})\n`, 'setup.ts': "export function teardown() { console.log('bye') }\n" }
    expect(await runTests(files, ", globalSetup: './setup.ts'")).toEqual({ last: '1 passed, 0 failed', code: 0 })
  })
})
