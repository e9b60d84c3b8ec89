import { existsSync } from 'node:fs'
import type { Link } from './link.ts'
import { createRandom } from './random.ts'

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'
const OFFSET_MAX_MS = 5_000
/** This much faster runs the clock of one machine. */
const DRIFT = 1.01

/** What sets the machine of a process apart from the others: its way to the database, and its clock. */
export interface Machine {
  name: string
  link: Link
  /** Its clock minus the real one; null where clocks cannot be made to differ. */
  offsetMs: number | null
  /** How fast its clock goes, where 1 is right. */
  rate: number
  /** Environment of its process. */
  environment: Record<string, string>
}

/** Why the clocks of processes cannot be made to differ here; null if they can. */
export function missingClocks(): string | null {
  return existsSync(LIBRARY) ? null : `WITHOUT CLOCKS THAT DIFFER: ${LIBRARY} is missing (apt-get install libfaketime)`
}

export function makeMachine(seed: number, name: string): Machine {
  const random = createRandom(seed, 'machine', name)
  const link: Link = {
    delayMs: random.whole(2, 40),
    jitterMs: random.whole(1, 10),
    loss: random.whole(5, 10) / 1_000,
    random: createRandom(seed, 'link', name),
  }
  const offsetMs = random.whole(-OFFSET_MAX_MS, OFFSET_MAX_MS)
  const rate = name === 'worker-1' ? DRIFT : 1
  if (missingClocks() !== null) return { name, link, offsetMs: null, rate: 1, environment: {} }
  const offset = `${offsetMs < 0 ? '-' : '+'}${(Math.abs(offsetMs) / 1_000).toFixed(3)}s`
  const environment = {
    LD_PRELOAD: LIBRARY,
    FAKETIME: rate === 1 ? offset : `${offset} x${rate}`,
    // Timers must keep the real time: only the time of day is wrong on such a machine.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  return { name, link, offsetMs, rate, environment }
}

export function describeMachine({ name, link, offsetMs, rate }: Machine): string {
  const clock =
    offsetMs === null ? 'right clock' : `clock ${offsetMs < 0 ? '' : '+'}${(offsetMs / 1_000).toFixed(1)} s${rate === 1 ? '' : ` and ${rate} times as fast`}`
  return `${name}: ${link.delayMs} to ${link.delayMs + link.jitterMs} ms each way, ${(link.loss * 100).toFixed(1)} % lost, ${clock}`
}
