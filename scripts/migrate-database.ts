import { explainDatabaseError, migrate } from '@muster/db'
import { installQueues } from '@muster/jobs'

/** Which database to bring to this version, and how it is reached. */
export type Migration = {
  /** A role that may create tables and roles. */
  adminUrl: string
  /** What API and worker connect with. */
  appUrl: string
  log?: (line: string) => void
}

/** Brings a database to this version: tables and roles first, then the queues, which are granted to those roles. */
export async function migrateDatabase({ adminUrl, appUrl, log }: Migration): Promise<void> {
  await migrate({ adminUrl, appUrl, ...(log === undefined ? {} : { log }) })
  const queuesUrl = new URL(adminUrl)
  queuesUrl.pathname = new URL(appUrl).pathname
  await installQueues(queuesUrl.href).catch((error: unknown) => {
    throw explainDatabaseError(error, queuesUrl.href, 'MIGRATE_DATABASE_URL')
  })
}
