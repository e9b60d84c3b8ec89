/** As PostgreSQL's own clients mean them: `require` encrypts and checks nothing. */
const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

export interface TlsRules {
  mode: (typeof TLS_MODES)[number]
  /** A file of certificates that may sign that of the server. Absent: the authorities that Node.js knows. */
  rootCertificateFile?: string
}

/** The address of a PostgreSQL, as `DATABASE_URL` and its like have it, in its parts. */
export interface DatabaseAddress {
  /** An IPv6 address without its brackets. */
  host: string
  port: number
  user: string
  password: string
  /** Empty if the address names none. */
  database: string
  /** Whether the driver prepares its statements. Absent: what fits the address. */
  prepare?: boolean
  tls: TlsRules
  /** Settings of PostgreSQL for each session, such as `application_name`. */
  parameters: Record<string, string>
}

const FORM = 'must look like postgres://user:password@host:5432/database'
const POSTGRES = /^postgres(?:ql)?:$/
const DEFAULT_PORT = 5432

/** @throws Error with one clause that says what is wrong, without the address */
export function parseDatabaseAddress(text: string): DatabaseAddress {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !POSTGRES.test(url.protocol)) throw new Error(FORM)
  const { prepare, sslmode, ssl, sslrootcert, ...parameters } = Object.fromEntries(url.searchParams)
  if (prepare !== undefined && prepare !== 'true' && prepare !== 'false') throw new Error('prepare must be true or false')
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || DEFAULT_PORT),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    ...(prepare === undefined ? {} : { prepare: prepare === 'true' }),
    tls: parseTls(sslmode ?? (ssl === 'true' ? 'verify-full' : ssl), sslrootcert),
    parameters,
  }
}

function parseTls(mode = 'disable', rootCertificateFile?: string): TlsRules {
  const known = TLS_MODES.find((each) => each === mode)
  if (known === undefined) throw new Error(`sslmode must be one of ${TLS_MODES.join(', ')}`)
  if (rootCertificateFile === undefined || rootCertificateFile === 'system') return { mode: known }
  if (!known.startsWith('verify')) throw new Error('sslrootcert is of use only with sslmode=verify-full or verify-ca: no other mode checks the certificate')
  return { mode: known, rootCertificateFile }
}

/** What is wrong with an address, or null. */
export function problemOfDatabaseAddress(text: string): string | null {
  try {
    parseDatabaseAddress(text)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

/** The same server, another database. */
export function withDatabaseName(text: string, database: string): string {
  const url = new URL(text)
  url.pathname = `/${encodeURIComponent(database)}`
  return url.href
}
