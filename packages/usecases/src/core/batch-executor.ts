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

/** With so many items waiting, another batch starts at once. A batch costs as much as a dozen of its items, so fewer wait for the running one. */
const WORTH_A_BATCH = 12
/** How long an item waits for the running batch, which may itself be waiting for a lock. */
const PATIENCE_MS = { large: 100, otherwise: 20 }
/** An executor that prefers large batches rests after a batch of so many items. Fewer are no burst: a rest would only delay the next one. */
const WORTH_A_REST = 4
/** It rests for so many times as long as the batch took. */
const REST_FACTOR = 2
/** The longest rest. */
const REST_MS_MAX = 20

export interface BatchExecutorOptions<Item> {
  /** Batches that run at the same time. Items that come in the meantime wait for the next batch. */
  batchesAtOnce: number
  batchSizeMax: number
  /** How long the items of a batch may be together, if there is more than one. */
  length?: { max: number; of: (item: Item) => number }
  /**
   * Whether large batches matter more than an early start. After a batch of four or more, the next one waits for as many items, up to 20 ms. A second
   * batch starts beside a running one only if it is full, or if an item has waited for 100 ms.
   *
   * Without this, a busy machine does less the more it has to do: callers get less of the processor, so fewer items come while a batch runs, and
   * smaller batches cost more of the processor for each item.
   */
  prefersLargeBatches?: boolean
}

interface Waiting<Item, Answer> {
  item: Item
  sinceMs: number
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

/**
 * Collects concurrent calls into batches, which share round trips and commits. A lone call runs at once and alone, unless the executor prefers large
 * batches and rests after one. If a batch fails, each of its items is tried alone.
 */
export class BatchExecutor<Item, Answer> {
  readonly #work: (items: readonly Item[]) => Promise<Outcome<Answer>[]>
  readonly #options: BatchExecutorOptions<Item>
  /** With so many items waiting, another batch starts at once. */
  readonly #worthABatch: number
  readonly #patienceMs: number
  readonly #waiting: Waiting<Item, Answer>[] = []
  #running = 0
  #isWatched = false
  /** Ends once so many items wait. */
  #rest: { enough: number; end: () => void } | null = null

  constructor(work: (items: readonly Item[]) => Promise<Outcome<Answer>[]>, options: BatchExecutorOptions<Item>) {
    this.#work = work
    this.#options = options
    this.#worthABatch = options.prefersLargeBatches ? options.batchSizeMax : WORTH_A_BATCH
    this.#patienceMs = options.prefersLargeBatches ? PATIENCE_MS.large : PATIENCE_MS.otherwise
  }

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const count = this.#waiting.push({ item, sinceMs: performance.now(), resolve, reject })
      if (this.#rest !== null) {
        if (count >= this.#rest.enough) this.#rest.end()
      } else if (this.#running === 0 || count === this.#worthABatch) this.#begin()
      else this.#watch()
    })
  }

  #begin(): void {
    if (this.#running === this.#options.batchesAtOnce || this.#waiting.length === 0) return
    this.#running += 1
    // After all input that has arrived has been read.
    setImmediate(() => void this.#drain())
  }

  /** Begins another batch when an item has waited long enough. Items that wait are taken by a batch that has begun, by the end of a rest, or by this timer. */
  #watch(): void {
    const [oldest] = this.#waiting
    if (this.#isWatched || oldest === undefined) return
    this.#isWatched = true
    const leftMs = oldest.sinceMs + this.#patienceMs - performance.now()
    setTimeout(
      () => {
        this.#isWatched = false
        if (this.#isOverdue()) this.#begin()
        this.#watch()
      },
      leftMs > 0 ? leftMs : this.#patienceMs,
    )
  }

  #isOverdue(): boolean {
    const [oldest] = this.#waiting
    return oldest !== undefined && performance.now() - oldest.sinceMs >= this.#patienceMs
  }

  async #drain(): Promise<void> {
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      // What is left need not wait for this batch.
      if (this.#waiting.length >= this.#worthABatch) this.#begin()
      else this.#watch()
      const startMs = performance.now()
      await this.#run(batch)
      if (this.#options.prefersLargeBatches) {
        // The other running batch takes what comes, unless it hangs: with few items each, both would cost more.
        if (this.#running > 1 && this.#waiting.length < this.#worthABatch && !this.#isOverdue()) break
        if (this.#running === 1) await this.#restAfter(batch.length, performance.now() - startMs)
      }
    }
    this.#running -= 1
  }

  async #restAfter(size: number, tookMs: number): Promise<void> {
    if (size < WORTH_A_REST || this.#waiting.length >= size) return
    await new Promise<void>((resolve) => {
      this.#rest = { enough: size, end: resolve }
      setTimeout(resolve, Math.min(tookMs * REST_FACTOR, REST_MS_MAX))
    })
    this.#rest = null
  }

  #take(): Waiting<Item, Answer>[] {
    const { batchSizeMax, length } = this.#options
    if (length === undefined) return this.#waiting.splice(0, batchSizeMax)
    let count = 0
    let sum = 0
    for (const { item } of this.#waiting) {
      sum += length.of(item)
      if (count === batchSizeMax || (count > 0 && sum > length.max)) break
      count += 1
    }
    return this.#waiting.splice(0, count)
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
