import { join } from 'node:path'
import type { Settings } from '@muster/domain'
import type { LocalPostgres } from '@muster/local-postgres'
import { ExplainedError } from './errors.ts'

/** The login and the database of API and worker on an embedded server. */
const APP = 'muster'

/** How the processes and the migrations reach the database. */
export type DatabaseUrls = { appUrl: string; adminUrl: string }

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
  return { server, appUrl: await server.urlFor(APP, APP), adminUrl: server.adminUrl }
}

/** The database that is configured by address; undefined when none is. */
export function configuredDatabase(settings: Settings): DatabaseUrls | undefined {
  const { DATABASE_URL: appUrl, MIGRATE_DATABASE_URL: adminUrl } = settings
  return appUrl === undefined ? undefined : { appUrl, adminUrl: adminUrl ?? appUrl }
}

/**
 * Lets a command work on the database: the configured one, the embedded one of a running `npm start`, or, when nothing
 * runs, the embedded one started for the moment.
 */
export async function withDatabase<Result>(settings: Settings, log: (line: string) => void, work: (urls: DatabaseUrls) => Promise<Result>): Promise<Result> {
  const configured = configuredDatabase(settings)
  if (configured !== undefined) return work(configured)
  const { findLocalPostgres } = await loadLocalPostgres()
  const running = await findLocalPostgres(postgresDir(settings))
  if (running !== undefined) return work({ appUrl: await running.urlFor(APP, APP), adminUrl: running.adminUrl })
  const { server, ...urls } = await startEmbeddedDatabase(settings, log)
  try {
    // It may be new, or older than this version.
    const { migrateDatabase } = await import('../migrate-database.ts')
    await migrateDatabase({ ...urls, log })
    return await work(urls)
  } finally {
    await server.stop()
  }
}

/** Loaded when it is needed only: the Docker image does not have it, and asks for a DATABASE_URL instead. */
function loadLocalPostgres(): Promise<typeof import('@muster/local-postgres')> {
  return import('@muster/local-postgres').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new ExplainedError('There is no embedded PostgreSQL in this installation: set DATABASE_URL to one of your own.')
  })
}
