/** Errors whose message is written for the person who called the command. By name: their packages are not all part of every installation. */
const EXPLAINED = new Set(['ExplainedError', 'SettingsError', 'LocalPostgresError'])

/** Prints why a command failed: what a person can act on in its own words, a mistake of ours with its stack. */
export function reportFailure(error: unknown): void {
  if (!(error instanceof Error)) {
    console.error(error)
    return
  }
  const isExplained = EXPLAINED.has(error.name) || isBadOption(error)
  console.error(`\n${isExplained ? error.message : (error.stack ?? error.message)}`)
}

/** `parseArgs` says well enough which option it does not know. */
function isBadOption(error: Error): boolean {
  return ((error as NodeJS.ErrnoException).code ?? '').startsWith('ERR_PARSE_ARGS_')
}
