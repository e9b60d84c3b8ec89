import type { Demand } from './demand.ts'

/** Lets many requests wait for one signal without asking the database each. */
export interface Waiters {
  /** Resolves at the next `wake`, after `timeoutMs`, or when one of the signals is aborted; never rejects. */
  wait(timeoutMs: number, ...signals: AbortSignal[]): Promise<void>
  wake(): void
  size(): number
}

/** @param demand counts the waiting requests */
export function createWaiters(demand?: Demand): Waiters {
  const waiting = new Set<() => void>()
  return {
    wait(timeoutMs, ...signals) {
      return new Promise((resolve) => {
        const release = demand?.need()
        const done = () => {
          release?.()
          clearTimeout(timer)
          waiting.delete(done)
          for (const signal of signals) signal.removeEventListener('abort', done)
          resolve()
        }
        const timer = setTimeout(done, timeoutMs)
        waiting.add(done)
        for (const signal of signals) {
          if (signal.aborted) return done()
          signal.addEventListener('abort', done)
        }
      })
    },
    wake() {
      for (const done of [...waiting]) done()
    },
    size: () => waiting.size,
  }
}
