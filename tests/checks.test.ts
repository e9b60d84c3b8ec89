import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'
import { isAlive, until } from './harness/until.ts'

/** Notes its process, and waits until it is let go: then there is a file, and it passes. */
const HELD = ['/bin/sh', '-c', 'echo $$ >> executed; while [ ! -f go ]; do sleep 0.05; done']
let system: System

beforeAll(async () => {
  system = await startSystem({ workers: 2, env: { CHECKS: JSON.stringify({ held: { argv: HELD, timeout_seconds: 120 } }) } })
})
afterAll(() => system.close())

interface Task {
  id: string
  status: string
  workspace: string
}

interface CheckRun {
  status: string
  tries: number
  worker_id: string | null
}

const checksOf = async (id: string) => (await system.client.ok<{ items: CheckRun[] }>('GET', `/tasks/${id}/checks`)).items

/** The processes of the check, in the order in which they were started. */
function processesIn(folder: string): number[] {
  const path = join(folder, 'executed')
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').map(Number) : []
}

describe('a check whose worker is killed', () => {
  it('is executed once more by another worker, has one end, and leaves no process behind', { timeout: 90_000 }, async () => {
    const task = await system.client.ok<Task>('POST', '/tasks', {
      body: { title: 'Wait', instructions: 'Wait until you are let go.', acceptance_criteria: [{ text: 'It is let go', check: 'held' }], review: 'auto' },
    })
    await system.client.ok('POST', `/tasks/${task.id}/dispatch`, { body: { runner: 'where' } })
    const [first] = await until('the check is executed', () => {
      const started = processesIn(task.workspace)
      return started.length === 1 ? started : null
    })
    const [running] = await checksOf(task.id)
    expect(running).toMatchObject({ status: 'running', tries: 1 })
    await system.workerOf(running?.worker_id ?? null).child.end('SIGKILL')
    await until('its program is gone', () => !isAlive(first as number))

    // Another worker may take it when the lease of 20 seconds is over: now.
    await system.admin`update check_runs set lease_expires_at = muster_now() where task_id = ${task.id}`
    await until('the check is executed again', () => processesIn(task.workspace).length === 2)
    expect(await checksOf(task.id)).toMatchObject([{ status: 'running', tries: 2 }])
    expect(await system.client.ok<Task>('GET', `/tasks/${task.id}`)).toMatchObject({ status: 'in_review' })
    writeFileSync(join(task.workspace, 'go'), '')
    await until('the task is completed', async () => (await system.client.ok<Task>('GET', `/tasks/${task.id}`)).status === 'completed')
    expect(await checksOf(task.id)).toMatchObject([{ status: 'met', tries: 2 }])
    expect(processesIn(task.workspace)).toHaveLength(2)
    expect(await system.admin`select from evaluations where task_id = ${task.id}`).toHaveLength(2)
  })
})
