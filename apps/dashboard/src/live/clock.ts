/** Also counts the time in which the machine sleeps, as `performance.now()` does not. In milliseconds. */
export const wallClockMs = (): number => Date.now()
