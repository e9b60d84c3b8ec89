/** Calls once when its time has passed, without the time in which it was paused. */
export class PausableTimer {
  readonly #onTimeout: () => void
  #leftMs: number
  #startedMs = 0
  #timer: NodeJS.Timeout | null = null

  constructor(ms: number, onTimeout: () => void) {
    this.#leftMs = ms
    this.#onTimeout = onTimeout
    this.resume()
  }

  pause(): void {
    if (this.#timer === null) return
    clearTimeout(this.#timer)
    this.#timer = null
    this.#leftMs -= performance.now() - this.#startedMs
  }

  resume(): void {
    if (this.#timer !== null) return
    this.#startedMs = performance.now()
    this.#timer = setTimeout(this.#onTimeout, Math.max(0, this.#leftMs))
  }
}
