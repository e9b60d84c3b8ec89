/** The time of this machine, as its files have it. Everything else uses the clock of the database. */
export function machineNowMs(): number {
  return Date.now()
}
