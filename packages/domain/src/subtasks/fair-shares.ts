/** When a project has its next turns, for the claim: `lead`, then every `step`. Of a project that is not listed: 0, and 1. */
export interface Share {
  projectId: string
  /** How far its next start is ahead of the virtual time. */
  lead: number
  /** What one start costs: 1 divided by its weight. */
  step: number
}

/**
 * Whose turn it is among projects that share the workers: start-time fair queueing (Goyal, Vin, Cheng 1996), with starts of subtasks as what is shared.
 * Each start of a project has a virtual time: the end of its previous one, or the present virtual time if that is later. The earliest goes first, and is
 * the virtual time from then on. So a project that was quiet is next, one that waits with others gets starts in proportion to its weight, and none
 * saves up turns while it needs none. Each worker process has its own: all take turns in the same way, so the sum is fair too.
 */
export class FairShares {
  readonly #weights: Readonly<Record<string, number>>
  #virtualTime = 0
  /** The end of the last start, of projects for which it is later than the virtual time. The others are as if they were new. */
  readonly #ends = new Map<string, number>()

  /** @param weights by project id; 1 where absent */
  constructor(weights: Readonly<Record<string, number>> = {}) {
    this.#weights = weights
  }

  /** The shares that are not the ordinary one. */
  current(): Share[] {
    const projectIds = new Set([...this.#ends.keys(), ...Object.keys(this.#weights)])
    return [...projectIds].map((projectId) => ({
      projectId,
      lead: Math.max(0, (this.#ends.get(projectId) ?? 0) - this.#virtualTime),
      step: this.#stepOf(projectId),
    }))
  }

  /** Counts starts of one claim: the project of each. */
  start(projectIds: readonly string[]): void {
    let last = this.#virtualTime
    for (const projectId of projectIds) {
      const startsAt = Math.max(this.#virtualTime, this.#ends.get(projectId) ?? 0)
      this.#ends.set(projectId, startsAt + this.#stepOf(projectId))
      last = Math.max(last, startsAt)
    }
    this.#virtualTime = last
    for (const [projectId, end] of this.#ends) if (end <= last) this.#ends.delete(projectId)
  }

  #stepOf(projectId: string): number {
    return 1 / (this.#weights[projectId] ?? 1)
  }
}
