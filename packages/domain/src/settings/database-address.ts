/** As PostgreSQL's own clients mean them: `require` encrypts and checks nothing. */
const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

export interface TlsRules {
  mode: (typeof TLS_MODES)[number]
  /** A file of certificates that may sign that of the server. Absent: the authorities that Node.js knows. */
  rootCertificateFile?: string
}

/** The address of a PostgreSQL, as `DATABASE_URL` and its like have it, in its parts. */
export interface DatabaseAddress {
  /** In the order in which they are tried. Several are a primary and its standbys, of which the one that takes writes is wanted. IPv6 addresses have no brackets. */
  hosts: { host: string; port: number }[]
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
/** Scheme, login and hosts, and the rest. */
const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*)(.*)$/
const DEFAULT_PORT = 5432

/** @throws Error with one clause that says what is wrong, without the address */
export function parseDatabaseAddress(text: string): DatabaseAddress {
  const [url, ...others] = urlsOf(text)
  const { prepare, target_session_attrs: wanted, sslmode, ssl, sslrootcert, ...parameters } = Object.fromEntries(url.searchParams)
  if (wanted !== undefined && wanted !== 'read-write') throw new Error('target_session_attrs must be read-write, which it is wherever there are several hosts')
  if (prepare !== undefined && prepare !== 'true' && prepare !== 'false') throw new Error('prepare must be true or false')
  return {
    hosts: [url, ...others].map(({ hostname, port }) => ({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || DEFAULT_PORT) })),
    user: decode(url.username),
    password: decode(url.password),
    database: decode(url.pathname.slice(1)),
    ...(prepare === undefined ? {} : { prepare: prepare === 'true' }),
    tls: parseTls(sslmode ?? (ssl === 'true' ? 'verify-full' : ssl), sslrootcert),
    parameters,
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (error) {
    throw new Error('has a % that does not begin an escape such as %40: write % as %25', { cause: error })
  }
}

/** One address for each host. */
function urlsOf(text: string): [URL, ...URL[]] {
  const [, scheme, authority = '', rest] = PARTS.exec(text) ?? []
  const hostsAt = authority.lastIndexOf('@') + 1
  const [first = '', ...others] = authority.slice(hostsAt).split(',')
  const urlOf = (host: string): URL => {
    const each = `${scheme}${authority.slice(0, hostsAt)}${host}${rest}`
    if (scheme === undefined || !URL.canParse(each) || (others.length > 0 && host === '')) throw new Error(FORM)
    return new URL(each)
  }
  return [urlOf(first), ...others.map(urlOf)]
}

function parseTls(wanted?: string, rootCertificateFile?: string): TlsRules {
  const isSystem = rootCertificateFile === 'system'
  const mode = wanted ?? (isSystem ? 'verify-full' : 'disable')
  const known = TLS_MODES.find((each) => each === mode)
  if (known === undefined) throw new Error(`sslmode must be one of ${TLS_MODES.join(', ')}`)
  // As PostgreSQL's own clients do: anybody can get a certificate of these authorities, for a name of their own.
  if (isSystem && known !== 'verify-full') throw new Error('sslrootcert=system needs sslmode=verify-full, which it means where there is no sslmode')
  if (rootCertificateFile === undefined || isSystem) return { mode: known }
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
  return text.replace(/^([^/]+\/\/[^/?#]*)(?:\/[^?#]*)?/, (_, server) => `${server}/${encodeURIComponent(database)}`)
}
