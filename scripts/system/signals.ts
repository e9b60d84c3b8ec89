import type { System } from './system.ts'

/** One Ctrl-C may arrive twice: from the terminal, and from the parent process. */
const SAME_SIGNAL_MS = 300

/**
 * Ends everything in order on the first Ctrl-C or SIGTERM, and at once on the second.
 *
 * @param exitCode after an end in order; otherwise it is 1
 */
export function endOnSignals({ stop, kill }: Pick<System, 'stop' | 'kill'>, say: (line: string) => void, exitCode = 0): void {
  let firstAt: number | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    const now = performance.now()
    if (firstAt === undefined) {
      firstAt = now
      say(`${signal}: ending the API and the worker, then PostgreSQL; once more ends them at once`)
      stop().then(
        () => process.exit(exitCode),
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
  // The processes take it, and would be left behind if it ended this one.
  process.on('SIGUSR2', () => say('SIGUSR2 changes the level of the log: send it to the API or the worker, whose pids are in their line "ready"'))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
}
