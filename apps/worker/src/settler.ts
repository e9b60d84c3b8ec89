import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { isDatabaseUnavailable, type RunEnd, type Settlement, settleRuns } from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'

const BATCH_MAX = 200
/** Batches of one project that are stored at once: while one waits for the disk, another is being worked on. */
const BATCHES_AT_ONCE = 2
/** Ends that are worth another batch at once: a batch costs as much as a dozen of its ends, so fewer wait for the one that is under way. */
const WORTH_A_BATCH = 12
/** But no longer than this: it may be waiting for somebody's lock. */
const PATIENCE_MS = 20
/** Results are kept in memory until they are stored; a batch of them is one parameter of one statement. */
const BATCH_BYTES_MAX = 8_388_608
const RETRY_MS_MAX = 2_000

interface Waiting {
  end: RunEnd
  done: (settlement: Settlement) => void
  /** Its own end could not be stored; `end` says so instead. */
  isReplaced?: boolean
}

/**
 * Collects the ends of runs and settles those of a project together: one commit for up to 200. While batches commit, the next fills up.
 * Ends outlive an outage of the database, such as a full disk: they are tried again until they are stored or `giveUp` is aborted.
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

  /** Resolves when the end is durable, or is known to be too late. */
  settle(projectId: string, end: RunEnd): Promise<Settlement> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(projectId) ?? []
      queue.push({ end, done: resolve })
      this.#waiting.set(projectId, queue)
      // Whoever begins takes all that ends in the same moment, and what comes later is for another one.
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
    // After everything that ends in this moment. What comes later collects by itself, while batches are under way.
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

  async #store(projectId: string, batch: Waiting[]): Promise<void> {
    for (let delayMs = 50; ; delayMs = Math.min(delayMs * 2, RETRY_MS_MAX)) {
      try {
        const settlements = await settleRuns(
          this.#deps,
          projectId,
          batch.map(({ end }) => end),
        )
        for (const { end, done } of batch) done(settlements.get(end.subtaskId) ?? 'fenced')
        return
      } catch (error) {
        if (!isDatabaseUnavailable(error)) {
          await this.#isolate(projectId, batch, error)
          return
        }
        this.#deps.log.warn({ err: error, project_id: projectId, ends: batch.length }, 'could not store results; trying again')
        if (!(await this.#pause(delayMs))) {
          for (const { done } of batch) done('fenced')
          return
        }
      }
    }
  }

  /** One end that cannot be stored must not keep the others from it: each is settled alone, and fails alone. */
  async #isolate(projectId: string, batch: Waiting[], error: unknown): Promise<void> {
    if (batch.length > 1) {
      for (const waiting of batch) await this.#store(projectId, [waiting])
      return
    }
    const [waiting] = batch
    if (waiting === undefined) return
    const { usage: _, ...ref } = waiting.end
    if (waiting.isReplaced) {
      // Its lease will lapse, and another attempt is made of it.
      this.#deps.log.error({ err: error, subtask_id: ref.subtaskId }, 'the failure of a result could not be stored either')
      waiting.done('fenced')
      return
    }
    this.#deps.log.error({ err: error, subtask_id: ref.subtaskId }, 'a result could not be stored')
    // What the database said names its files, tables and values: that is for the log alone.
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
