import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestRun, gone, isRunning, SILENT_LOG, testRunner, until } from '../testing/command.ts'
import { startGuard } from './guard.ts'

const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

/** A process in a group of its own. */
async function startGroup(): Promise<number> {
  const child = spawn('sleep', ['100'], { detached: true, stdio: 'ignore' })
  started.push(child)
  await once(child, 'spawn')
  return child.pid as number
}

describe('the guard', () => {
  it('kills what is still registered at its end, and nothing else', async () => {
    const guard = startGuard({ log: SILENT_LOG })
    const pids = await Promise.all([startGroup(), startGroup(), startGroup()])
    const [first, second, third] = pids as [number, number, number]
    for (const pid of pids) await guard.add(pid)
    guard.remove(second)

    await guard.close()

    await Promise.all([gone(first), gone(third)])
    expect(isRunning(second)).toBe(true)
  })

  it('refuses numbers that stand for everybody or for itself', async () => {
    const guard = startGuard({ log: SILENT_LOG })
    for (const pgid of [1, 0, -1, 1.5, Number.NaN]) await expect(guard.add(pgid)).rejects.toThrow(RangeError)
    await guard.close()
  })

  it('takes no notice of the signals that end a worker', async () => {
    const guard = startGuard({ log: SILENT_LOG })
    const pid = await startGroup()
    await guard.add(pid)
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(guard.pid as number, signal)
    await guard.add(await startGroup())
    await guard.close()
    await gone(pid)
  })

  it('is started again when it is killed, and told of every group, while runs go on', async () => {
    const guard = startGuard({ log: SILENT_LOG })
    using test = createTestRun()
    const running = testRunner(guard, ['/bin/sh', '-c', 'echo pids $$; while :; do sleep 100; done']).run(test.run)
    const pid = Number((await test.stepWith('pids ')).split(' ')[1])
    const killed = guard.pid as number
    process.kill(killed, 'SIGKILL')
    await until(() => guard.pid !== killed)
    expect(isRunning(pid)).toBe(true)

    // The run started before this guard did; only what it received at its start can make it kill the program.
    await guard.close()
    expect(await running).toMatchObject({ kind: 'errored', retryable: true, error: 'The program was ended by SIGKILL (9).' })
  })

  it('takes a group in while it is being started again', async () => {
    const guard = startGuard({ log: SILENT_LOG })
    const killed = guard.pid as number
    process.kill(killed, 'SIGKILL')
    await gone(killed)
    const pid = await startGroup()
    await guard.add(pid)
    await guard.close()
    await gone(pid)
  })

  it('lets no program start that it cannot watch', async () => {
    const guard = startGuard({ log: SILENT_LOG, shell: '/no/such/shell' })
    using test = createTestRun()
    const outcome = await testRunner(guard, ['touch', 'started']).run(test.run)
    expect(outcome).toMatchObject({ kind: 'errored', retryable: true, error: expect.stringContaining('guard') })
    expect(existsSync(join(test.run.workspace, 'started'))).toBe(false)
    await guard.close()
  })
})
