import { type ClaimedRun, listHeldRuns } from '@muster/usecases'
import { ActiveRun } from './active-run.ts'
import type { WorkerDeps } from './deps.ts'
import type { Settler } from './settler.ts'

export interface RunHooks {
  /** The run is over and its end is stored: its capacity is free. */
  onEnd: () => void
  /** The run was released because this machine could not write its files. */
  onDiskFailure: () => void
}

/** The runs of this worker. */
export class ActiveRuns {
  readonly #deps: WorkerDeps
  readonly #settler: Settler
  readonly #runs = new Map<string, ActiveRun>()
  readonly #ending = new Set<Promise<void>>()

  constructor(deps: WorkerDeps, settler: Settler) {
    this.#deps = deps
    this.#settler = settler
  }

  /** Capacity in use. A run takes its share until its end is stored. */
  get inUse(): number {
    return this.#ending.size
  }

  all(): ActiveRun[] {
    return [...this.#runs.values()]
  }

  find(subtaskIds: readonly string[]): ActiveRun[] {
    return subtaskIds.flatMap((id) => this.#runs.get(id) ?? [])
  }

  start(claimed: ClaimedRun, hooks: RunHooks): void {
    const ended = this.#run(claimed, hooks)
    this.#ending.add(ended)
    void ended.finally(() => {
      this.#ending.delete(ended)
      hooks.onEnd()
    })
  }

  /** Stops all runs and releases their subtasks. Resolves when that is stored. */
  async releaseAll(): Promise<void> {
    this.#deps.log.info({ runs: this.#runs.size }, 'releasing runs')
    for (const run of this.#runs.values()) run.stop('released')
    await Promise.allSettled(this.#ending)
  }

  /** Resolves when nothing runs any more and every end is stored. */
  async allEnded(): Promise<void> {
    while (this.#ending.size > 0) await Promise.allSettled(this.#ending)
  }

  /** Releases what this worker has claimed without receiving the answer. It would wait for its lease to lapse. */
  async releaseUnknown(): Promise<void> {
    const held = await listHeldRuns(this.#deps, this.#deps.workerId)
    const unknown = held.filter((ref) => this.#runs.get(ref.subtaskId)?.attempt !== ref.attempt)
    await Promise.all(unknown.map(({ projectId, ...ref }) => this.#settler.settle(projectId, { ...ref, end: { kind: 'released' } })))
  }

  async #run(claimed: ClaimedRun, { onDiskFailure }: RunHooks): Promise<void> {
    const { id, attempt, taskId, projectId } = claimed
    const runner = this.#deps.runners.get(claimed.runner)
    if (runner === undefined) {
      await this.#settler.settle(projectId, { subtaskId: id, attempt, taskId, end: { kind: 'released' } })
      return
    }
    const run = new ActiveRun(this.#deps, claimed, runner, onDiskFailure)
    // A worker that slept beyond its lease may claim what it still runs: the older attempt is no longer its own.
    this.#runs.get(id)?.stop('lease_lost')
    this.#runs.set(id, run)
    try {
      await run.complete(this.#settler)
    } finally {
      if (this.#runs.get(id) === run) this.#runs.delete(id)
    }
  }
}
