import { createHash } from 'node:crypto'

/** A stream of choices that its seed and name alone decide: another one for every actor, so that none depends on who comes first. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number
  /** A whole number, both ends included. */
  whole(from: number, to: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  /** One of the names, as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name
  shuffled<T>(items: readonly T[]): T[]
}

export function createRandom(seed: number, ...name: (string | number)[]): Random {
  let state = createHash('sha256')
    .update(`${seed}/${name.join('/')}`)
    .digest()
    .readUInt32LE(0)
  // mulberry32: small, fast and even enough to choose among a few things.
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const whole = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    whole,
    chance: (probability) => next() < probability,
    pick<T>(items: readonly T[]) {
      return items[whole(0, items.length - 1)] as T
    },
    weighted<Name extends string>(weights: Readonly<Record<Name, number>>) {
      const entries = Object.entries(weights) as [Name, number][]
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [name, weight] of entries) {
        left -= weight
        if (left < 0) return name
      }
      return (entries.at(-1) as [Name, number])[0]
    },
    shuffled<T>(items: readonly T[]) {
      const rest = [...items]
      for (let place = rest.length - 1; place > 0; place -= 1) {
        const other = whole(0, place)
        ;[rest[place], rest[other]] = [rest[other] as T, rest[place] as T]
      }
      return rest
    },
  }
}
