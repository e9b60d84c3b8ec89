/** Errors whose message is written for the person who called the command. By name: their packages are not all part of every installation. */
const EXPLAINED = new Set(['ExplainedError', 'SettingsError', 'LocalPostgresError', 'DomainError'])

/** What PostgreSQL and the network answer to a wrong address, in terms of what to change. */
const DATABASE_PROBLEMS: Record<string, string> = {
  ECONNREFUSED: 'Nothing listens at the address of the database: start PostgreSQL there, or correct DATABASE_URL.',
  ENOTFOUND: 'The host of the database is unknown: correct DATABASE_URL.',
  CONNECT_TIMEOUT: 'The database does not answer: see that PostgreSQL runs at the address of DATABASE_URL and can be reached.',
  '28P01': 'The database refuses the password: correct DATABASE_URL or MIGRATE_DATABASE_URL.',
  '28000': 'The database refuses this login: correct DATABASE_URL or MIGRATE_DATABASE_URL.',
  '3D000': 'The database does not exist yet: make it with npm run migrate.',
  '42P01': 'The database is not at this version: bring it there with npm run migrate.',
  '22023': 'The roles of this version are missing in the database: make them with npm run migrate.',
  '42501': 'This login may not do that: npm run migrate needs MIGRATE_DATABASE_URL, with a role that may create tables and roles.',
}

/** Prints why a command failed: what a person can act on in its own words, a mistake of ours with its stack. */
export function reportFailure(error: unknown): void {
  if (!(error instanceof Error)) {
    console.error(error)
    return
  }
  const code = codeOf(error)
  // What the database said may be wrapped by what was asked of it.
  const [cause, causeCode] = [error.cause instanceof Error ? error.cause : error, codeOf(error.cause)]
  const databaseProblem = EXPLAINED.has(error.name) ? undefined : (DATABASE_PROBLEMS[code] ?? DATABASE_PROBLEMS[causeCode])
  if (databaseProblem !== undefined) console.error(`\n${databaseProblem} (${cause.message || code || causeCode})`)
  else console.error(`\n${EXPLAINED.has(error.name) || isBadOption(code) ? error.message : (error.stack ?? error.message)}`)
}

/** `parseArgs` says well enough which option it does not know. */
function isBadOption(code: string): boolean {
  return code.startsWith('ERR_PARSE_ARGS_')
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
