import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_EVERY_MS = 20
const TIMEOUT_MS = 20_000

/**
 * Waits for something to become true, looking again and again: for a row, a file, a process. Never used to let time pass.
 *
 * @param what what is waited for, as the message says it when it does not come
 * @param probe what is looked at; anything but undefined, null and false ends the wait and is the answer
 */
export async function until<T>(what: string, probe: () => Promise<T> | T, timeoutMs = TIMEOUT_MS): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs
  let last: unknown
  for (;;) {
    try {
      const value = await probe()
      if (value !== undefined && value !== null && value !== false) return value as NonNullable<T>
      last = value
    } catch (error) {
      last = error
    }
    if (performance.now() > deadline) {
      throw new Error(`Waited ${timeoutMs / 1_000} s in vain until ${what}.${last instanceof Error ? ` The last look failed: ${last.message}` : ''}`)
    }
    await sleep(LOOK_EVERY_MS)
  }
}

/** A promise that must be kept in time: the message says what did not happen. */
export async function within<T>(what: string, timeoutMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not happen within ${timeoutMs / 1_000} s.`)), timeoutMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether a process is there and is not just waiting to be collected by its parent. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return !isZombie(pid)
}

function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    return false
  }
}
