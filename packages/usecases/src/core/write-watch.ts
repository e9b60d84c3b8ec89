import { type Database, maintenance } from '@muster/db'

/** For how long the database has taken every write that this process tried. */
export class WriteWatch {
  readonly #nowMs: () => number
  #sinceMs: number | null

  /** @param sinceMs null where the process does not know yet */
  constructor(nowMs: () => number = () => performance.now(), sinceMs: number | null = null) {
    this.#nowMs = nowMs
    this.#sinceMs = sinceMs
  }

  /** Milliseconds since the first write that succeeded after the start of the process or after a failure; 0 where the last one failed. */
  get steadyMs(): number {
    return this.#sinceMs === null ? 0 : this.#nowMs() - this.#sinceMs
  }

  succeeded(): void {
    this.#sinceMs ??= this.#nowMs()
  }

  failed(): void {
    this.#sinceMs = null
  }
}

/**
 * Writes to the database as requests do, and records whether that worked. Requests alone do not tell: on a full disk, only writes that
 * need new space fail.
 *
 * @throws what the database answers
 */
export async function checkWrites(deps: { dispatchDb: Database; writes: WriteWatch }): Promise<void> {
  try {
    await maintenance.checkWrites(deps.dispatchDb.sql)
    deps.writes.succeeded()
  } catch (error) {
    deps.writes.failed()
    throw error
  }
}
