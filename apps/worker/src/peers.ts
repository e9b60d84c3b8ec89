/**
 * Says which worker a waiting subtask calls, so that one of many workers asks the database for it, and not all of them. Every worker computes it from
 * the ids alone: for each subtask, they stand in another order (rendezvous hashing), and the first is called. Workers that know of different others
 * may both come, or neither: then the subtask is found by the next look of any of them.
 */
export class Peers {
  readonly #own: number
  #others: readonly number[] = []

  constructor(workerId: string) {
    this.#own = hash(workerId)
  }

  /** Takes the ids of the other workers that take work. */
  know(workerIds: readonly string[]): void {
    this.#others = workerIds.map(hash)
  }

  get areThere(): boolean {
    return this.#others.length > 0
  }

  /** Whether a subtask calls this worker. */
  isCalledBy(subtaskId: string): boolean {
    const [own, subtask] = [this.#own, hash(subtaskId)]
    return this.#others.every((other) => mix(other, subtask) <= mix(own, subtask))
  }
}

/** FNV-1a of an id, in 32 bits. */
function hash(id: string): number {
  let sum = 0x811c9dc5
  for (let place = 0; place < id.length; place += 1) sum = Math.imul(sum ^ id.charCodeAt(place), 0x01000193)
  return sum >>> 0
}

/** One number of two, all of whose bits depend on both: the last steps of MurmurHash3. */
function mix(worker: number, subtask: number): number {
  let bits = worker ^ Math.imul(subtask, 0x9e3779b1)
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
