import { isDatabaseUnavailable } from '@muster/db'

export interface BatchExecutorOptions {
  /** Lots that are under way at once. What comes while they are waits for the next, and goes with it. */
  batchesAtOnce: number
  batchSizeMax: number
}

type Outcome<Answer> = { answer: Answer } | { error: unknown }

interface Waiting<Item, Answer> {
  item: Item
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

/**
 * Does together what many ask for at once, so that they share packets and commits. With little to do, everything is done at once and
 * alone; what comes while others are at it is collected. Where a lot fails, each of its items is done alone, and fails alone.
 */
export class BatchExecutor<Item, Answer> {
  readonly #work: (items: readonly Item[]) => Promise<Outcome<Answer>[]>
  readonly #options: BatchExecutorOptions
  readonly #waiting: Waiting<Item, Answer>[] = []
  #underWay = 0

  constructor(work: (items: readonly Item[]) => Promise<Outcome<Answer>[]>, options: BatchExecutorOptions) {
    this.#work = work
    this.#options = options
  }

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#waiting.length === 1) this.#begin()
    })
  }

  #begin(): void {
    if (this.#underWay === this.#options.batchesAtOnce) return
    this.#underWay += 1
    // After everything that has arrived by now has been read.
    setImmediate(() => void this.#drain())
  }

  async #drain(): Promise<void> {
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      // What is too much for one lot need not wait for it.
      if (this.#waiting.length > 0) this.#begin()
      await this.#do(batch)
    }
    this.#underWay -= 1
  }

  #take(): Waiting<Item, Answer>[] {
    return this.#waiting.splice(0, this.#options.batchSizeMax)
  }

  async #do(batch: Waiting<Item, Answer>[]): Promise<void> {
    try {
      const outcomes = await this.#work(batch.map((waiting) => waiting.item))
      for (const [place, waiting] of batch.entries()) {
        const outcome = outcomes[place] as Outcome<Answer>
        if ('error' in outcome) waiting.reject(outcome.error)
        else waiting.resolve(outcome.answer)
      }
    } catch (error) {
      // While the database is away, asking again for each would only take longer to say so.
      if (batch.length > 1 && !isDatabaseUnavailable(error)) for (const waiting of batch) await this.#do([waiting])
      else for (const waiting of batch) waiting.reject(error)
    }
  }
}
