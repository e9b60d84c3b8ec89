import { migrate } from '@muster/db'
import { installQueues } from '@muster/jobs'

/** The database to migrate, and its addresses. */
export type Migration = {
  /** A role that may create tables and roles. */
  adminUrl: string
  /** The address that API and worker use. */
  appUrl: string
  log?: (line: string) => void
}

/** Brings a database to this version: tables and roles first, then the queues, whose grants need those roles. */
export async function migrateDatabase({ adminUrl, appUrl, log }: Migration): Promise<void> {
  await migrate({ adminUrl, appUrl, installQueues, ...(log === undefined ? {} : { log }) })
}
