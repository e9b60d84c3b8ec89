import type { System } from './system.ts'

/** One Ctrl-C may arrive twice: from the terminal, and passed on by the process that started this one. */
const SAME_SIGNAL_MS = 300

/** Ends everything in order on the first Ctrl-C or SIGTERM, and at once on the second. Exits 0, or 1 when it was forced or failed. */
export function endOnSignals({ stop, kill }: Pick<System, 'stop' | 'kill'>, say: (line: string) => void): void {
  let firstAt: number | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    const now = performance.now()
    if (firstAt === undefined) {
      firstAt = now
      say(`${signal}: ending the API and the worker, then PostgreSQL; once more ends them at once`)
      stop().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error)
          process.exit(1)
        },
      )
    } else if (now - firstAt > SAME_SIGNAL_MS) {
      say(`${signal} again: ending at once`)
      void kill().finally(() => process.exit(1))
    }
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
}
