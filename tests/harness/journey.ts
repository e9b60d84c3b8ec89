import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Muster } from '@muster/client'
import type { System } from './system.ts'

/**
 * Runs the program of a journey. When it prints `holding <id of a subtask>`, the worker of that subtask is killed, another one is started, and the next attempt
 * is let go on.
 *
 * @returns the JSON of its last line
 * @throws Error with what it printed to standard error, if it did not end with 0
 */
export async function runJourney(
  { system, muster }: { system: System; muster: Muster },
  [program, ...args]: readonly [string, ...string[]],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<unknown> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (text) => {
    errors += text
  })
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve))
  let last = ''
  for await (const line of createInterface({ input: child.stdout })) {
    last = line
    const id = /^holding (.*)/.exec(line)?.[1]
    if (id === undefined) continue
    await system.ledger.written(id, 'start', 1)
    await system.workerOf((await muster.subtasks.get(id)).worker_id).child.end('SIGKILL')
    await system.startWorker()
    await system.ledger.written(id, 'start', 2)
    system.ledger.release(id)
  }
  const code = await exited
  if (code !== 0) throw new Error(`${program} ended with ${code}:\n${errors}`)
  return JSON.parse(last)
}
