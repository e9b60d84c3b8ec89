import type { DrainMode } from '@muster/domain'
import type { ActiveRuns } from './active-runs.ts'
import type { WorkerDeps } from './deps.ts'

/** What takes work, and what happens to the work when it is stopped: judgements and checks are given back. */
interface Takers {
  claiming: { stop(): Promise<void> }
  judging: { stop(): Promise<void> }
  checking: { stop(): Promise<void> }
}

/**
 * Ends the taking of work while the process lives on. It lasts as long as the process: one that is started in its place is another worker. Schedules,
 * the relay and maintenance go on, because they hold nothing.
 */
export class Draining {
  readonly #deps: WorkerDeps
  readonly #runs: ActiveRuns
  readonly #takers: Takers
  #mode: DrainMode | null = null
  #isDone = false

  constructor(deps: WorkerDeps, runs: ActiveRuns, takers: Takers) {
    this.#deps = deps
    this.#runs = runs
    this.#takers = takers
  }

  /** Whether this worker holds no work, and takes none any more. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Called with each heartbeat: what has begun goes on, and what has failed begins again. */
  begin(mode: DrainMode): void {
    if (this.#mode === 'release' || this.#mode === mode) return
    this.#mode = mode
    this.#deps.log.info({ worker_id: this.#deps.workerId, runs: mode }, 'draining')
    this.#drain(mode).catch((error: unknown) => {
      this.#mode = null
      this.#deps.log.warn({ err: error, worker_id: this.#deps.workerId }, 'could not drain; trying again')
    })
  }

  async #drain(mode: DrainMode): Promise<void> {
    const { claiming, judging, checking } = this.#takers
    await claiming.stop()
    // The answer to a claim may have been lost.
    await this.#runs.releaseUnknown()
    if (mode === 'release') await this.#runs.releaseAll()
    await Promise.all([judging.stop(), checking.stop(), this.#runs.allEnded()])
    if (this.#isDone) return
    this.#isDone = true
    this.#deps.log.info({ worker_id: this.#deps.workerId }, 'drained')
  }
}
