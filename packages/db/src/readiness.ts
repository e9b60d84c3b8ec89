import type { Database } from './client.ts'
import { knownMigrations } from './migration-files.ts'

const NOT_MIGRATED = 'The database has not been migrated to this version: run `npm run migrate`.'
/** The role of a pool does not exist before the first migration, and PostgreSQL refuses the connection then. */
const NO_SUCH_ROLE = '22023'

/**
 * What the schema of the database lacks for this version, and what to do, in a sentence; null if nothing is missing. A newer version may migrate it while
 * this process runs, because each version runs on the schema of the next one. Only a start is refused then (`requireUsableDatabase`).
 *
 * @throws the error of a database that does not answer
 */
export async function missingFromDatabase({ sql }: Pick<Database, 'sql'>): Promise<string | null> {
  try {
    const [found] = await sql<{ is_readable: boolean; has_queues: boolean }[]>`
      select exists (select from pg_namespace where nspname = 'pgboss') as has_queues, coalesce((
        select has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, 'SELECT')
        from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'muster_migrations' and c.relname = 'applied'
      ), false) as is_readable`
    if (found?.is_readable !== true || !found.has_queues) return NOT_MIGRATED
    const applied = (await sql<{ name: string }[]>`select name from muster_migrations.applied`).map((row) => row.name)
    const known = await knownMigrations()
    const missing = known.find((name) => !applied.includes(name))
    return missing === undefined ? null : `The database has not been migrated to this version, it lacks ${missing}: run \`npm run migrate\`.`
  } catch (error) {
    if ((error as { code?: unknown }).code === NO_SUCH_ROLE) return NOT_MIGRATED
    throw error
  }
}
