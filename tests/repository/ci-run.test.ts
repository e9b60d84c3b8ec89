import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../scripts/check/report.ts'

// Stands in for scripts/run.mjs: ends as the test wants each of its commands to end.
const STAND_IN = `const command = process.argv[2]
if (command === 'test') console.log(process.argv.slice(3).join(' ') + '\\n' + process.env.TEST_OUTPUT)
if (command === 'docker') console.log(process.env.DOCKER_OUTPUT)
if (command === 'clients') console.log(process.env.CLIENTS_OUTPUT)
if (command === 'kernel') console.log(process.env.KERNEL_OUTPUT)
process.exit(Number(process.env[command.toUpperCase() + '_CODE']))
`

describe('.ci/run', () => {
  let root: string
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'muster ci-'))
    await mkdir(join(root, 'scripts'))
    await mkdir(join(root, '.ci'))
    await cp(`${repositoryRoot}/.ci/run`, join(root, '.ci/run'))
    await writeFile(join(root, 'scripts/run.mjs'), STAND_IN)
    await writeFile(join(root, '.ci/passed'), '')
    await writeFile(join(root, 'openapi.yaml'), 'openapi: 3.1.0')
    git('init', '--quiet')
    commit()
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  it.each([
    ['all is well', {}, '14 passed, 0 failed', 0],
    ['chaos fails', { CHAOS_CODE: '1' }, '14 passed, 0 failed', 1],
    ['a check fails', { CHECK_CODE: '1' }, '14 passed, 0 failed', 1],
    ['a test fails', { TEST_CODE: '1', TEST_OUTPUT: '4 passed, 1 failed, 2 skipped' }, '13 passed, 1 failed, 2 skipped', 1],
    ['a test of the image fails', { DOCKER_CODE: '1', DOCKER_OUTPUT: '1 passed, 1 failed' }, '13 passed, 1 failed', 1],
    ['a limit does not hold', { KERNEL_CODE: '1', KERNEL_OUTPUT: '3 passed, 1 failed' }, '13 passed, 1 failed', 1],
    ['a client does not compile', { CLIENTS_CODE: '1', CLIENTS_OUTPUT: '1 passed, 2 failed' }, '12 passed, 2 failed', 1],
    ['a toolchain is missing', { CLIENTS_OUTPUT: '1 passed, 0 failed, 2 skipped' }, '12 passed, 0 failed, 2 skipped', 0],
    ['something follows the line', { TEST_OUTPUT: '5 passed, 0 failed\nbye' }, '14 passed, 0 failed', 0],
    ['the test run dies without its line', { TEST_CODE: '137', TEST_OUTPUT: 'killed' }, '9 passed, 1 failed', 1],
    ['the test run ends well without its line', { TEST_OUTPUT: 'nothing to do' }, '9 passed, 1 failed', 1],
  ])('when %s, its last line and exit code say so', (_, ends, last, code) => {
    const { lines, status } = run(ends)
    expect({ last: lines.at(-1), code: status }).toEqual({ last, code })
  })

  it('leaves out the suites whose files are as they were when they passed, and names them', async () => {
    expect(run({ DOCKER_CODE: '1', DOCKER_OUTPUT: '1 passed, 1 failed' }, ['--all']).lines.at(-1)).toBe('13 passed, 1 failed')
    expect((await readFile(join(root, '.ci/passed'), 'utf8')).match(/^\w+/gm)).toEqual(['clients', 'kernel', 'packed', 'postgres', 'databases'])
    const second = run({}).lines
    expect(second).toContain('--project !packed --project !postgres --project !databases')
    expect(second.slice(-2)).toEqual([
      'Left out, because their files are as they were when they passed: clients kernel packed postgres databases. Run them with: bash .ci/run --all',
      '7 passed, 0 failed',
    ])
    await writeFile(join(root, 'openapi.yaml'), 'openapi: 3.1.1')
    expect(run({}).lines).toContain('--project !postgres --project !databases')
    commit()
    const third = run({}).lines
    expect(third).toContain('--project !postgres --project !databases')
    expect(third.slice(-2)).toEqual([expect.stringContaining('passed: kernel postgres databases.'), '10 passed, 0 failed'])
  })

  it('records nothing of a suite that skipped tests, ended without its line, or has changes that are not committed', async () => {
    await writeFile(join(root, 'Dockerfile'), 'FROM scratch')
    run({ CLIENTS_OUTPUT: '1 passed, 0 failed, 2 skipped', KERNEL_OUTPUT: '1 passed, 0 failed, 1 skipped', TEST_OUTPUT: 'nothing to do' }, ['--all'])
    expect(await readFile(join(root, '.ci/passed'), 'utf8')).toBe('')
    expect(run({}, ['--al']).status).toBe(2)
  })

  function git(...options: string[]): void {
    expect(spawnSync('git', options, { cwd: root }).status).toBe(0)
  }

  function commit(): void {
    git('add', '.')
    git('-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '--quiet', '--message', 'Change')
  }

  function run(ends: Record<string, string>, options: string[] = []) {
    const codes = { CHECK_CODE: '0', TEST_CODE: '0', DOCKER_CODE: '0', CLIENTS_CODE: '0', KERNEL_CODE: '0', CHAOS_CODE: '0' }
    const outputs = {
      TEST_OUTPUT: '5 passed, 0 failed',
      DOCKER_OUTPUT: '2 passed, 0 failed',
      CLIENTS_OUTPUT: '3 passed, 0 failed',
      KERNEL_OUTPUT: '4 passed, 0 failed',
    }
    const well = { ...codes, ...outputs }
    const { stdout, status } = spawnSync(join(root, '.ci/run'), options, { encoding: 'utf8', env: { ...process.env, ...well, ...ends } })
    return { lines: stdout.trimEnd().split('\n'), status }
  }
})
