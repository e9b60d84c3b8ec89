import { describeOutage, isDatabaseUnavailable } from '@muster/db'
import type { Log } from './ctx.ts'

/** Logs what fails in the background of a process: a failure of its own each time, an outage of the database when it begins and when it ends. */
export interface FailureReport {
  /** @param what completes "could not …" */
  failed(what: string): (error: unknown) => void
  /** Notes that the database has answered, when `work` resolves. */
  watch<T>(work: Promise<T>): Promise<T>
}

export function createFailureReport(log: Log): FailureReport {
  let isAway = false
  return {
    failed: (what) => (error) => {
      if (!isDatabaseUnavailable(error)) return log.error({ err: error }, `could not ${what}`)
      log[isAway ? 'debug' : 'warn']({ err: error }, `could not ${what}: ${describeOutage(error)}`)
      isAway = true
    },
    async watch(work) {
      const result = await work
      if (isAway) log.info({}, 'The database can be used again.')
      isAway = false
      return result
    },
  }
}

/** Full, over quota, read-only, failing, or too many open files: what passes without a change of the request. */
const CODES = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE'])

/** Whether a file of this machine could not be written for a reason that may pass. */
export function isDiskFailure(error: unknown): boolean {
  return error instanceof Error && CODES.has((error as NodeJS.ErrnoException).code ?? '')
}
