import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { isolating, type RunEnd, type Settlement, settleRuns } from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'

const BATCH_MAX = 200
/** Batches of one project at the same time: while one waits for the disk, another works. */
const BATCHES_AT_ONCE = 2
/** With this many ends another batch starts at once. A batch costs as much as a dozen of its ends, so fewer wait for the running one. */
const WORTH_A_BATCH = 12
/** But no longer than this, because the running batch may be waiting for a lock. */
const PATIENCE_MS = 20
/** Results are kept in memory until they are stored; a batch of them is one parameter of one statement. */
const BATCH_BYTES_MAX = 8_388_608
const RETRY_MS_MAX = 2_000

interface Waiting {
  end: RunEnd
  done: (settlement: Settlement) => void
  /** The original end could not be stored; `end` is the failure that replaces it. */
  isReplaced?: boolean
}

/**
 * Collects the ends of runs and settles those of a project in batches of up to 200, one commit each. While batches commit, the next one fills.
 * During an outage of the database, such as a full disk, it keeps the ends and tries again until they are stored or `giveUp` is aborted.
 */
export class Settler {
  readonly #deps: WorkerDeps
  readonly #giveUp: AbortSignal
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #busy = new Map<string, number>()

  constructor(deps: WorkerDeps, giveUp: AbortSignal) {
    this.#deps = deps
    this.#giveUp = giveUp
  }

  /** Resolves when the end is durable, or known to be fenced. */
  settle(projectId: string, end: RunEnd): Promise<Settlement> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(projectId) ?? []
      queue.push({ end, done: resolve })
      this.#waiting.set(projectId, queue)
      // The first batch takes all ends of this moment; later ones wait for another.
      const isFirst = queue.length === 1
      if (!this.#busy.has(projectId) || queue.length === WORTH_A_BATCH) this.#begin(projectId)
      else if (isFirst) setTimeout(() => this.#begin(projectId), PATIENCE_MS)
    })
  }

  #begin(projectId: string): void {
    const busy = this.#busy.get(projectId) ?? 0
    if (busy === BATCHES_AT_ONCE || !this.#waiting.has(projectId)) return
    this.#busy.set(projectId, busy + 1)
    void this.#drain(projectId)
  }

  async #drain(projectId: string): Promise<void> {
    // After all ends of this moment. Later ones collect while batches run.
    await nextTurn()
    for (let batch = this.#takeBatch(projectId); batch.length > 0; batch = this.#takeBatch(projectId)) await this.#store(projectId, batch)
    const busy = (this.#busy.get(projectId) ?? 1) - 1
    if (busy > 0) this.#busy.set(projectId, busy)
    else this.#busy.delete(projectId)
  }

  #takeBatch(projectId: string): Waiting[] {
    const queue = this.#waiting.get(projectId) ?? []
    let bytes = 0
    let count = 0
    for (const { end } of queue) {
      bytes += end.end.kind === 'completed' ? end.end.result.length : 0
      if (count === BATCH_MAX || (count > 0 && bytes > BATCH_BYTES_MAX)) break
      count += 1
    }
    const batch = queue.splice(0, count)
    if (queue.length === 0) this.#waiting.delete(projectId)
    return batch
  }

  async #store(projectId: string, batch: readonly Waiting[]): Promise<void> {
    for (let delayMs = 50; ; delayMs = Math.min(delayMs * 2, RETRY_MS_MAX)) {
      try {
        const settleAll = (waiting: readonly Waiting[]) =>
          settleRuns(
            this.#deps,
            projectId,
            waiting.map(({ end }) => end),
          )
        for (const part of await isolating(batch, settleAll)) {
          if ('error' in part) await this.#replace(projectId, part.items[0] as Waiting, part.error)
          else for (const { end, done } of part.items) done(part.answer.get(end.subtaskId) ?? 'fenced')
        }
        return
      } catch (error) {
        this.#deps.log.warn({ err: error, project_id: projectId, ends: batch.length }, 'failed to store results; trying again')
        if (!(await this.#pause(delayMs))) {
          for (const { done } of batch) done('fenced')
          return
        }
      }
    }
  }

  /** Stores a failure instead of an end that cannot be stored. */
  async #replace(projectId: string, waiting: Waiting, error: unknown): Promise<void> {
    const { usage: _, ...ref } = waiting.end
    if (waiting.isReplaced) {
      // Its lease expires, and another attempt follows.
      this.#deps.log.error({ err: error, subtask_id: ref.subtaskId }, 'failed to store the failure of a result as well')
      waiting.done('fenced')
      return
    }
    this.#deps.log.error({ err: error, subtask_id: ref.subtaskId }, 'failed to store a result')
    // The text of the database names its files, tables and values: only the log gets it.
    const message = 'The result could not be stored. The log of the worker has the cause.'
    waiting.isReplaced = true
    waiting.end = { ...ref, end: { kind: 'errored', error: message, retryable: false, partialResult: null } }
    await this.#store(projectId, [waiting])
  }

  async #pause(ms: number): Promise<boolean> {
    try {
      await sleep(ms, undefined, { signal: this.#giveUp })
      return true
    } catch {
      return false
    }
  }
}
