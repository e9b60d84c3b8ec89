/** Errors whose message is written for the person who called the command. By name: their packages are not all part of every installation. */
const EXPLAINED = new Set(['ExplainedError', 'SettingsError', 'LocalPostgresError', 'UnusableDatabaseError', 'UnmigratedDatabaseError', 'DomainError'])

/** Prints why a command failed: what a person can act on in its own words, a mistake of ours with its stack. */
export function reportFailure(error: unknown): void {
  if (!(error instanceof Error)) {
    console.error(error)
    return
  }
  const isExplained = EXPLAINED.has(error.name) || isBadOption(codeOf(error))
  // A file could not be written; the message names it.
  if (codeOf(error) === 'ENOSPC') console.error(`\nThe disk is full: make room on it, then try again (${error.message}).`)
  else console.error(`\n${isExplained ? error.message : (error.stack ?? error.message)}`)
}

/** `parseArgs` says well enough which option it does not know. */
function isBadOption(code: string): boolean {
  return code.startsWith('ERR_PARSE_ARGS_')
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
