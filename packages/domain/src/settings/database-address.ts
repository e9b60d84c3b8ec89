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
  const { prepare, ...parameters } = Object.fromEntries(url.searchParams)
  if (prepare !== undefined && prepare !== 'true' && prepare !== 'false') throw new Error('prepare must be true or false')
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || DEFAULT_PORT),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    ...(prepare === undefined ? {} : { prepare: prepare === 'true' }),
    parameters,
  }
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
