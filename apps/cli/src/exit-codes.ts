import { MusterError } from '@muster/client'

/** What a script can decide by. They are part of the interface: docs/cli.md lists them. */
export const EXIT = {
  ok: 0,
  /** The server refused, or something went wrong that no other code names. */
  failed: 1,
  /** The command was not understood. Nothing was sent. */
  usage: 2,
  notFound: 3,
  /** The key is missing, wrong, or may not do this. */
  denied: 4,
  /** Something else has changed or exists already. */
  conflict: 5,
  /** The server could not be reached, is not ready, or did not answer in time. */
  unreachable: 6,
  /** The run, or the work, ended as failed. */
  runFailed: 7,
  runCancelled: 8,
  /** What was waited for did not end in the time given. */
  waitedLong: 9,
  interrupted: 130,
} as const

/** An end with an exit code of its own. The message goes to standard error. */
export class CliError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message)
    this.exitCode = exitCode
  }
}

/** A command that was not understood. */
export const usageError = (message: string): CliError => new CliError(message, EXIT.usage)

export function exitCodeOf(error: unknown): number {
  if (error instanceof CliError) return error.exitCode
  if (!(error instanceof MusterError)) return EXIT.failed
  if (error.is('connection_failed', 'timed_out', 'unavailable') || error.status === 502 || error.status === 503 || error.status === 504) return EXIT.unreachable
  if (error.status === 401 || error.status === 403) return EXIT.denied
  if (error.status === 404 || error.status === 410) return EXIT.notFound
  if (error.status === 409 || error.status === 412 || error.status === 428) return EXIT.conflict
  return EXIT.failed
}

/** The exit code of a run that has ended. */
export function exitCodeOfRun(status: string): number {
  if (status === 'completed') return EXIT.ok
  return status === 'cancelled' ? EXIT.runCancelled : EXIT.runFailed
}
