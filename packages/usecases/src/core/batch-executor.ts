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
/** But no longer than this, because the running batch may be waiting for a lock. */
const PATIENCE_MS = 20

export interface BatchExecutorOptions {
  /** Batches that run at the same time. Items that come in the meantime wait for the next batch. */
  batchesAtOnce: number
  batchSizeMax: number
}

interface Waiting<Item, Answer> {
  item: Item
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

/**
 * Collects concurrent calls into batches, which share round trips and commits. A lone call runs at once and alone. If a batch fails, each
 * of its items is tried alone.
 */
export class BatchExecutor<Item, Answer> {
  readonly #work: (items: readonly Item[]) => Promise<Outcome<Answer>[]>
  readonly #options: BatchExecutorOptions
  readonly #waiting: Waiting<Item, Answer>[] = []
  #running = 0

  constructor(work: (items: readonly Item[]) => Promise<Outcome<Answer>[]>, options: BatchExecutorOptions) {
    this.#work = work
    this.#options = options
  }

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const count = this.#waiting.push({ item, resolve, reject })
      if (this.#running === 0 || count === WORTH_A_BATCH) this.#begin()
      else if (count === 1) setTimeout(() => this.#begin(), PATIENCE_MS)
    })
  }

  #begin(): void {
    if (this.#running === this.#options.batchesAtOnce || this.#waiting.length === 0) return
    this.#running += 1
    // After all input that has arrived has been read.
    setImmediate(() => void this.#drain())
  }

  async #drain(): Promise<void> {
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      // The rest need not wait for this batch.
      if (this.#waiting.length >= WORTH_A_BATCH) this.#begin()
      else if (this.#waiting.length > 0) setTimeout(() => this.#begin(), PATIENCE_MS)
      await this.#run(batch)
    }
    this.#running -= 1
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
