import { setTimeout as sleep } from 'node:timers/promises'
import { BatchExecutor, isDatabaseUnavailable, type RunEnd, type Settlement, settleRuns } from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'

const BATCHES = {
  /** While one batch of a project waits for the disk, another works. */
  batchesAtOnce: 2,
  batchSizeMax: 200,
  /** In characters of results, because a batch of them is one parameter of one statement. */
  length: { max: 8_388_608, of: ({ end }: RunEnd) => (end.kind === 'completed' ? end.result.length : 0) },
}
const RETRY_MS = { first: 50, max: 2_000 }

/**
 * Collects the ends of runs and settles those of a project in batches of up to 200, one commit each. While batches commit, the next one fills.
 * During an outage of the database, such as a full disk, it keeps the ends and tries again until they are stored or `giveUp` is aborted.
 */
export class Settler {
  readonly #deps: WorkerDeps
  readonly #giveUp: AbortSignal
  readonly #executors = new Map<string, BatchExecutor<RunEnd, Settlement>>()

  constructor(deps: WorkerDeps, giveUp: AbortSignal) {
    this.#deps = deps
    this.#giveUp = giveUp
  }

  /** Resolves when the end is durable, or known to be fenced. An end that cannot be stored is replaced by a failure. */
  async settle(projectId: string, end: RunEnd): Promise<Settlement> {
    const executor = this.#executorOf(projectId)
    try {
      return await executor.add(end)
    } catch (error) {
      if (isDatabaseUnavailable(error)) return 'fenced'
      this.#deps.log.error({ err: error, subtask_id: end.subtaskId }, 'failed to store a result')
    }
    const { usage: _, ...ref } = end
    // The text of the database names its files, tables and values: only the log gets it.
    const message = 'The result could not be stored. The log of the worker has the cause.'
    try {
      return await executor.add({ ...ref, end: { kind: 'errored', error: message, retryable: false, partialResult: null } })
    } catch (error) {
      if (isDatabaseUnavailable(error)) return 'fenced'
      this.#deps.log.error({ err: error, subtask_id: end.subtaskId }, 'failed to store the failure of a result as well')
      // Its lease expires, and another attempt follows.
      return 'fenced'
    }
  }

  #executorOf(projectId: string): BatchExecutor<RunEnd, Settlement> {
    const known = this.#executors.get(projectId)
    if (known !== undefined) return known
    const executor = new BatchExecutor<RunEnd, Settlement>((ends) => this.#store(projectId, ends), BATCHES)
    this.#executors.set(projectId, executor)
    return executor
  }

  /** @throws what is not an outage, and an outage once `giveUp` is aborted: then the executor tries no other end of the batch */
  async #store(projectId: string, ends: readonly RunEnd[]): Promise<{ answer: Settlement }[]> {
    for (let delayMs = RETRY_MS.first; ; delayMs = Math.min(delayMs * 2, RETRY_MS.max)) {
      try {
        const settlements = await settleRuns(this.#deps, projectId, ends)
        return ends.map(({ subtaskId }) => ({ answer: settlements.get(subtaskId) ?? 'fenced' }))
      } catch (error) {
        if (!isDatabaseUnavailable(error)) throw error
        this.#deps.log.warn({ err: error, project_id: projectId, ends: ends.length }, 'failed to store results; trying again')
        if (!(await this.#pause(delayMs))) throw error
      }
    }
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
