import { parseDatabaseAddress } from '@muster/domain'
import postgres from 'postgres'

type Options = postgres.Options<Record<string, postgres.PostgresType>>

/** Opens a pool of the driver for an address, which only `parseDatabaseAddress` reads. It connects when a connection is first needed. */
export function open(address: string, options: Options): postgres.Sql {
  const { host, port, user, password, database, prepare = true, parameters } = parseDatabaseAddress(address)
  return postgres({
    host,
    port,
    ...(user === '' ? {} : { user }),
    password,
    ...(database === '' ? {} : { database }),
    prepare,
    onnotice: () => {},
    ...options,
    connection: { ...parameters, ...options.connection },
  } as Options) as unknown as postgres.Sql
}
