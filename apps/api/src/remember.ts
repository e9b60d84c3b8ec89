/** Repeats a look-up at most once in `forMs` milliseconds. */
export function remember<T>(look: () => T, forMs: number): () => T {
  let known: { value: T; untilMs: number } | undefined
  return () => {
    if (known === undefined || performance.now() > known.untilMs) known = { value: look(), untilMs: performance.now() + forMs }
    return known.value
  }
}
