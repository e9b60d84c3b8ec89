import type { RunUpdate } from '@muster/runners'

/** Updates on their way to one run: put in as they arrive, read in order by its runner, ended with the run. */
export class RunFeed implements AsyncIterable<RunUpdate> {
  readonly #waiting: RunUpdate[] = []
  #ended = false
  #wake = () => {}

  push(update: RunUpdate): void {
    this.#waiting.push(update)
    this.#wake()
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunUpdate> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) yield next
      else if (this.#ended) return
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }
}
