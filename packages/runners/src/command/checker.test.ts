import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CheckSettings } from '@muster/domain'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { gone, SILENT_LOG, script, until } from '../testing/command.ts'
import { createChecker } from './checker.ts'
import { type Guard, startGuard } from './guard.ts'

let guard: Guard
let folder: string
beforeAll(() => {
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(() => guard.close())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster check-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const NEVER = new AbortController().signal
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nowhere', DATABASE_URL: 'postgres://secret' }

function check(settings: CheckSettings | string[], signal: AbortSignal = NEVER) {
  const checks = { it: Array.isArray(settings) ? { argv: settings } : settings }
  return createChecker(checks, { guard, environment: ENVIRONMENT }).check({ id: randomUUID(), tries: 1, name: 'it', folder }, signal)
}

const numberIn = (name: string) => Number(readFileSync(join(folder, name), 'utf8'))
const isThere = (name: string) => {
  try {
    return numberIn(name) > 0
  } catch {
    return false
  }
}

describe('a check', () => {
  it('is met by exit code 0, in the folder of the task', async () => {
    expect(await check(script('console.log(process.cwd())'))).toEqual({
      status: 'met',
      exitCode: 0,
      reason: null,
      output: folder,
      durationMs: expect.any(Number),
    })
  })

  it.each([
    [
      'an exit code',
      script('console.log("out"); console.error("2 tests failed"); process.exitCode = 3'),
      { exitCode: 3, reason: 'The program exited with code 3.' },
    ],
    ['a signal', script('process.kill(process.pid, "SIGKILL")'), { exitCode: null, reason: 'The program was ended by SIGKILL (9).' }],
    ['a missing program', ['no-such-program-here'], { exitCode: null, reason: expect.stringContaining('"no-such-program-here" was not found') }],
  ])('is unmet by %s', async (_, argv, expected) => {
    expect(await check(argv)).toMatchObject({ status: 'unmet', ...expected })
  })

  it('shows both streams', async () => {
    const end = await check(script('console.log("ran 5 tests"); console.error("2 failed"); process.exitCode = 1'))
    expect(end?.output.split('\n').sort()).toEqual(['2 failed', 'ran 5 tests'])
  })

  it('gets its own variables, and none of the worker or of a run', async () => {
    const end = await check({ argv: script('console.log(JSON.stringify(process.env))'), env: { CI: '1' } })
    const environment = JSON.parse(end?.output ?? '')
    expect(environment).toMatchObject({ CI: '1', HOME: '/nowhere', MUSTER_WORKSPACE: folder })
    expect(Object.keys(environment)).not.toEqual(expect.arrayContaining(['DATABASE_URL']))
    expect(Object.keys(environment)).not.toEqual(expect.arrayContaining(['MUSTER_TOKEN']))
  })

  it('passes arguments on as they are: no shell reads them', async () => {
    const argv = [...script('console.log(process.argv[1])'), '$(touch broken); "']
    expect(await check(argv)).toMatchObject({ status: 'met', output: '$(touch broken); "' })
  })

  it('proves nothing where the worker does not have it', async () => {
    const checker = createChecker({}, { guard, environment: ENVIRONMENT })
    const end = await checker.check({ id: randomUUID(), tries: 1, name: 'unit-tests', folder }, NEVER)
    expect(end).toMatchObject({ status: 'could_not_run', reason: 'This worker has no check "unit-tests" (CHECKS).' })
  })
})

describe('a check that does not behave', () => {
  it('is stopped after its time if it hangs and ignores being asked to end', async () => {
    const end = await check({
      argv: script(
        `process.on('SIGTERM', () => {}); require('fs').writeFileSync('pid', String(process.pid)); console.log('waiting'); setInterval(() => {}, 1000)`,
      ),
      timeout_seconds: 1,
    })
    expect(end).toMatchObject({ status: 'unmet', exitCode: null, reason: 'It had not ended after 1 s and was stopped.', output: 'waiting' })
    await gone(numberIn('pid'))
  })

  it('keeps 8 KiB of a flood, the last, and lets other work go on', async () => {
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 10)
    const before = process.memoryUsage().rss
    const end = await check({ argv: ['yes', 'flood'], timeout_seconds: 1 })
    clearInterval(timer)
    expect(end?.status).toBe('unmet')
    expect(Buffer.byteLength(end?.output ?? '')).toBeLessThanOrEqual(8_192)
    expect(end?.output).toMatch(/(?:flood\n){1000}/)
    expect(turns).toBeGreaterThan(20)
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1_048_576)
  })

  it('leaves no process behind that it has forked, also not one of a session of its own', async () => {
    const spawn = (name: string, detached: boolean) =>
      `require('child_process').spawn('/bin/sh', ['-c', 'echo $$ > ${name}; exec sleep 600'], { detached: ${detached}, stdio: 'ignore' }).unref()`
    const wait = `const { existsSync } = require('fs'); const timer = setInterval(() => { if (existsSync('inside') && existsSync('outside')) { clearInterval(timer) } }, 10)`
    const end = await check(script(`${spawn('inside', false)}; ${spawn('outside', true)}; ${wait}`))
    expect(end?.status).toBe('met')
    await gone(numberIn('inside'))
    await gone(numberIn('outside'))
  })

  it('ends when the worker stops, and has no verdict', async () => {
    const stopping = new AbortController()
    const running = check(script(`require('fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000)`), stopping.signal)
    await until(() => isThere('pid'))
    stopping.abort()
    expect(await running).toBeNull()
    await gone(numberIn('pid'))
  })
})
