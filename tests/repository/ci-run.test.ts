import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../scripts/check/report.ts'

// Stands in for scripts/run.mjs: ends as the test wants each of its commands to end.
const STAND_IN = `const command = process.argv[2]
if (command === 'test') console.log(process.env.TEST_OUTPUT)
if (command === 'docker') console.log(process.env.DOCKER_OUTPUT)
if (command === 'clients') console.log(process.env.CLIENTS_OUTPUT)
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
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  it.each([
    ['all is well', {}, '10 passed, 0 failed', 0],
    ['chaos fails', { CHAOS_CODE: '1' }, '10 passed, 0 failed', 1],
    ['a check fails', { CHECK_CODE: '1' }, '10 passed, 0 failed', 1],
    ['a test fails', { TEST_CODE: '1', TEST_OUTPUT: '4 passed, 1 failed, 2 skipped' }, '9 passed, 1 failed, 2 skipped', 1],
    ['a test of the image fails', { DOCKER_CODE: '1', DOCKER_OUTPUT: '1 passed, 1 failed' }, '9 passed, 1 failed', 1],
    ['a client does not compile', { CLIENTS_CODE: '1', CLIENTS_OUTPUT: '1 passed, 2 failed' }, '8 passed, 2 failed', 1],
    ['a toolchain is missing', { CLIENTS_OUTPUT: '1 passed, 0 failed, 2 skipped' }, '8 passed, 0 failed, 2 skipped', 0],
    ['something follows the line', { TEST_OUTPUT: '5 passed, 0 failed\nbye' }, '10 passed, 0 failed', 0],
    ['the test run dies without its line', { TEST_CODE: '137', TEST_OUTPUT: 'killed' }, '5 passed, 1 failed', 1],
    ['the test run ends well without its line', { TEST_OUTPUT: 'nothing to do' }, '5 passed, 1 failed', 1],
  ])('when %s, its last line and exit code say so', (_, ends, last, code) => {
    const codes = { CHECK_CODE: '0', TEST_CODE: '0', DOCKER_CODE: '0', CLIENTS_CODE: '0', CHAOS_CODE: '0' }
    const well = { ...codes, TEST_OUTPUT: '5 passed, 0 failed', DOCKER_OUTPUT: '2 passed, 0 failed', CLIENTS_OUTPUT: '3 passed, 0 failed' }
    const env = { ...process.env, ...well, ...ends }
    const run = spawnSync(join(root, '.ci/run'), { encoding: 'utf8', env })
    expect({ last: run.stdout.trimEnd().split('\n').at(-1), code: run.status }).toEqual({ last, code })
  })
})
