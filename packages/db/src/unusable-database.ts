import { type DatabaseAddress, parseDatabaseAddress, socketOf } from '@muster/domain'
import { REPLACED_MIGRATIONS, TAKEOVER_FROM } from './migration-files.ts'

/** The setting that holds the address of a database, for error messages. */
export type DatabaseVariable = 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'MIGRATE_DATABASE_URL'

/** Why a database cannot be used, and what to do about it. `cause` is the error of the driver, if there was one. */
export class UnusableDatabaseError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UnusableDatabaseError'
  }
}

/** The database lacks migrations of this version. A process may wait for `npm run migrate`. */
export class UnmigratedDatabaseError extends UnusableDatabaseError {
  constructor(place: DatabasePlace, options?: ErrorOptions) {
    super(`The database ${place.database} at ${place.server} has not been migrated to this version: run \`npm run migrate\`.`, options)
    this.name = 'UnmigratedDatabaseError'
  }
}

/** The parts of a database address that may be shown. Never the password. */
export interface DatabasePlace {
  server: string
  database: string
  login: string
}

export function placeOf(url: string): DatabasePlace {
  const { hosts, database, user } = parseDatabaseAddress(url)
  return { server: hosts.map((host) => socketOf(host) ?? serverOf(host)).join(' or '), database, login: user }
}

function serverOf({ host, port }: DatabaseAddress['hosts'][number]): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

type Explain = (place: DatabasePlace & { variable: DatabaseVariable; detail: string }) => string

const notListening: Explain = ({ server, variable }) => `No PostgreSQL listens at ${server} (${variable}): start it there, or correct ${variable}.`
const unanswered: Explain = ({ server, variable }) =>
  `PostgreSQL at ${server} (${variable}) does not answer: check that it runs there and that this machine can reach it, or correct ${variable}.`
const unknownHost: Explain = ({ server, variable }) => `The host of ${server} (${variable}) is unknown: correct ${variable}.`
const untrusted: Explain = ({ server, variable, detail }) =>
  `The certificate of PostgreSQL at ${server} is not from an authority that is trusted (${detail}): name the file of its authority as sslrootcert in ${variable}. Without it, the authorities of Node.js are trusted.`
const outOfDate: Explain = ({ server, detail }) =>
  `The certificate of PostgreSQL at ${server} is out of date (${detail}): renew it there, or set the clock of this machine.`
const diskFull: Explain = ({ server }) => `The disk of PostgreSQL at ${server} is full: make room on it, then try again.`
const busy: Explain = ({ server, detail }) => `PostgreSQL at ${server} takes no connections at the moment (${detail}): try again shortly.`

/** A connection without the settings that a session is to have from its start. */
const pooled: Explain = ({ server, variable }) =>
  variable === 'DATABASE_URL'
    ? `DATABASE_URL leads to a connection pooler at ${server}, behind which a session keeps none of its settings: set DATABASE_DIRECT_URL to the address of PostgreSQL itself, see docs/databases.md.`
    : `${variable} leads to a connection pooler at ${server}: set it to the address of PostgreSQL itself, see docs/databases.md.`

const refusedParameter: Explain = ({ server, variable, detail }) =>
  `The pooler at ${server} refuses a parameter of ${variable} (${detail}): remove it from ${variable}, or name it in ignore_startup_parameters of that pooler.`

/** Errors of PostgreSQL, the driver and the network at the start, by code. */
const EXPLAINED: Record<string, Explain> = {
  ECONNREFUSED: notListening,
  EACCES: ({ server, variable }) => `This user may not open the socket ${server} (${variable}): allow it there, or correct ${variable}.`,
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  CONNECT_TIMEOUT: unanswered,
  CONNECTION_CLOSED: unanswered,
  // The driver ends a connection to a server that takes no writes, where there are several.
  CONNECTION_DESTROYED: ({ server, variable }) => `No PostgreSQL at ${server} (${variable}) takes writes: promote a standby, or correct ${variable}.`,
  ECONNRESET: unanswered,
  EHOSTUNREACH: unanswered,
  ENETUNREACH: unanswered,
  ETIMEDOUT: unanswered,
  ENOSPC: diskFull,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ server, variable, detail }) =>
    `The certificate of PostgreSQL at ${server} is for another host (${detail}): write the name that it is for in ${variable}, or have one issued for this name.`,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_UNTRUSTED: untrusted,
  CERT_HAS_EXPIRED: outOfDate,
  CERT_NOT_YET_VALID: outOfDate,
  // Whatever PgBouncer refuses.
  '08P01': ({ server, variable, detail }) =>
    `The pooler or server at ${server} refuses the connection (${detail}): correct ${variable}, or the settings of that pooler.`,
  '28P01': ({ server, login, variable }) =>
    `PostgreSQL at ${server} refuses the login ${login}: the password in ${variable} is wrong, or the login does not exist (\`npm run migrate\` creates that of DATABASE_URL).`,
  '28000': ({ server, login, variable, detail }) =>
    `PostgreSQL at ${server} refuses the login ${login} (${detail}): correct ${variable} or the server's pg_hba.conf; \`npm run migrate\` creates the login of DATABASE_URL.`,
  '3D000': ({ server, database, variable }) =>
    `The database ${database} does not exist at ${server}: create it with \`npm run migrate\`, or correct ${variable}.`,
  '42501': ({ server, login, variable, detail }) =>
    `The login ${login} of ${variable} lacks a right at ${server} (${detail}): \`npm run migrate\` needs a login that may create databases and roles, and that owns existing tables.`,
  '53100': diskFull,
  '53300': busy,
  '57P01': busy,
  '57P03': busy,
  '25006': ({ server }) => `PostgreSQL at ${server} is read-only: connect to its primary, or make room on its disk if that is why.`,
}

