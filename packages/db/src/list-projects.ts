import { parseDatabaseAddress, withDatabaseName } from '@muster/domain'
import { open } from './open.ts'

/**
 * The ids of all projects, for commands of an operator: the roles of the processes see one project at a time.
 *
 * @param adminUrl a login that sees all rows, such as the one that migrates
 * @param appUrl names the database
 */
export async function listProjectIds(adminUrl: string, appUrl: string): Promise<string[]> {
  const sql = open(withDatabaseName(adminUrl, parseDatabaseAddress(appUrl).database), { max: 1, connect_timeout: 5 })
  try {
    return (await sql<{ id: string }[]>`select id from projects order by id`).map(({ id }) => id)
  } finally {
    await sql.end({ timeout: 5 })
  }
}
