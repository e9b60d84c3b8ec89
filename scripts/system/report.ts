/** Errors whose message is for the user of the command. By name, because not every installation has all their packages. */
const EXPLAINED = new Set(['ExplainedError', 'SettingsError', 'LocalPostgresError', 'UnusableDatabaseError', 'UnmigratedDatabaseError', 'DomainError'])

/** Prints why a command failed: an explained error without its stack, a defect with it. */
export function reportFailure(error: unknown): void {
  if (!(error instanceof Error)) {
    console.error(error)
    return
  }
  const isExplained = EXPLAINED.has(error.name) || isBadOption(codeOf(error))
  // The message names the file that could not be written.
  if (codeOf(error) === 'ENOSPC') console.error(`\nThe disk is full: make room on it, then try again (${error.message}).`)
  else console.error(`\n${isExplained ? error.message : (error.stack ?? error.message)}`)
}

/** The message of `parseArgs` names the unknown option. */
function isBadOption(code: string): boolean {
  return code.startsWith('ERR_PARSE_ARGS_')
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
