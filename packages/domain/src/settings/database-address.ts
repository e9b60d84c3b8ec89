/** As PostgreSQL's own clients mean them: `require` encrypts and checks nothing. */
const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

export interface TlsRules {
  mode: (typeof TLS_MODES)[number]
  /** A file of certificates that may sign that of the server. Absent: the authorities that Node.js knows. */
  rootCertificateFile?: string
}

/** The address of a PostgreSQL, as `DATABASE_URL` and its like have it, in its parts. */
export interface DatabaseAddress {
  /**
   * In the order in which they are tried. Several are a primary and its standbys, of which the one that takes writes is wanted. IPv6 addresses have no
   * brackets. A host that begins with a slash is the folder of the server's Unix socket, and the only one.
   */
  hosts: { host: string; port: number }[]
  user: string
  password: string
  /** Empty if the address names none. */
  database: string
  /** Whether the driver prepares its statements. Absent: what fits the address. */
  prepare?: boolean
  /** How long a connection may take to open. Absent: what fits its use. */
  connectTimeoutSeconds?: number
  tls: TlsRules
  /** Settings of PostgreSQL for each session, such as `application_name`. */
  parameters: Record<string, string>
}

const FORM = 'must look like postgres://user:password@host:5432/database'
/** Scheme, login and hosts, and the rest. */
const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*)(.*)$/
const DEFAULT_PORT = 5432

/** Options of the driver and of PostgreSQL's own clients that only tune connections. They are left out, because Muster sets its own. */
const TUNING =
  /^(max|idle_timeout|max_lifetime|max_pipeline|backoff|keep_alive|debug|fetch_types|publications|keepalives(_\w+)?|fallback_application_name|sslcompression)$/
/** Protection that Muster lacks. Only the value `require` insists on it; with any other one the option is left out. */
const OPTIONAL_PROTECTION = /^(channel_binding|gssencmode)$/
/** Other options of clients, which PostgreSQL would refuse as settings of a session, and what to do about them. */
const UNSUPPORTED: [RegExp, string][] = [
  [/^(host|hostaddr)$/, 'write it before the question mark, the folder of a socket with %2F for each /'],
  [/^(port|user|password|dbname|database)$/, 'write it before the question mark'],
  [/^ssl(cert|key|password|certmode)$/, 'remove it and log in with a password'],
  [/^(service|servicefile|passfile)$/, 'write what that file holds into the address'],
  [/^tcp_user_timeout$/, 'remove it and set net.ipv4.tcp_retries2 on this machine'],
  [/^(channel_binding|require_auth|requirepeer|requiressl|ssl\w+|min_protocol_version|max_protocol_version|gss\w+|krbsrvname)$/, 'remove it'],
  [/^(scram_client_key|scram_server_key|oauth_\w+|load_balance_hosts|replication|pgbouncer|connection_limit|pool_timeout|schema)$/, 'remove it'],
]

/** @throws Error with one clause that says what is wrong, without the address */
export function parseDatabaseAddress(text: string): DatabaseAddress {
  const [url, ...others] = urlsOf(text)
  const { prepare, connect_timeout: timeout, target_session_attrs: wanted, sslmode, ssl, sslrootcert, ...options } = Object.fromEntries(url.searchParams)
  if (wanted !== undefined && wanted !== 'read-write') throw new Error('target_session_attrs must be read-write, which it is wherever there are several hosts')
  if (prepare !== undefined && prepare !== 'true' && prepare !== 'false') throw new Error('prepare must be true or false')
  if (timeout !== undefined && !/^[1-9]\d{0,3}$/.test(timeout)) throw new Error('connect_timeout must be a whole number of seconds, from 1 to 9999')
  const hosts = [url, ...others].map(({ hostname, port }) => ({ host: hostOf(hostname), port: Number(port || DEFAULT_PORT) }))
  const bySocket = hosts.some((host) => socketOf(host) !== undefined)
  if (bySocket && hosts.length > 1) throw new Error('has the folder of a socket among several hosts: a socket is that of one server, on this machine')
  return {
    hosts,
    user: decode(url.username),
    password: decode(url.password),
    database: decode(url.pathname.slice(1)),
    ...(prepare === undefined ? {} : { prepare: prepare === 'true' }),
    ...(timeout === undefined ? {} : { connectTimeoutSeconds: Number(timeout) }),
    // PostgreSQL encrypts nothing that stays within the machine, and its own clients ignore the mode there.
    tls: bySocket ? { mode: 'disable' } : parseTls(sslmode ?? (ssl === 'true' ? 'verify-full' : ssl), sslrootcert),
    parameters: sessionSettings(options),
  }
}

/** Without what clients keep for themselves. */
function sessionSettings(options: Record<string, string>): Record<string, string> {
  const kept = Object.entries(options).filter(([name, value]) => !TUNING.test(name) && !(OPTIONAL_PROTECTION.test(name) && value !== 'require'))
  for (const [name] of kept) {
    const [, advice] = UNSUPPORTED.find(([names]) => names.test(name)) ?? []
    if (advice !== undefined) throw new Error(`${name} is not supported as a parameter: ${advice}`)
  }
  return Object.fromEntries(kept)
}

/** As PostgreSQL's own clients have it: `%2Fvar%2Frun%2Fpostgresql` is the folder of a socket. */
function hostOf(hostname: string): string {
  return /^%2f/i.test(hostname) ? decode(hostname) : hostname.replace(/^\[|\]$/g, '')
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

/** The Unix socket of the server, where PostgreSQL makes it; undefined where the host is reached by TCP. */
export function socketOf({ host, port }: DatabaseAddress['hosts'][number]): string | undefined {
  return host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : undefined
}

/** The same server, another database. */
export function withDatabaseName(text: string, database: string): string {
  return text.replace(/^([^/]+\/\/[^/?#]*)(?:\/[^?#]*)?/, (_, server) => `${server}/${encodeURIComponent(database)}`)
}
