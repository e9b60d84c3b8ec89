/** Resolves after so many milliseconds, or rejects with the reason of the signal. */
export function pause(ms: number, signal?: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

const FIRST_MS = 250
const LONGEST_MS = 8000

/** How long to wait before try `count` + 1: twice as long each time, and a random part of it, so that clients do not return at once. */
export function backoffMs(count: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** count) * (0.5 + Math.random() / 2)
}
