import type { RunUpdate } from '@muster/runners'
import type { RenderedUpdate, RunPrompt, RunSignal } from '@muster/usecases'

/**
 * The updates of one run, on their way to its runner: each once and in order, although a repeated checkpoint returns some again, and the prompt may
 * contain them already. The iteration ends with the run.
 */
export class RunUpdates implements AsyncIterable<RunUpdate> {
  readonly #waiting: RunUpdate[] = []
  readonly #passedIds = new Set<string>()
  /** Passed, and not known to stand in a request to a model. */
  readonly #undeliveredIds = new Set<string>()
  /** The last note that is known; updates of the task are numbered separately. */
  #noteSeq: number
  /** What the prompt contains; null until it has been built. */
  #inPrompt: RunPrompt['delivered'] | null = null
  #cameBeforePrompt = false
  #ended = false
  #wake = () => {}

  /** @param noteSeq the last note at the claim */
  constructor(noteSeq: number) {
    this.#noteSeq = noteSeq
  }

  /** Whether a checkpoint has to fetch what this signal announces. */
  announces(signal: RunSignal): boolean {
    if (signal.updateSeq <= this.#noteSeq && signal.taskHasUpdates !== true) return false
    if (this.#inPrompt === null) {
      // The prompt would contain it as well, if it came in time.
      this.#cameBeforePrompt = true
      return false
    }
    this.#noteSeq = Math.max(this.#noteSeq, signal.updateSeq)
    return true
  }

  /** The prompt has been built. Returns whether a checkpoint has to look for what it does not contain. */
  promptBuilt(delivered: RunPrompt['delivered']): boolean {
    this.#inPrompt = delivered
    this.#noteSeq = Math.max(this.#noteSeq, delivered.noteSeq)
    return this.#cameBeforePrompt
  }

  /** Passes on what the run has not received, and returns it. */
  pass(updates: readonly RenderedUpdate[]): RenderedUpdate[] {
    const fresh: RenderedUpdate[] = []
    for (const update of updates) {
      const { updateId, taskId, seq, text, delivery } = update
      const deliveredSeq = taskId === null ? this.#inPrompt?.noteSeq : this.#inPrompt?.taskSeq
      if (seq <= (deliveredSeq ?? 0) || this.#passedIds.has(updateId)) continue
      this.#passedIds.add(updateId)
      this.#undeliveredIds.add(updateId)
      if (taskId === null) this.#noteSeq = Math.max(this.#noteSeq, seq)
      this.#waiting.push({ updateId, text, delivery })
      fresh.push(update)
    }
    this.#wake()
    return fresh
  }

  /** An update reaches the work in another way. It is not passed on, unless it was already. */
  withhold(updateId: string): void {
    this.#passedIds.add(updateId)
    this.#undeliveredIds.delete(updateId)
    const place = this.#waiting.findIndex((update) => update.updateId === updateId)
    if (place >= 0) this.#waiting.splice(place, 1)
  }

  /** The runner has put an update into a request, or has written it to its program. */
  delivered(updateId: string): void {
    this.#undeliveredIds.delete(updateId)
  }

  /** What a checkpoint has fetched, and the work never received. */
  get undeliveredIds(): string[] {
    return [...this.#undeliveredIds]
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
