import { readFileSync } from 'node:fs'
import { parseDatabaseAddress, type TlsRules } from '@muster/domain'
import postgres from 'postgres'
import { UnusableDatabaseError } from './unusable-database.ts'

type Options = postgres.Options<Record<string, postgres.PostgresType>>

/** Opens a pool of the driver for an address, which only `parseDatabaseAddress` reads. It connects when a connection is first needed. */
export function open(address: string, options: Options): postgres.Sql {
  const { host, port, user, password, database, prepare = true, tls, parameters } = parseDatabaseAddress(address)
  return postgres({
    host,
    port,
    ...(user === '' ? {} : { user }),
    password,
    ...(database === '' ? {} : { database }),
    prepare,
    ssl: tlsOptions(tls, host),
    onnotice: () => {},
    ...options,
    connection: { ...parameters, ...options.connection },
  } as Options) as unknown as postgres.Sql
}

function tlsOptions({ mode, rootCertificateFile }: TlsRules, host: string): Options['ssl'] {
  if (mode === 'disable') return false
  if (mode === 'prefer' || mode === 'require') return mode
  return {
    // The name that the certificate has to have. The driver passes none for an IP address.
    host,
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
