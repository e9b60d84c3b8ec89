import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../scripts/check/report.ts'

// Stands in for scripts/run.mjs: ends as the test wants each of the three commands to end.
const STAND_IN = `const command = process.argv[2]
if (command === 'test') console.log(process.env.TEST_OUTPUT)
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
    ['all is well', 0, 0, '5 passed, 0 failed', '5 passed, 0 failed', 0],
    ['chaos fails', 0, 0, '5 passed, 0 failed', '5 passed, 0 failed', 1, 1],
    ['a check fails', 1, 0, '5 passed, 0 failed', '5 passed, 0 failed', 1],
    ['a test fails', 0, 1, '4 passed, 1 failed, 2 skipped', '4 passed, 1 failed, 2 skipped', 1],
    ['something follows the line', 0, 0, '5 passed, 0 failed\nbye', '5 passed, 0 failed', 0],
    ['the test run dies without its line', 0, 137, 'killed', '0 passed, 1 failed', 1],
    ['the test run ends well without its line', 0, 0, 'nothing to do', '0 passed, 1 failed', 1],
  ])('when %s, its last line and exit code say so', (_, checkCode, testCode, output, last, code, chaosCode = 0) => {
    const env = { ...process.env, CHECK_CODE: String(checkCode), TEST_CODE: String(testCode), CHAOS_CODE: String(chaosCode), TEST_OUTPUT: output }
    const run = spawnSync(join(root, '.ci/run'), { encoding: 'utf8', env })
    expect({ last: run.stdout.trimEnd().split('\n').at(-1), code: run.status }).toEqual({ last, code })
  })
})
