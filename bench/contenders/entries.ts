import { setTimeout as sleep } from 'node:timers/promises'
import type { ServingChild } from '../instrument/child.ts'
import { machineMs } from '../instrument/clock.ts'
import type { Entry } from './contender.ts'

const LOOK_MS = 25
const PATIENCE_MS = 60_000

/**
 * Waits until workers have entered `count` runs since the last call, or have also left them, and takes what they noted.
 *
 * @throws Error when that takes longer than a minute
 */
export async function takeEntries(workers: readonly ServingChild[], count: number, state: 'entered' | 'left' = 'entered'): Promise<Entry[]> {
  const untilMs = machineMs() + PATIENCE_MS
  for (;;) {
    const counts = await Promise.all(workers.map((worker) => worker.call<Record<typeof state, number>>('count')))
    const total = counts.reduce((sum, each) => sum + each[state], 0)
    if (total >= count) break
    if (machineMs() > untilMs) throw new Error(`only ${total} of ${count} runs were ${state} within ${PATIENCE_MS / 1_000} s`)
    await sleep(LOOK_MS)
  }
  return (await Promise.all(workers.map((worker) => worker.call<Entry[]>('take')))).flat()
}
