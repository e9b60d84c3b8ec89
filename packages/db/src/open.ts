import { readFileSync } from 'node:fs'
import { type DatabaseAddress, parseDatabaseAddress, socketOf, type TlsRules } from '@muster/domain'
import postgres from 'postgres'
import { UnusableDatabaseError } from './unusable-database.ts'

type Options = postgres.Options<Record<string, postgres.PostgresType>>

/**
 * PostgreSQL ends a session whose machine has vanished without closing its connections after some 25 s, and with it the locks that it holds. Its own default,
 * the kernel's, is two hours. Not for a pooler, which refuses settings that it does not know.
 */
export const ENDS_OF_VANISHED = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3, tcp_user_timeout: 25_000 }

/** Opens a pool of the driver for an address, which only `parseDatabaseAddress` reads. It connects when a connection is first needed. */
export function open(address: string, options: Options): postgres.Sql {
  const { hosts, user, password, database, prepare = true, connectTimeoutSeconds, tls, parameters } = parseDatabaseAddress(address)
  return postgres({
    ...serverOptions(hosts),
    ...(hosts.length > 1 ? { target_session_attrs: 'read-write' } : {}),
    ...(user === '' ? {} : { user }),
    password,
    ...(database === '' ? {} : { database }),
    prepare,
    ssl: tlsOptions(tls),
    onnotice: () => {},
    ...options,
    ...(connectTimeoutSeconds === undefined ? {} : { connect_timeout: connectTimeoutSeconds }),
    connection: { ...parameters, ...options.connection },
  } as Options) as unknown as postgres.Sql
}

function serverOptions(hosts: DatabaseAddress['hosts']): object {
  const [first] = hosts
  // Without a host, that of the environment, as the driver reads it.
  if (first === undefined || first.host === '') return {}
  const path = socketOf(first)
  if (path !== undefined) return { path, port: first.port }
  return { host: hosts.map(({ host }) => host), port: hosts.map(({ port }) => port) }
}

function tlsOptions({ mode, rootCertificateFile }: TlsRules): Options['ssl'] {
  if (mode === 'disable') return false
  if (mode === 'prefer' || mode === 'require') return mode
  return {
    ...(rootCertificateFile === undefined ? {} : { ca: readCertificates(rootCertificateFile) }),
    ...(mode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
  }
}

function readCertificates(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new UnusableDatabaseError(`The file of sslrootcert cannot be read (${(error as Error).message}): correct its path in the address of the database.`)
  }
}
