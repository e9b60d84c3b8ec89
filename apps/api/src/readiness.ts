import { DomainError } from '@muster/domain'
import { checkWrites, type Deps, describeOutage, isDatabaseUnavailable } from '@muster/usecases'
import { within } from './http/deadline.ts'

/** Longest time the database may take to answer before the process counts as not ready. */
const READY_MS = 2_000

/** Whether this process can serve. */
export interface Readiness {
  /** Why it cannot, or null when it can. */
  reason(): Promise<string | null>
  /** The start is complete. */
  markStarted(): void
}

/** @param findMissing what the schema of the database lacks, or null */
export function createReadiness(deps: Deps, findMissing: () => Promise<string | null>): Readiness {
  let isStarted = false
  let underWay: Promise<string | null> | undefined
  const askDatabase = async () => {
    const missing = await findMissing()
    if (missing === null) await checkWrites(deps)
    return missing
  }
  return {
    async reason() {
      // Callers share one query: a public endpoint must not be a way to keep the database busy.
      underWay ??= askDatabase().finally(() => {
        underWay = undefined
      })
      const reason = await within(READY_MS, underWay).catch((error: unknown) => {
        // It did not answer in time.
        if (error instanceof DomainError) return 'The database is not reachable at the moment.'
        if (isDatabaseUnavailable(error)) return describeOutage(error)
        throw error
      })
      return reason ?? (isStarted ? null : 'The server is still starting.')
    },
    markStarted() {
      isStarted = true
    },
  }
}
