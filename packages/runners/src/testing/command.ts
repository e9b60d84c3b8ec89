import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Guard, RunnerLog } from '../command/guard.ts'
import { createCommandRunner } from '../command/runner.ts'
import type { Brief, Run, RunBudget, RunStep, RunUpdate, SentPrompt, StopReason, UsageDelta } from '../port.ts'

/** A run whose other side is the test: what a runner says is collected, and can be waited for. */
export interface TestRun {
  run: Run
  steps: RunStep[]
  delivered: string[]
  acknowledged: string[]
  usage: UsageDelta[]
  folders: string[]
  prompts: SentPrompt[]
  /** How many updates the runner has taken. */
  readonly takenUpdates: number
  update(text: string, updateId?: string, delivery?: RunUpdate['delivery']): void
  stop(reason?: StopReason): void
  /** Resolves to the content of the first step with this text in it, also one of the past. */
  stepWith(text: string): Promise<string>
  [Symbol.dispose](): void
}

const BRIEF: Omit<Brief, 'subtaskId' | 'sessionId'> = {
  attempt: 1,
  agentId: 'default',
  parentSessionId: 'parent-1',
  taskId: null,
  text: 'You are a background subtask. Task: count to three.',
  task: 'count to three',
  criteria: [{ id: 'c1', text: 'Every number is named' }],
  requiredOutputs: [{ name: 'count', description: 'how many', schema: { type: 'integer' } }],
  revision: 2,
  feedback: null,
  model: null,
  metadata: { origin: 'test' },
}

export const SILENT_LOG: RunnerLog = { debug: () => {}, warn: () => {} }

export function createTestRun(brief: Partial<Brief> = {}, budget: Partial<RunBudget> = {}): TestRun {
  // A number of its own, which identifies processes, also those of tests that run at the same time.
  const subtaskId = randomUUID()
  const workspace = mkdtempSync(join(tmpdir(), 'muster runner-'))
  const stopping = new AbortController()
  const steps: RunStep[] = []
  const delivered: string[] = []
  const acknowledged: string[] = []
  const usage: UsageDelta[] = []
  const folders: string[] = []
  const prompts: SentPrompt[] = []
  const queue: RunUpdate[] = []
  let waiters: (() => void)[] = []
  let takenUpdates = 0
  const wake = () => {
    for (const waiter of waiters.splice(0)) waiter()
  }
  const change = () => new Promise<void>((resolve) => waiters.push(resolve))

  async function* updates(): AsyncGenerator<RunUpdate> {
    while (true) {
      const next = queue.shift()
      if (next === undefined) await change()
      else {
        takenUpdates += 1
        yield next
      }
    }
  }

  return {
    run: {
      brief: { ...BRIEF, subtaskId, sessionId: `subtask-${subtaskId}`, ...brief },
      budget: { steps: 50, tokens: null, costUsdMicros: null, ...budget },
      workspace,
      ownsWorkspace: true,
      access: { url: 'http://127.0.0.1:7300', token: 'secret-token' },
      signal: stopping.signal,
      updates: updates(),
      step(step) {
        steps.push(step)
        wake()
      },
      prompt: (sent) => void prompts.push(sent),
      usage: (delta) => void usage.push(delta),
      alsoUses: (folder) => void folders.push(folder),
      fetchUpdates: () => new Promise((resolve) => setImmediate(resolve)),
      ask: () => Promise.reject(new Error('this run cannot ask')),
      delivered: (updateId) => void delivered.push(updateId),
      acknowledge: (updateId) => void acknowledged.push(updateId),
    },
    steps,
    delivered,
    acknowledged,
    usage,
    folders,
    prompts,
    get takenUpdates() {
      return takenUpdates
    },
    update(text, updateId = `update-${takenUpdates + queue.length + 1}`, delivery = 'next_step') {
      queue.push({ updateId, text, delivery })
      wake()
    },
    stop: (reason = 'cancelled') => stopping.abort(reason),
    async stepWith(text) {
      while (true) {
        const found = steps.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))).find((content) => content.includes(text))
        if (found !== undefined) return found
        await change()
      }
    },
    [Symbol.dispose]() {
      waiters = []
      rmSync(workspace, { recursive: true, force: true })
    },
  }
}

/** The arguments that make a runner of a few lines of JavaScript. */
export function script(source: string): string[] {
  return [process.execPath, '-e', source]
}

/** A runner over a program of the test's own. */
export function testRunner(
  guard: Guard,
  argv: string[],
  settings: { cwd?: string; env?: Record<string, string>; steerable?: boolean; lingerMs?: number } = {},
) {
  const { lingerMs, ...rest } = settings
  const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nowhere', LANG: 'C.UTF-8', DATABASE_URL: 'postgres://secret' }
  return createCommandRunner(
    'sample',
    { argv, ...rest },
    { guard, log: SILENT_LOG, environment, baseFolder: tmpdir(), ...(lingerMs !== undefined && { lingerMs }) },
  )
}

/** True while a process is there that is more than an entry waiting to be collected. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return !isZombie(pid)
}

/** Resolves when a process is gone. */
export function gone(pid: number): Promise<void> {
  return until(() => !isRunning(pid))
}

/** Resolves when something holds that sends no event, such as the end of another owner's process. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

function isZombie(pid: number): boolean {
  try {
    return /\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    // No /proc here, or the process has gone meanwhile; the next look will tell.
    return false
  }
}
