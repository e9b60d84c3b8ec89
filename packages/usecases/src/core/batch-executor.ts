import { isDatabaseUnavailable } from '@muster/db'

export type Outcome<Answer> = { answer: Answer } | { error: unknown }

/** The outcome of work for some items of a batch: for all of them, or for one. */
export type Part<Item, Answer> = { items: readonly Item[] } & Outcome<Answer>

/**
 * Does the work of a batch at once. If it fails, does the work of each item alone, so that a bad item fails alone and stops no other. One
 * part for the whole batch, or one part per item.
 *
 * @throws the error of an outage: while the database is unavailable, trying each item alone would only take longer to fail
 */
export async function isolating<Item, Answer>(items: readonly Item[], work: (items: readonly Item[]) => Promise<Answer>): Promise<Part<Item, Answer>[]> {
  try {
    return [{ items, answer: await work(items) }]
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    if (items.length === 1) return [{ items, error }]
  }
  const parts: Part<Item, Answer>[] = []
  for (const item of items) parts.push(...(await isolating([item], work)))
  return parts
}

/** After a batch of so many items the executor rests. Fewer come each at its own time, and a rest would only delay the next one. */
const WORTH_A_REST = 4
/** A rest takes at most so many times as long as the batch before it, and no longer than this. */
const REST_SHARE = 2
const REST_MS_MAX = 20

export interface BatchExecutorOptions {
  /** Batches that run at the same time. Items that come in the meantime wait for the next batch. */
  batchesAtOnce: number
  batchSizeMax: number
  /** With so many items waiting, another batch starts at once. A batch costs as much as a dozen of its items, so fewer wait for the running one. 12 by default. */
  worthABatch?: number
  /** But no longer than this many milliseconds, because the running batch may be waiting for a lock. 20 by default. */
  patienceMs?: number
}

interface Waiting<Item, Answer> {
  item: Item
  sinceMs: number
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

/**
 * Collects concurrent calls into batches, which share round trips and commits. A lone call runs at once and alone. If a batch fails, each
 * of its items is tried alone.
 *
 * Under load each batch waits for as many items as the last one had, for a short time. Otherwise a busy machine does less the more it has to do: callers
 * get less of the processor, so fewer items come while a batch runs, so batches become smaller, and these take more of the processor for each item.
 */
export class BatchExecutor<Item, Answer> {
  readonly #work: (items: readonly Item[]) => Promise<Outcome<Answer>[]>
  readonly #options: Required<BatchExecutorOptions>
  readonly #waiting: Waiting<Item, Answer>[] = []
  #running = 0
  /** Ends once so many items wait. */
  #rest: { enough: number; end: () => void } | null = null

  constructor(work: (items: readonly Item[]) => Promise<Outcome<Answer>[]>, options: BatchExecutorOptions) {
    this.#work = work
    this.#options = { worthABatch: 12, patienceMs: 20, ...options }
  }

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const count = this.#waiting.push({ item, sinceMs: performance.now(), resolve, reject })
      if (this.#rest !== null) {
        if (count >= this.#rest.enough) this.#rest.end()
      } else if (this.#running === 0 || count === this.#options.worthABatch) this.#begin()
      else if (count === 1) this.#beginLater()
    })
  }

  #begin(): void {
    if (this.#running === this.#options.batchesAtOnce || this.#waiting.length === 0) return
    this.#running += 1
    // After all input that has arrived has been read.
    setImmediate(() => void this.#drain())
  }

  #beginLater(): void {
    setTimeout(() => {
      // Not for those who have come meanwhile: the batches between may have been quick.
      const [oldest] = this.#waiting
      if (oldest !== undefined && performance.now() - oldest.sinceMs >= this.#options.patienceMs - 1) this.#begin()
    }, this.#options.patienceMs)
  }

  async #drain(): Promise<void> {
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      // The rest need not wait for this batch.
      if (this.#waiting.length >= this.#options.worthABatch) this.#begin()
      else if (this.#waiting.length > 0) this.#beginLater()
      const startMs = performance.now()
      await this.#run(batch)
      if (this.#running === 1) await this.#restAfter(batch.length, performance.now() - startMs)
      // Another batch is running, and takes the next ones: with few items each, all would cost more.
      else if (this.#waiting.length < this.#options.worthABatch) break
    }
    this.#running -= 1
  }

  async #restAfter(size: number, tookMs: number): Promise<void> {
    if (size < WORTH_A_REST || this.#waiting.length >= size) return
    await new Promise<void>((resolve) => {
      this.#rest = { enough: size, end: resolve }
      setTimeout(resolve, Math.min(tookMs * REST_SHARE, REST_MS_MAX))
    })
    this.#rest = null
  }

  #take(): Waiting<Item, Answer>[] {
    return this.#waiting.splice(0, this.#options.batchSizeMax)
  }

  async #run(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    const work = (waiting: readonly Waiting<Item, Answer>[]) => this.#work(waiting.map(({ item }) => item))
    const parts = await isolating(batch, work).catch((error: unknown) => [{ items: batch, error }])
    for (const part of parts) {
      for (const [place, waiting] of part.items.entries()) {
        const outcome = 'error' in part ? part : (part.answer[place] as Outcome<Answer>)
        if ('error' in outcome) waiting.reject(outcome.error)
        else waiting.resolve(outcome.answer)
      }
    }
  }
}
