/**
 * Shares one lookup among concurrent callers, and never returns an answer that began before the call: a caller that comes while a lookup
 * runs waits for the next one, together with all others.
 */
export class FreshLookup<Answer> {
  readonly #look: (key: string) => Promise<Answer>
  readonly #underWay = new Map<string, { current: Promise<Answer>; next: Promise<Answer> | null }>()

  constructor(look: (key: string) => Promise<Answer>) {
    this.#look = look
  }

  ask(key: string): Promise<Answer> {
    const entry = this.#underWay.get(key)
    if (entry === undefined) return this.#start(key)
    entry.next ??= entry.current.then(
      () => this.#start(key),
      () => this.#start(key),
    )
    return entry.next
  }

  #start(key: string): Promise<Answer> {
    const current = this.#look(key)
    const entry = { current, next: null }
    this.#underWay.set(key, entry)
    const end = () => {
      if (this.#underWay.get(key) === entry && entry.next === null) this.#underWay.delete(key)
    }
    current.then(end, end)
    return current
  }
}
