import { join } from 'node:path'
import { databaseUrls, type Settings } from '@muster/domain'
import type { LocalPostgres } from '@muster/local-postgres'
import { ExplainedError } from './errors.ts'

/** The login and the database of API and worker on an embedded server. */
const APP = 'muster'

/** How commands and migrations reach the database: at PostgreSQL itself. The processes may use a pooler as well. */
export type DatabaseUrls = { appUrl: string; adminUrl: string; pooledUrl?: string | undefined }

/** The folder of the embedded PostgreSQL inside DATA_DIR. */
export function postgresDir(settings: Settings): string {
  return join(settings.DATA_DIR, 'postgres')
}

/** Starts the PostgreSQL of DATA_DIR. */
export async function startEmbeddedDatabase(
  settings: Settings,
  log: (line: string) => void,
  onExit?: (how: string) => void,
): Promise<DatabaseUrls & { server: LocalPostgres }> {
  const { startLocalPostgres } = await loadLocalPostgres()
  const server = await startLocalPostgres({ dataDir: postgresDir(settings), log, ...(onExit === undefined ? {} : { onExit }) })
  return { server, appUrl: await server.socketUrlFor(APP, APP), adminUrl: server.adminUrl }
}

/** The database of `DATABASE_URL`; undefined without one. */
export function configuredDatabase(settings: Settings): DatabaseUrls | undefined {
  const { DATABASE_URL, MIGRATE_DATABASE_URL } = settings
  if (DATABASE_URL === undefined) return undefined
  const { directUrl, pooledUrl } = databaseUrls({ ...settings, DATABASE_URL })
  return { appUrl: directUrl, adminUrl: MIGRATE_DATABASE_URL ?? directUrl, pooledUrl }
}

/**
 * Runs a command on the database: the configured one, the embedded one of a running `npm start`, or the embedded one, started for this command.
 *
 * @param purpose `use` needs a database of this version; `migrate` accepts any version, and creates an embedded database if it is missing
 * @throws Error with one sentence: what is wrong with the database, and what to do
 */
export async function withDatabase<Result>(
  settings: Settings,
  purpose: 'use' | 'migrate',
  log: (line: string) => void,
  work: (urls: DatabaseUrls) => Promise<Result>,
): Promise<Result> {
  const configured = configuredDatabase(settings)
  if (configured !== undefined) {
    if (purpose === 'use') await (await import('@muster/db')).requireUsableDatabase(configured.appUrl, { pooledUrl: configured.pooledUrl })
    return work(configured)
  }
  const { findLocalPostgres, hasLocalDatabase } = await loadLocalPostgres()
  const running = await findLocalPostgres(postgresDir(settings))
  if (running !== undefined) return work({ appUrl: await running.urlFor(APP, APP), adminUrl: running.adminUrl })
  // A wrong DATA_DIR must not create a second, empty database.
  if (purpose === 'use' && !(await hasLocalDatabase(postgresDir(settings)))) {
    throw new ExplainedError(
      `The data folder ${settings.DATA_DIR} holds no database: set DATA_DIR to the folder that npm start prints as "Data", or run npm start first.`,
    )
  }
  const { server, ...urls } = await startEmbeddedDatabase(settings, log)
  try {
    // It may be older than this version.
    const { migrateDatabase } = await import('../migrate-database.ts')
    if (purpose === 'use') await migrateDatabase({ ...urls, log })
    return await work(urls)
  } finally {
    await server.stop()
  }
}

/** Loaded on demand: the Docker image does not have it, and needs a DATABASE_URL instead. */
function loadLocalPostgres(): Promise<typeof import('@muster/local-postgres')> {
  return import('@muster/local-postgres').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new ExplainedError('There is no embedded PostgreSQL in this installation: set DATABASE_URL to one of your own.')
  })
}
