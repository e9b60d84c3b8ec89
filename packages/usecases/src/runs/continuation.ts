/** What the next attempt of a run goes on from, after the answer to its question. */
export interface Continuation {
  /** The attempt that ended to wait. */
  attempt: number
  /** As its runner wrote it, for the same runner to read; null if it left nothing but its folder. */
  state: string | null
}

/** A continuation in the form in which `bodies` keep it. */
export function writeContinuation({ attempt, state }: Continuation): string {
  return JSON.stringify({ attempt, state })
}

export function readContinuation(text: string): Continuation {
  return JSON.parse(text) as Continuation
}
