import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestRun, gone, isRunning, SILENT_LOG, script, type TestRun, testRunner } from '../testing/command.ts'
import { type Guard, startGuard } from './guard.ts'

let guard: Guard
beforeAll(() => {
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(() => guard.close())

/** A program that starts a child, which starts another, prints `pids a b c` when all are there, and never ends. */
function family(onTerm: 'ignore' | 'die'): string[] {
  const trap = onTerm === 'ignore' ? `trap '' TERM; ` : ''
  const loop = 'while :; do sleep 100; done'
  return ['/bin/sh', '-c', `${trap}sh -c '${onTerm === 'ignore' ? 'trap "" TERM; ' : ''}sh -c "${loop}" & echo pids '$$' $$ $!; ${loop}' & ${loop}`]
}

async function pidsOf(test: TestRun): Promise<number[]> {
  return (await test.stepWith('pids ')).split(' ').slice(1).map(Number)
}

/** JavaScript that starts a child in a session of its own, holding the same pipes. */
const ESCAPE = `const child = require('node:child_process').spawn('sleep', ['100'], { detached: true, stdio: 'inherit' }); child.unref(); console.log('pids ' + child.pid)`

/** Milliseconds that something takes. */
async function timed(promise: Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await promise
  return performance.now() - startedAt
}

describe('stopping a run', () => {
  it.each(['die', 'ignore'] as const)('leaves no process of the program within two seconds, when it would %s on SIGTERM', async (onTerm) => {
    using test = createTestRun()
    const running = testRunner(guard, family(onTerm)).run(test.run)
    const pids = await pidsOf(test)
    expect(pids).toHaveLength(3)
    expect(pids.every(isRunning)).toBe(true)

    test.stop()
    const ms = await timed(Promise.all([running, ...pids.map(gone)]))

    expect(await running).toMatchObject({ kind: 'stopped' })
    expect(ms).toBeLessThan(2_000)
    if (onTerm === 'die') expect(ms).toBeLessThan(1_000)
  })

  it('gives the program the time to say what it has', async () => {
    using test = createTestRun()
    const source = `process.on('SIGTERM', () => { console.log('{"type":"result","result":"half of it"}'); process.exit(0) }); console.log('ready'); setInterval(() => {}, 1000)`
    const running = testRunner(guard, script(source)).run(test.run)
    await test.stepWith('ready')
    test.stop('timed_out')
    expect(await running).toEqual({ kind: 'stopped', partialResult: 'half of it' })
  })

  it('lets a child that outlives its parent finish on SIGTERM too', async () => {
    using test = createTestRun()
    // The leader dies of SIGTERM at once; its child says a last word a moment later.
    const running = testRunner(guard, [
      '/bin/sh',
      '-c',
      `sh -c 'trap "sleep 0.2; echo last word; exit" TERM; echo ready; while :; do sleep 0.01; done' & wait`,
    ]).run(test.run)
    await test.stepWith('ready')
    test.stop()
    expect(await running).toMatchObject({ kind: 'stopped', partialResult: 'ready\nlast word' })
  })

  it('starts nothing when the run is stopped already', async () => {
    using test = createTestRun()
    test.stop()
    expect(await testRunner(guard, ['/no/such/program']).run(test.run)).toEqual({ kind: 'stopped' })
  })

  it('ends a program that was stopped while it was starting', async () => {
    using test = createTestRun()
    const running = testRunner(guard, ['sleep', '100']).run(test.run)
    test.stop('released')
    expect(await timed(running)).toBeLessThan(2_000)
    expect(await running).toEqual({ kind: 'stopped' })
  })
})

describe('what a program leaves behind', () => {
  it('is killed when the program has exited', async () => {
    using test = createTestRun()
    const outcome = await testRunner(guard, ['/bin/sh', '-c', `(trap '' TERM HUP; while :; do sleep 100; done) & echo pids $!`]).run(test.run)
    const [left = 0] = await pidsOf(test)
    await gone(left)
    expect(outcome).toMatchObject({ kind: 'completed' })
  })

  it('may pass on what the program said last', async () => {
    using test = createTestRun()
    // The end of the pipe is slower than the leader, which does not wait for it.
    const outcome = await testRunner(guard, [
      '/bin/sh',
      '-c',
      'mkfifo pipe; (read -r line <pipe; sleep 0.1; echo "passed on: $line") & echo last words >pipe',
    ]).run(test.run)
    expect(outcome).toEqual({ kind: 'completed', result: 'passed on: last words' })
  })

  it('is not listened to for ever', async () => {
    using test = createTestRun()
    const running = testRunner(guard, ['/bin/sh', '-c', 'echo done; yes & true']).run(test.run)
    expect(await timed(running)).toBeLessThan(3_000)
    expect(await running).toMatchObject({ kind: 'completed', result: expect.stringContaining('done') })
  })

  it('is killed when it left the group and holds the pipes, and does not keep the run from ending', async () => {
    using test = createTestRun()
    const ms = await timed(testRunner(guard, script(ESCAPE)).run(test.run))
    const [left = 0] = await pidsOf(test)
    expect(ms).toBeLessThan(2_000)
    await gone(left)
  })

  it('is killed when it left the group and the run is stopped', async () => {
    using test = createTestRun()
    const running = testRunner(guard, script(`${ESCAPE}; setInterval(() => {}, 1000)`)).run(test.run)
    const [left = 0] = await pidsOf(test)
    test.stop()
    expect(await timed(Promise.all([running, gone(left)]))).toBeLessThan(2_000)
  })
})

describe('the death of a worker', () => {
  /** Starts the small worker of `guard-host.ts`, and reads its guard's and its program's process ids. */
  async function startHost(argv: string[], ...options: string[]) {
    const host = spawn(process.execPath, [fileURLToPath(new URL('../testing/guard-host.ts', import.meta.url)), JSON.stringify(argv), ...options], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines: string[] = []
    for await (const line of createInterface({ input: host.stdout })) {
      lines.push(line)
      if (line.startsWith('pids ')) break
    }
    return { pid: host.pid as number, guardPid: Number(lines[0]), pids: (lines.at(-1) ?? '').split(' ').slice(1).map(Number) }
  }

  it.each([
    ['the worker', (pid: number) => pid],
    ['the whole group of the worker', (pid: number) => -pid],
  ])('by SIGKILL of %s leaves nothing of its programs', async (_, target) => {
    const host = await startHost(family('ignore'))
    expect(host.pids).toHaveLength(3)
    expect([host.guardPid, ...host.pids].every(isRunning)).toBe(true)

    process.kill(target(host.pid), 'SIGKILL')

    await Promise.all([host.pid, host.guardPid, ...host.pids].map(gone))
  })

  it('leaves nothing of what has left its group', async () => {
    const host = await startHost(script(`${ESCAPE}; setInterval(() => {}, 1000)`))
    expect(host.pids.every(isRunning)).toBe(true)
    process.kill(host.pid, 'SIGKILL')
    await Promise.all([host.pid, host.guardPid, ...host.pids].map(gone))
  })

  it('between the start of a process and its registration leaves nothing, and the program has not begun', async () => {
    const marker = join(mkdtempSync(join(tmpdir(), 'muster-gate-')), 'begun')
    const host = await startHost(['touch', marker], 'deaf')
    expect(host.pids.every(isRunning)).toBe(true)
    process.kill(host.pid, 'SIGKILL')
    await Promise.all([host.pid, host.guardPid, ...host.pids].map(gone))
    expect(existsSync(marker)).toBe(false)
  })
})