/** Whether an error means that no server has made its Unix socket, or that too many connect to it at once. Other calls have the same codes for other things. */
export function isSocketAway(error: object): boolean {
  return 'syscall' in error && error.syscall === 'connect' && 'code' in error && (error.code === 'ENOENT' || error.code === 'EAGAIN')
}

/** How Node.js says that the server ended the connection when TLS was to begin. */
const NO_TLS = /before secure TLS connection was established/

/**
 * Turns an error of the driver into one that names the server and says what to do. Returns other errors unchanged.
 *
 * @param hasDirectUrl whether another variable has the address of PostgreSQL itself, so that `url` may be that of a pooler
 */
export function explainDatabaseError(error: unknown, url: string, variable: DatabaseVariable, hasDirectUrl = false): unknown {
  if (!(error instanceof Error) || error instanceof UnusableDatabaseError) return error
  const { code, message } = error as Error & { code?: unknown }
  // Without the cause: it is no outage, and no wait ends it.
  if (message.startsWith('unsupported startup parameter')) {
    return new UnusableDatabaseError((hasDirectUrl ? refusedParameter : pooled)({ ...placeOf(url), variable, detail: message }))
  }
  if (NO_TLS.test(message)) {
    return new UnusableDatabaseError(`PostgreSQL at ${placeOf(url).server} offers no TLS: switch ssl on there, or remove sslmode from ${variable}.`)
  }
  const explain = isSocketAway(error) ? notListening : typeof code === 'string' && Object.hasOwn(EXPLAINED, code) ? EXPLAINED[code] : undefined
  if (explain === undefined) return error
  return new UnusableDatabaseError(explain({ ...placeOf(url), variable, detail: message }), { cause: error })
}

/** @throws UnusableDatabaseError for a session that has not the settings with which it was opened */
export function requireSession(hasSettings: boolean, url: string, variable: DatabaseVariable): void {
  if (!hasSettings) throw new UnusableDatabaseError(pooled({ ...placeOf(url), variable, detail: '' }))
}

/** @throws UnusableDatabaseError for a server that is too old; `version` as `server_version_num` has it, such as 160004 */
export function requireServerVersion(version: number, { server }: DatabasePlace, variable: DatabaseVariable): void {
  if (version >= 160_000) return
  throw new UnusableDatabaseError(
    `PostgreSQL at ${server} (${variable}) is version ${Math.floor(version / 10_000)}, and Muster needs 16 or newer: upgrade that server, or use another one.`,
  )
}

/** @throws UnusableDatabaseError when the database has migrations that this version does not know */
export function requireKnownMigrations(applied: readonly string[], known: readonly string[], { server, database }: DatabasePlace): void {
  const newer = applied.filter((name) => !known.includes(name) && !REPLACED_MIGRATIONS.includes(name)).sort()
  if (newer.length === 0) return
  throw new UnusableDatabaseError(
    `The database ${database} at ${server} was migrated by a newer version of Muster (migration ${newer.at(-1)}): start that version or a newer one.`,
  )
}

/** @throws UnusableDatabaseError when the database of an earlier version lacks migrations whose SQL is gone */
export function requireTakeover(applied: readonly string[], { server, database }: DatabasePlace): void {
  if (applied.includes(TAKEOVER_FROM)) return
  throw new UnusableDatabaseError(
    `The database ${database} at ${server} ends at migration ${[...applied].sort().at(-1)}, and this version takes over databases from ${TAKEOVER_FROM} on: first run ` +
      `\`npm run migrate\` of a version that has drizzle/${TAKEOVER_FROM}.sql, then that of this version.`,
  )
}
