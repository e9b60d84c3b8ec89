/**
 * Milliseconds of this machine's monotonic clock. All processes read the same one, so times taken in two of them may be
 * compared; the wall clock may be set meanwhile, and `performance.now()` begins anew in each process.
 */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** The wall clock at a moment of the machine's own, now unless told: for what is due at a time of day. Only true for moments close by. */
export function wallMs(atMachineMs = machineMs()): number {
  return Date.now() - (machineMs() - atMachineMs)
}
