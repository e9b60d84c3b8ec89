/** What was found to be wrong, by the name of the promise that it breaks. */
export class Findings {
  readonly #broken = new Map<string, { count: number; details: string[] }>()
  readonly #held = new Map<string, number>()
  readonly #shown: number

  constructor(shown = 8) {
    this.#shown = shown
  }

  /** The promise is broken, once for each call. */
  broke(promise: string, detail: string): void {
    const found = this.#broken.get(promise) ?? { count: 0, details: [] }
    found.count += 1
    if (found.details.length < this.#shown) found.details.push(detail)
    this.#broken.set(promise, found)
  }

  /** The promise was looked at for this many things. */
  looked(promise: string, count: number): void {
    this.#held.set(promise, (this.#held.get(promise) ?? 0) + count)
  }

  /** Looks at a promise by the rows that break it. */
  none(promise: string, lookedAt: number, broken: readonly string[]): void {
    this.looked(promise, lookedAt)
    for (const detail of broken) this.broke(promise, detail)
  }

  get violations(): number {
    let sum = 0
    for (const { count } of this.#broken.values()) sum += count
    return sum
  }

  list(): { promise: string; lookedAt: number; broken: number; details: string[] }[] {
    const names = new Set([...this.#held.keys(), ...this.#broken.keys()])
    return [...names].map((promise) => {
      const found = this.#broken.get(promise)
      return { promise, lookedAt: this.#held.get(promise) ?? found?.count ?? 0, broken: found?.count ?? 0, details: found?.details ?? [] }
    })
  }
}
